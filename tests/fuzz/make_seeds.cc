// SPDX-License-Identifier: BSD-3-Clause
// Makes streams to begin fuzzing with: make_seeds FOLDER. Every named recipe and some others, for
// every element type of the build, with and without special values.
#include <cmath>
#include <fstream>
#include <random>

#include "leeway/leeway.hpp"
#include "leeway/recipe/recipe.h"

namespace leeway {
namespace {

template <class T>
std::vector<T> make_values(const Shape& shape, bool is_rough) {
  std::mt19937_64 random(7);
  std::vector<T> values(size_t(shape.size()));
  for (size_t i = 0; i < values.size(); ++i) {
    const double smooth = 40 + 30 * std::sin(double(i) * 0.07);
    values[i] = T(float(smooth + (is_rough ? double(random() % 16) : 0)));
    if (!is_rough || random() % 16 > 0) continue;
    values[i] = std::bit_cast<T>(Bits<T>(random()));
    if (is_floating<T> && random() % 2) values[i] = T(float(NAN));
  }
  return values;
}

void save(const std::string& path, const Bytes& stream) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(stream.data()), std::streamsize(stream.size()));
}

std::vector<std::string> recipes() {
  std::vector<std::string> list;
  for (const NamedRecipe& named : named_recipes()) list.emplace_back(named.recipe);
  // Every encoder without a lossless stage after it, so that what it wrote lies open.
  for (const StageInfo& stage : all_stages()) {
    const std::string name(stage.name);
    if (stage.kind == Kind::encoder)
      for (const char* before : {"linear+lorenzo+", "pyramid+linear+", "exact+"})
        list.push_back(before + name);
    if (stage.kind == Kind::predictor) {
      list.push_back(name + "+linear+huffman");
      list.push_back("linear+" + name + "+raw");
      list.push_back(name + "+elementwise+huffman");
    }
    if (stage.kind == Kind::quantizer) list.push_back("lorenzo+" + name + "+huffman");
    if (stage.kind == Kind::preprocessor) list.push_back(name + "+linear+lorenzo+huffman");
    if (stage.kind == Kind::lossless) list.push_back("linear+raw+" + name);
  }
  list.emplace_back("transpose+dft+linear+lorenzo+huffman+shuffle+lz4");
  list.emplace_back("linear:bins=16,beyond=planes+lorenzo+huffman");
  return list;
}

template <class T>
void make(const std::string& folder, const std::string& text, int& number) {
  for (const Shape& shape : {Shape{300}, Shape{9, 31}, Shape{5, 6, 7}})
    for (const bool is_rough : {false, true}) try {
        const auto values = make_values<T>(shape, is_rough);
        CompressOptions options;
        options.recipe = text;
        const bool pointwise = text.find("log") == 0 && text.find("logscale") != 0;
        options.bound = pointwise ? Bound::pointwise(0.01) : Bound::abs(is_floating<T> ? 0.1 : 2);
        options.brief = shape.rank() == 3;
        if (shape.rank() == 2) options.chunk = {5, 31};
        if (shape.rank() == 2 && !pointwise) options.regions = {{{{1, 2}, {2, 3}}, 0.05}};
        save(folder + "/" + std::to_string(number++), compress(values.data(), shape, options));
      } catch (const Error&) {
        // Not every recipe is possible, or takes every type.
      }
}

}  // namespace
}  // namespace leeway

int main(int count, char** arguments) {
  using namespace leeway;
  if (count != 2) return 2;
  int number = 0;
  for (const std::string& recipe : recipes())
    for (u8 id = 1; is_dtype(id); ++id)
      visit_dtype(DType(id), [&]<class T>(std::type_identity<T>) {
        if constexpr (kIsCompiled<T>) make<T>(arguments[1], recipe, number);
      });
}
