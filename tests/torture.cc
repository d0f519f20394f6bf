// SPDX-License-Identifier: BSD-3-Clause
// Torture: random and adversarial arrays through every recipe until a number of values is reached;
// every value compared with its original. Run for long with scripts/torture.sh.
//
//   leeway_torture VALUES [SEED]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

#include "leeway/leeway.hpp"
#include "leeway/preprocess/mask.h"

namespace leeway {
namespace {

using Random = std::mt19937_64;

// Values made to hurt: any bits, values next to the edges of quantization bins, tiny and huge ones.
template <class T>
T nasty(Random& random, int texture, double bound, double& walk) {
  const double u = double(random() >> 11) * 0x1p-53 * 2 - 1;
  walk += u * bound * 3;
  double x = 0;
  switch (texture) {
    case 0:
      return std::bit_cast<T>(Bits<T>(random()));
    case 1:
      x = walk;
      break;
    case 2:
      x = (double(i64(random() % 2001)) - 1000 + 0.5) * 2 * bound * (1 + u * 1e-7);
      break;  // edges of bins
    case 3:
      x = u * std::exp2(double(i64(random() % 60)) - 30);
      break;
    case 4:
      x = 1000 + walk;
      break;
    default:
      x = random() % 40 ? walk : u * 1e30;
  }
  if constexpr (is_floating<T>)
    return T(float(x) == x ? float(x) : x);
  else {
    const double low = double(std::numeric_limits<T>::min()),
                 high = double(std::numeric_limits<T>::max());
    return T(std::clamp(x, low, std::nextafter(high, 0.0)));
  }
}

template <class T>
u64 one_round(Random& random, const std::string& recipe, u64& violations) {
  static const Shape kShapes[] = {
      {40000}, {200, 201}, {30, 35, 40}, {5, 9, 30, 31}, {3, 1, 7, 11, 17}};
  const Shape shape = kShapes[random() % std::size(kShapes)];
  const double bound =
      std::exp2(double(i64(random() % 60)) - 40) * (1 + double(random() % 1000) / 1000);
  const int texture = int(random() % 6);
  std::vector<T> values(size_t(shape.size()));
  double walk = 0;
  for (T& value : values) value = nasty<T>(random, texture, bound, walk);
  CompressOptions options;
  options.recipe = recipe;
  options.bound = Bound::abs(bound);
  if (random() % 2) options.chunk = default_chunk(Shape(shape), u64(1) << (8 + random() % 12));
  const Bytes stream = compress(values.data(), shape, options);
  const Info info = inspect(stream);
  const Array decoded = decompress(stream);
  const Array again = decompress(compress(decoded.as<T>().data(), shape, options));
  const Mask mask{.params = {}, .fills = info.header.fills};
  for (size_t i = 0; i < values.size(); ++i) {
    const T a = values[i], b = decoded.as<T>()[i];
    const bool kept = bits_of(a) == bits_of(b);
    const bool within =
        kept || (!mask.is_special(a) &&
                 std::abs((long double)(a) - (long double)(b)) <= (long double)(bound));
    const bool idempotent = bits_of(b) == bits_of(again.as<T>()[i]);
    if (within && idempotent) continue;
    if (violations++ < 10)
      std::fprintf(stderr, "%s %s bound %a: value %a became %a, then %a\n", recipe.c_str(),
                   std::string(name_of(dtype_of<T>())).c_str(), bound, double(a), double(b),
                   double(again.as<T>()[i]));
  }
  return values.size();
}

}  // namespace
}  // namespace leeway

int main(int argc, char** argv) {
  using namespace leeway;
  if (argc < 2) {
    std::fprintf(stderr, "usage: leeway_torture VALUES [SEED]\n");
    return 2;
  }
  const auto wanted = u64(std::atof(argv[1]));
  Random random(argc > 2 ? u64(std::atoll(argv[2])) : 1);
  u64 values = 0, violations = 0, rounds = 0;
  std::vector<std::string> recipes = {"linear+lorenzo:order=2+huffman+zstd",
                                      "lorenzo:order=2+linear+huffman"};
  for (const NamedRecipe& named : named_recipes()) recipes.emplace_back(named.name);
  while (values < wanted) {
    const std::string& recipe = recipes[rounds++ % recipes.size()];
    const DType dtype = DType(1 + random() % 12);
    if (!is_for(parse_recipe(recipe), dtype)) continue;
    values += visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
      return one_round<T>(random, recipe, violations);
    });
  }
  std::printf("%llu values in %llu arrays: %llu violations\n", (unsigned long long)values,
              (unsigned long long)rounds, (unsigned long long)violations);
  return violations == 0 ? 0 : 3;
}
