// SPDX-License-Identifier: BSD-3-Clause
// Makes the golden streams. Run after a change of format (scripts/golden.sh), never to make a test
// pass.
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "leeway/leeway.hpp"

namespace leeway {
namespace {

void save(const std::string& path, const void* data, size_t bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(static_cast<const char*>(data), std::streamsize(bytes));
}

// Whole numbers only, so that no library function decides what the streams hold.
template <class T>
std::vector<T> make_values(const Shape& shape, bool special) {
  std::vector<T> values(size_t(shape.size()));
  u64 state = 12345;
  i64 walk = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    walk += i64(state >> 33) % 7 - 3;
    const i64 x = walk + i64(i % 17) * i64(i % 17) / 8;
    if constexpr (is_floating<T>)
      values[i] = T(float(x) / 8);
    else
      values[i] = T(x & 0x7f);
    if (!special || state >> 60 != 0) continue;
    if constexpr (is_floating<T>)
      values[i] = i % 3 == 0   ? std::bit_cast<T>(Bits<T>(~Bits<T>(0) >> 1))
                  : i % 3 == 1 ? T(1e20f)
                               : T(-INFINITY);
  }
  return values;
}

int number = 0;

// A stream and what it decodes to.
void save_both(const std::string& folder, const std::string& what, const Bytes& stream) {
  const Array decoded = decompress(stream);
  char name[80];
  std::snprintf(name, sizeof name, "/v1_%02d_%s", number++, what.c_str());
  save(folder + name + ".lwy", stream.data(), stream.size());
  save(folder + name + ".raw", decoded.data(), size_t(decoded.bytes()));
}

template <class T>
void make(const std::string& folder, const std::string& recipe, const Shape& shape,
          const Bound& bound, bool special, const Shape& chunk = {}) {
  if (!kIsCompiled<T>) return void(++number);
  const auto values = make_values<T>(shape, special);
  CompressOptions options;
  options.recipe = recipe;
  options.bound = bound;
  options.chunk = chunk;
  const Bytes stream = compress(values.data(), shape, options);
  save_both(folder, std::string(name_of(dtype_of<T>())) + "_" + to_string(shape), stream);
}

// The same in the brief form.
template <class T>
void make_brief(const std::string& folder, const std::string& recipe, const Shape& shape,
                const Bound& bound, bool special, const std::vector<double>& fills = {}) {
  if (!kIsCompiled<T>) return void(++number);
  const auto values = make_values<T>(shape, special);
  CompressOptions options;
  options.recipe = recipe;
  options.bound = bound;
  options.fills = fills;
  options.brief = true;
  const Bytes stream = compress(values.data(), shape, options);
  save_both(folder, std::string(name_of(dtype_of<T>())) + "_brief_" + to_string(shape), stream);
}

// What a host does with a brief stream: decodes it, changes a part and writes the whole.
void make_brief_layered(const std::string& folder) {
  const Shape shape{20, 30};
  const auto values = make_values<float>(shape, true);
  CompressOptions options;
  options.recipe = "small";
  options.bound = Bound::abs(0.4);
  options.brief = true;
  const Bytes first = compress(values.data(), shape, options);
  const Array before = decompress(first);
  std::vector<float> now(before.as<float>().begin(), before.as<float>().end());
  for (size_t i = 100; i < 160; ++i) now[i] = float(i * i * 7919 % 1009);
  const MemorySource source(first);
  const StreamReader earlier(source);
  options.earlier = &earlier;
  save_both(folder, "f32_brief_layered", compress(now.data(), shape, options));
}

void make_all_brief(const std::string& folder) {
  const Bound coarse = Bound::abs(0.4);
  make_brief<float>(folder, "balanced", {}, coarse, false);
  make_brief<float>(folder, "balanced", {9, 10, 11}, coarse, true);
  make_brief<double>(folder, "fast", {500}, Bound::rel(1e-3), true, {-9999, 1e20});
  make_brief<float>(folder, "small", {9, 10, 11}, coarse, false);
  make_brief<i16>(folder, "smallest", {20, 11}, Bound::abs(3.5), false);
  make_brief<u64>(folder, "lossless", {300}, Bound::lossless(), false);
  make_brief<f16>(folder, "linear+lorenzo:order=2+huffman", {7, 1, 9}, coarse, true);
  make_brief<double>(folder, "balanced", {30, 40}, Bound::pointwise(0.01), true);
  make_brief<float>(folder, "small", {2, 2, 3, 1, 2, 3, 4, 1}, Bound::psnr(50) && Bound::l2(2),
                    false);
  make_brief<float>(folder, "balanced", {30, 40}, Bound::ratio(6), false);
  make_brief<i8>(folder, "sz3-lr", {200}, Bound::abs(1e-300), false);
  make_brief<u8>(folder, "small", {52, 51, 50}, Bound::abs(8), false);  // levels
  make_brief_layered(folder);
}

// A transform whose coefficients vanish, so that the chunk needs a smaller bound.
void make_tightened(const std::string& folder) {
  const Shape shape{16, 24};
  std::vector<float> values(shape.size());
  for (size_t i = 0; i < values.size(); ++i) values[i] = i / 24 % 8 == 3 && i % 8 == 4 ? 1.1f : 0.f;
  CompressOptions options;
  options.recipe = "dft+linear+huffman";
  options.bound = Bound::abs(1);
  save_both(folder, "f32_" + to_string(shape), compress(values.data(), shape, options));
}

// A stream of a recipe that predicts first, of which parts were written again: a box of one chunk,
// and most of another.
void make_layered(const std::string& folder) {
  const Shape shape{20, 30};
  const auto values = make_values<float>(shape, true);
  CompressOptions options;
  options.recipe = "small";
  options.bound = Bound::abs(0.4);
  options.chunk = {10, 30};
  Bytes stream = compress(values.data(), shape, options);
  std::vector<float> rough(270);
  for (size_t i = 0; i < rough.size(); ++i) rough[i] = float(i * i * 7919 % 1009);
  MemoryStore store(stream);
  update(store, {2, 3}, view_of(rough.data(), {5, 20}));
  update(store, {4, 10}, view_of(rough.data(), {5, 9}));
  update(store, {11, 0}, view_of(rough.data(), {9, 30}));
  save_both(folder, "f32_layered", stream);
  // What a host does: a few values scattered over a chunk, and most values of a box.
  for (const bool scattered : {true, false}) {
    const Array before = decompress(stream);
    std::vector<float> now(before.as<float>().begin(), before.as<float>().end());
    for (size_t i = 0; i < now.size(); ++i) {
      const size_t row = i / 30, column = i % 30;
      if (scattered ? i % 37 == 5 : row < 6 && column > 4 && column != row + 9)
        now[i] = float(i % 97);
    }
    const MemorySource source(stream);
    const StreamReader earlier(source);
    options.earlier = &earlier;
    stream = compress(now.data(), shape, options);
  }
  save_both(folder, "f32_layered_by_marks", stream);
}

// A stream of which two chunks were written again.
void make_updated(const std::string& folder) {
  const Shape shape{20, 30};
  const auto values = make_values<float>(shape, false);
  CompressOptions options;
  options.recipe = "fast";
  options.bound = Bound::abs(0.4);
  options.chunk = {10, 30};
  Bytes stream = compress(values.data(), shape, options);
  std::vector<float> smooth(100, 2.5f), rough(100);
  for (size_t i = 0; i < rough.size(); ++i) rough[i] = float(i * i * 7919 % 1009);
  MemoryStore store(stream);
  update(store, {0, 3}, view_of(smooth.data(), {5, 20}));
  update(store, {12, 3}, view_of(rough.data(), {5, 20}));
  save_both(folder, "f32_updated", stream);
}

// Smaller bounds in two places.
void make_with_regions(const std::string& folder) {
  const Shape shape{20, 30};
  const auto values = make_values<float>(shape, false);
  CompressOptions options;
  options.bound = Bound::abs(0.4);
  options.chunk = {10, 10};
  options.regions = {{{{3, 5}, {4, 4}}, 0.05}, {{{15, 25}, {2, 2}}, 0}};
  const Bytes stream = compress(values.data(), shape, options);
  save_both(folder, "f32_regions", stream);
}

// A bound for each value: of a few kinds, or of many.
void make_by_value(const std::string& folder, const char* recipe, const Shape& shape, bool many) {
  const auto values = make_values<float>(shape, true);
  std::vector<double> bounds;
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t kind = i * i / 7 % (many ? 50 : 4);
    bounds.push_back(kind == 3 ? 0 : 0.5 / double(kind + 1));
  }
  CompressOptions options;
  options.recipe = recipe;
  options.bound = Bound::abs(0.4);
  options.bounds = view_of(bounds.data(), shape);
  save_both(folder, "f32_by_value", compress(values.data(), shape, options));
}

}  // namespace
}  // namespace leeway

int main(int argc, char** argv) {
  using namespace leeway;
  if (argc != 2) return 2;
  const std::string folder = argv[1];
  const Bound coarse = Bound::abs(0.4);
  make<float>(folder, "balanced", {9, 10, 11}, coarse, false);
  make<float>(folder, "balanced", {40, 25}, coarse, true, {16, 25});
  make<double>(folder, "balanced", {500}, Bound::rel(1e-3), true);
  make<f16>(folder, "balanced", {7, 8, 9}, coarse, true);
  make<bf16>(folder, "balanced", {7, 8, 9}, coarse, true);
  make<i8>(folder, "balanced", {200}, Bound::abs(2), false);
  make<i16>(folder, "balanced", {20, 11}, Bound::abs(3.5), false);
  make<i32>(folder, "balanced", {5, 6, 7}, Bound::abs(1), false);
  make<i64>(folder, "balanced", {300}, Bound::abs(1), false);
  make<u8>(folder, "sz1.4", {200}, Bound::abs(2), false);
  make<u16>(folder, "sz1.4", {20, 11}, Bound::abs(3.5), false);
  make<u32>(folder, "sz1.4", {5, 6, 7}, Bound::abs(1), false);
  make<u64>(folder, "sz1.4", {300}, Bound::abs(1), false);
  make<float>(folder, "sz1.4", {9, 10, 11}, coarse, true);
  make<double>(folder, "sz1.4", {3, 4, 5, 6}, coarse, true);
  make<float>(folder, "lorenzo:order=2+linear+huffman", {13, 14}, coarse, false);
  make<double>(folder, "linear+lorenzo:order=2,axes=2+raw+zstd", {4, 8, 9}, coarse, false);
  make<float>(folder, "linear+huffman", {400}, coarse, true);
  make<float>(folder, "lossless", {9, 10, 11}, Bound::lossless(), true);
  make<double>(folder, "lorenzo+exact+huffman", {9, 10, 11}, Bound::abs(1), true);
  make<float>(folder, "linear+lorenzo+raw", {100}, Bound::abs(1e-9), false);
  make<float>(folder, "balanced", {10, 10}, Bound::psnr(50) && Bound::l2(2), true);
  make<float>(folder, "balanced", {0, 3}, coarse, false);
  make<float>(folder, "balanced", {}, coarse, false);
  make<float>(folder, "fast", {9, 10, 11}, coarse, false);
  make<float>(folder, "fast", {40, 25}, Bound::abs(1e-3), true, {16, 25});
  make<double>(folder, "fast", {600}, Bound::abs(1e-12), true);
  make<i16>(folder, "fast", {20, 11}, Bound::abs(3.5), false);
  make<u64>(folder, "fast", {300}, Bound::abs(1), false);
  make<float>(folder, "cuszp2-outlier", {500}, coarse, true);
  make<double>(folder, "cuszp2-plain", {30, 20}, coarse, false);
  make<float>(folder, "ceresz", {9, 10, 11}, coarse, false);
  make<float>(folder, "linear+blocks:axes=2,size=64+fixed:block=64", {20, 21}, coarse, true);
  make<float>(folder, "linear+blocks:axes=3,size=64+fixed:block=64", {2, 9, 10, 11}, coarse, false);
  make_updated(folder);
  make<float>(folder, "small", {9, 10, 11}, coarse, true);
  make<double>(folder, "small", {500}, Bound::rel(1e-3), true);
  make<bf16>(folder, "small", {7, 8, 9}, coarse, true);
  make<i16>(folder, "small", {20, 11}, Bound::abs(3.5), false);
  make<u64>(folder, "small", {5, 6, 7}, Bound::abs(1), false);
  make<float>(folder, "small", {3, 4, 5, 6, 7}, coarse, false);
  make<float>(folder, "pyramid:tight=2,taps=7,every=1,gain=0+linear+rans", {16, 24, 40}, coarse,
              false);
  make<double>(folder, "pyramid:frozen=3,taps=9,every=1,gain=0+linear+rans", {40, 90}, coarse,
               true);
  make<float>(folder, "pyramid:frozen=2+linear+huffman+zstd", {8, 9, 10}, coarse, true);
  make<float>(folder, "sz3-interp", {9, 10, 11}, coarse, true);
  make<i16>(folder, "interp:cubic=0,reverse=1,alpha=1.5,beta=3+linear+huffman", {20, 31},
            Bound::abs(3.5), false);
  make<float>(folder, "linear+lorenzo+rans", {9, 10, 60}, coarse, true);
  for (const char* recipe : {"wavesz", "wavesz-huffman", "ghostsz"}) {
    make<float>(folder, recipe, {20, 70}, coarse, true);
    make<double>(folder, recipe, {9, 10, 11}, coarse, false);
  }
  make<float>(folder, "ceaz", {30, 40}, coarse, true);
  make<double>(folder, "linear+lorenzo+adaptive:rule=paper,page=11", {9, 30, 40}, Bound::abs(1e-4),
               false);
  make<i16>(folder, "linear+adaptive:rule=offline,sort=exact,page=12", {90, 80}, Bound::abs(1),
            false);
  make<float>(folder, "balanced", {30, 40}, Bound::pointwise(0.01), true);
  make<double>(folder, "ceaz", {9, 10, 11}, Bound::pointwise(1e-4), true);
  make<bf16>(folder, "fast", {20, 21}, Bound::pointwise(0.9), false);
  make<double>(folder, "wavefront:border=predicted+linear:step=pow2+raw", {5, 8, 40}, coarse,
               false);
  make<float>(folder, "lorenzo+linear+raw+deflate", {3, 4, 20, 40}, coarse, false);
  make<u64>(folder, "linear:step=pow2,bins=500+lorenzo+huffman", {300}, Bound::abs(2), false);
  make<float>(folder, "balanced", {30, 40}, Bound::ratio(6), false);
  make<u8>(folder, "small", {52, 51, 50}, Bound::abs(8), false);  // large enough for levels
  make<float>(folder, "sz3-lr", {9, 10, 31}, coarse, true);
  make<float>(folder, "sz3-lr", {20, 13, 14}, Bound::abs(8), false);
  make<double>(folder, "composite:second=1,degree=2,block=5+linear+huffman+lz4", {2, 3, 9, 10, 11},
               Bound::abs(3), false);
  make<i16>(folder, "composite:second=1+linear+raw+shuffle:bytes=2+lz4", {40, 50}, Bound::abs(6),
            false);
  make<u64>(folder, "regression:degree=2+linear+huffman", {30, 31}, Bound::abs(9), false);
  make<float>(folder, "transpose:order=312+pyramid+linear+rans", {7, 8, 9}, coarse, true);
  make<double>(folder, "transpose+linear+lorenzo:axes=1+huffman", {7, 8, 9}, coarse, true);
  make<float>(folder, "small", {30, 40}, Bound::pointwise(0.01), true);
  for (const char* recipe : {"sz-pastri", "sz-pastri-zstd", "sz3-pastri", "eri", "fpzip-like"})
    make<double>(folder, recipe, {4000}, coarse, true);
  make<float>(folder, "linear+cross:rows=9,columns=16+rans", {30, 40}, coarse, false);
  make<i16>(folder, "linear+cross:rows=4,columns=5+huffman", {30, 11}, Bound::abs(1), false);
  make<float>(folder, "linear+pattern:size=5,count=7+arithmetic", {30, 40}, coarse, true);
  make<u8>(folder, "linear+residual", {30, 40}, Bound::abs(1), false);
  make<float>(folder, "linear+interp+arithmetic", {9, 10, 11}, coarse, true);
  make<double>(folder, "linear+composite:degree=2+huffman", {9, 10, 11}, Bound::abs(4), true);
  make_with_regions(folder);
  make<float>(folder, "dft+linear+arithmetic+zstd", {9, 21, 11}, coarse, true);
  make<double>(folder, "dft:block=5+linear+huffman", {30, 41}, coarse, false);
  make<float>(folder, "lag:frames=3+linear+huffman", {9, 40}, coarse, true);
  make<i16>(folder, "linear+lag:frames=2+rans", {9, 40}, Bound::abs(2), false);
  make<double>(folder, "lorenzo+logscale+huffman", {9, 10, 11}, coarse, true);
  make<bf16>(folder, "logscale+lorenzo+huffman", {9, 40}, coarse, false);
  make<float>(folder, "sz3-truncation", {30, 40}, coarse, true);
  make<double>(folder, "truncate:bits=18+lorenzo+huffman", {400}, coarse, true);
  make<u16>(folder, "truncate+raw", {400}, Bound::abs(5), false);
  make_by_value(folder, "lorenzo+elementwise+huffman+zstd", {20, 30}, false);
  make_by_value(folder, "pyramid+elementwise+rans", {9, 20, 30}, true);
  make_by_value(folder, "interp+elementwise+huffman", {9, 10, 11}, false);
  make_by_value(folder, "lag+elementwise+rans", {9, 40}, true);
  make<float>(folder, "sz3-interp", {12, 13, 14}, coarse, true);
  make<double>(folder, "interp:cubic=1+linear+arithmetic", {40, 60}, Bound::abs(0.01), false);
  make<float>(folder, "lorenzo+linear:bins=16,beyond=planes+huffman+zstd", {9, 10, 11},
              Bound::abs(1e-4), true);
  make<double>(folder, "pyramid+linear:bins=8,beyond=planes+rans", {9, 10, 11}, Bound::abs(1e-3),
               true);
  make<i16>(folder, "linear:bins=30,beyond=planes+interp+arithmetic", {20, 30}, Bound::abs(1),
            false);
  make<float>(folder, "linear:bins=4,beyond=planes+cross:rows=9,columns=16+rans", {30, 40}, coarse,
              false);
  make_tightened(folder);
  make<float>(folder, "fast", {9, 30, 40}, coarse, false);  // narrow codes, as those that follow
  make<double>(folder, "cuszp2-outlier", {20, 37}, coarse, false);
  make<float>(folder, "ceresz", {700}, Bound::abs(1e-4), false);
  make<double>(folder, "ceaz", {9, 10, 31}, coarse, false);
  make<double>(folder, "balanced", {9, 10, 31}, Bound::abs(1e-4), false);
  make<float>(folder, "pyramid:tile=12,taps=0+linear+rans", {24, 33, 34}, coarse, true);  // tiles
  make<i16>(folder, "pyramid:frozen=1,tile=8,taps=5,every=1,gain=0+linear+huffman", {2, 40, 70},
            Bound::abs(9), false);
  make<double>(folder, "pyramid:tile=10+linear+rans", {5000}, coarse, false);
  make<u8>(folder, "pyramid:tile=14,taps=0+linear+rans", {49, 50, 54}, Bound::abs(9), false);
  make<float>(folder, "linear+lorenzo+rans", {9, 10, 40}, coarse, true);  // causal contexts
  make<u64>(folder, "linear+lorenzo:order=2+rans", {20, 50}, Bound::abs(3), false);
  make<float>(folder, "pyramid:frozen=0,tile=12,taps=0+linear+rans", {40, 33, 34}, coarse, true);
  make_layered(folder);
  make_all_brief(folder);
  return 0;
}
