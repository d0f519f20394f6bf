// SPDX-License-Identifier: BSD-3-Clause
// Streams in which everything that an encoder can write occurs: made again by the test of encoders
// (bytes_test.cc), kept for that of decoders (make_golden.cc).
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "leeway/leeway.hpp"

namespace leeway::test {

struct GoldenCase {
  std::string what;  // type and shape, or what is special about it
  Bytes stream;      // empty if the build does not know the type
};
using TakeCase = std::function<void(const GoldenCase&)>;

// What `balanced` and `small` were short for when most of the streams were made.
inline const std::string kLorenzo = "linear+lorenzo+huffman+zstd", kPyramid = "pyramid+linear+rans";

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

template <class T>
void make(const TakeCase& take, const std::string& recipe, const Shape& shape, const Bound& bound,
          bool special, const Shape& chunk = {}) {
  if (!kIsCompiled<T>) return take({});
  const auto values = make_values<T>(shape, special);
  CompressOptions options;
  options.recipe = recipe;
  options.bound = bound;
  options.chunk = chunk;
  const Bytes stream = compress(values.data(), shape, options);
  take({std::string(name_of(dtype_of<T>())) + "_" + to_string(shape), stream});
}

// The same in the brief form.
template <class T>
void make_brief(const TakeCase& take, const std::string& recipe, const Shape& shape,
                const Bound& bound, bool special, const std::vector<double>& fills = {}) {
  if (!kIsCompiled<T>) return take({});
  const auto values = make_values<T>(shape, special);
  CompressOptions options;
  options.recipe = recipe;
  options.bound = bound;
  options.fills = fills;
  options.brief = true;
  const Bytes stream = compress(values.data(), shape, options);
  take({std::string(name_of(dtype_of<T>())) + "_brief_" + to_string(shape), stream});
}

// What a host does with a brief stream: decodes it, changes a part and writes the whole.
inline void make_brief_layered(const TakeCase& take) {
  const Shape shape{20, 30};
  const auto values = make_values<float>(shape, true);
  CompressOptions options;
  options.recipe = kPyramid;
  options.bound = Bound::abs(0.4);
  options.brief = true;
  const Bytes first = compress(values.data(), shape, options);
  const Array before = decompress(first);
  std::vector<float> now(before.as<float>().begin(), before.as<float>().end());
  for (size_t i = 100; i < 160; ++i) now[i] = float(i * i * 7919 % 1009);
  const MemorySource source(first);
  const StreamReader earlier(source);
  options.earlier = &earlier;
  take({"f32_brief_layered", compress(now.data(), shape, options)});
}

// A chunk at the end of an array, which its host filled up.
inline void make_brief_border(const TakeCase& take) {
  const Shape shape{20, 30};
  auto values = make_values<float>(shape, true);
  for (size_t i = 0; i < values.size(); ++i)
    if (i / 30 > 12 || i % 30 > 24) values[i] = 0;
  CompressOptions options;
  options.recipe = kPyramid;
  options.bound = Bound::abs(0.4);
  options.brief = true;
  take({"f32_brief_border", compress(values.data(), shape, options)});
}

inline void make_all_brief(const TakeCase& take) {
  const Bound coarse = Bound::abs(0.4);
  make_brief<float>(take, kLorenzo, {}, coarse, false);
  make_brief<float>(take, kLorenzo, {9, 10, 11}, coarse, true);
  make_brief<double>(take, "fast", {500}, Bound::rel(1e-3), true, {-9999, 1e20});
  make_brief<float>(take, kPyramid, {9, 10, 11}, coarse, false);
  make_brief<i16>(take, "pyramid:taps=28,every=4,gain=0+linear+rans", {20, 11}, Bound::abs(3.5),
                  false);
  make_brief<u64>(take, "lossless", {300}, Bound::lossless(), false);
  make_brief<f16>(take, "linear+lorenzo:order=2+huffman", {7, 1, 9}, coarse, true);
  make_brief<double>(take, kLorenzo, {30, 40}, Bound::pointwise(0.01), true);
  make_brief<float>(take, kPyramid, {2, 2, 3, 1, 2, 3, 4, 1}, Bound::psnr(50) && Bound::l2(2),
                    false);
  make_brief<float>(take, kLorenzo, {30, 40}, Bound::ratio(6), false);
  make_brief<i8>(take, "sz3-lr", {200}, Bound::abs(1e-300), false);
  make_brief<u8>(take, kPyramid, {52, 51, 50}, Bound::abs(8), false);  // levels
  make_brief_layered(take);
  make_brief_border(take);
}

// A transform whose coefficients vanish, so that the chunk needs a smaller bound.
inline void make_tightened(const TakeCase& take) {
  const Shape shape{16, 24};
  std::vector<float> values(shape.size());
  for (size_t i = 0; i < values.size(); ++i) values[i] = i / 24 % 8 == 3 && i % 8 == 4 ? 1.1f : 0.f;
  CompressOptions options;
  options.recipe = "dft+linear+huffman";
  options.bound = Bound::abs(1);
  take({"f32_" + to_string(shape), compress(values.data(), shape, options)});
}

// A stream of a recipe that predicts first, of which parts were written again: a box of one chunk,
// and most of another.
inline void make_layered(const TakeCase& take) {
  const Shape shape{20, 30};
  const auto values = make_values<float>(shape, true);
  CompressOptions options;
  options.recipe = kPyramid;
  options.bound = Bound::abs(0.4);
  options.chunk = {10, 30};
  Bytes stream = compress(values.data(), shape, options);
  std::vector<float> rough(270);
  for (size_t i = 0; i < rough.size(); ++i) rough[i] = float(i * i * 7919 % 1009);
  MemoryStore store(stream);
  update(store, {2, 3}, view_of(rough.data(), {5, 20}));
  update(store, {4, 10}, view_of(rough.data(), {5, 9}));
  update(store, {11, 0}, view_of(rough.data(), {9, 30}));
  take({"f32_layered", stream});
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
  take({"f32_layered_by_marks", stream});
}

// A stream of which two chunks were written again.
inline void make_updated(const TakeCase& take) {
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
  take({"f32_updated", stream});
}

// Smaller bounds in two places.
inline void make_with_regions(const TakeCase& take) {
  const Shape shape{20, 30};
  const auto values = make_values<float>(shape, false);
  CompressOptions options;
  options.recipe = kLorenzo;
  options.bound = Bound::abs(0.4);
  options.chunk = {10, 10};
  options.regions = {{{{3, 5}, {4, 4}}, 0.05}, {{{15, 25}, {2, 2}}, 0}};
  const Bytes stream = compress(values.data(), shape, options);
  take({"f32_regions", stream});
}

// A bound for each value: of a few kinds, or of many.
inline void make_by_value(const TakeCase& take, const char* recipe, const Shape& shape, bool many) {
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
  take({"f32_by_value", compress(values.data(), shape, options)});
}

// Calls take() with one case after the other; new ones go to the end, for others have their
// numbers.
inline void for_each_golden_case(const TakeCase& take) {
  const Bound coarse = Bound::abs(0.4);
  make<float>(take, kLorenzo, {9, 10, 11}, coarse, false);
  make<float>(take, kLorenzo, {40, 25}, coarse, true, {16, 25});
  make<double>(take, kLorenzo, {500}, Bound::rel(1e-3), true);
  make<f16>(take, kLorenzo, {7, 8, 9}, coarse, true);
  make<bf16>(take, kLorenzo, {7, 8, 9}, coarse, true);
  make<i8>(take, kLorenzo, {200}, Bound::abs(2), false);
  make<i16>(take, kLorenzo, {20, 11}, Bound::abs(3.5), false);
  make<i32>(take, kLorenzo, {5, 6, 7}, Bound::abs(1), false);
  make<i64>(take, kLorenzo, {300}, Bound::abs(1), false);
  make<u8>(take, "sz1.4", {200}, Bound::abs(2), false);
  make<u16>(take, "sz1.4", {20, 11}, Bound::abs(3.5), false);
  make<u32>(take, "sz1.4", {5, 6, 7}, Bound::abs(1), false);
  make<u64>(take, "sz1.4", {300}, Bound::abs(1), false);
  make<float>(take, "sz1.4", {9, 10, 11}, coarse, true);
  make<double>(take, "sz1.4", {3, 4, 5, 6}, coarse, true);
  make<float>(take, "lorenzo:order=2+linear+huffman", {13, 14}, coarse, false);
  make<double>(take, "linear+lorenzo:order=2,axes=2+raw+zstd", {4, 8, 9}, coarse, false);
  make<float>(take, "linear+huffman", {400}, coarse, true);
  make<float>(take, "lossless", {9, 10, 11}, Bound::lossless(), true);
  make<double>(take, "lorenzo+exact+huffman", {9, 10, 11}, Bound::abs(1), true);
  make<float>(take, "linear+lorenzo+raw", {100}, Bound::abs(1e-9), false);
  make<float>(take, kLorenzo, {10, 10}, Bound::psnr(50) && Bound::l2(2), true);
  make<float>(take, kLorenzo, {0, 3}, coarse, false);
  make<float>(take, kLorenzo, {}, coarse, false);
  make<float>(take, "fast", {9, 10, 11}, coarse, false);
  make<float>(take, "fast", {40, 25}, Bound::abs(1e-3), true, {16, 25});
  make<double>(take, "fast", {600}, Bound::abs(1e-12), true);
  make<i16>(take, "fast", {20, 11}, Bound::abs(3.5), false);
  make<u64>(take, "fast", {300}, Bound::abs(1), false);
  make<float>(take, "cuszp2-outlier", {500}, coarse, true);
  make<double>(take, "cuszp2-plain", {30, 20}, coarse, false);
  make<float>(take, "ceresz", {9, 10, 11}, coarse, false);
  make<float>(take, "linear+blocks:axes=2,size=64+fixed:block=64", {20, 21}, coarse, true);
  make<float>(take, "linear+blocks:axes=3,size=64+fixed:block=64", {2, 9, 10, 11}, coarse, false);
  make_updated(take);
  make<float>(take, kPyramid, {9, 10, 11}, coarse, true);
  make<double>(take, kPyramid, {500}, Bound::rel(1e-3), true);
  make<bf16>(take, kPyramid, {7, 8, 9}, coarse, true);
  make<i16>(take, kPyramid, {20, 11}, Bound::abs(3.5), false);
  make<u64>(take, kPyramid, {5, 6, 7}, Bound::abs(1), false);
  make<float>(take, kPyramid, {3, 4, 5, 6, 7}, coarse, false);
  make<float>(take, "pyramid:tight=2,taps=7,every=1,gain=0+linear+rans", {16, 24, 40}, coarse,
              false);
  make<double>(take, "pyramid:frozen=3,taps=9,every=1,gain=0+linear+rans", {40, 90}, coarse, true);
  make<float>(take, "pyramid:frozen=2+linear+huffman+zstd", {8, 9, 10}, coarse, true);
  make<float>(take, "sz3-interp", {9, 10, 11}, coarse, true);
  make<i16>(take, "interp:cubic=0,reverse=1,alpha=1.5,beta=3+linear+huffman", {20, 31},
            Bound::abs(3.5), false);
  make<float>(take, "linear+lorenzo+rans", {9, 10, 60}, coarse, true);
  for (const char* recipe : {"wavesz", "wavesz-huffman", "ghostsz"}) {
    make<float>(take, recipe, {20, 70}, coarse, true);
    make<double>(take, recipe, {9, 10, 11}, coarse, false);
  }
  make<float>(take, "ceaz", {30, 40}, coarse, true);
  make<double>(take, "linear+lorenzo+adaptive:rule=paper,page=11", {9, 30, 40}, Bound::abs(1e-4),
               false);
  make<i16>(take, "linear+adaptive:rule=offline,sort=exact,page=12", {90, 80}, Bound::abs(1),
            false);
  make<float>(take, kLorenzo, {30, 40}, Bound::pointwise(0.01), true);
  make<double>(take, "ceaz", {9, 10, 11}, Bound::pointwise(1e-4), true);
  make<bf16>(take, "fast", {20, 21}, Bound::pointwise(0.9), false);
  make<double>(take, "wavefront:border=predicted+linear:step=pow2+raw", {5, 8, 40}, coarse, false);
  make<float>(take, "lorenzo+linear+raw+deflate", {3, 4, 20, 40}, coarse, false);
  make<u64>(take, "linear:step=pow2,bins=500+lorenzo+huffman", {300}, Bound::abs(2), false);
  make<float>(take, kLorenzo, {30, 40}, Bound::ratio(6), false);
  make<u8>(take, kPyramid, {52, 51, 50}, Bound::abs(8), false);  // large enough for levels
  make<float>(take, "sz3-lr", {9, 10, 31}, coarse, true);
  make<float>(take, "sz3-lr", {20, 13, 14}, Bound::abs(8), false);
  make<double>(take, "composite:second=1,degree=2,block=5+linear+huffman+lz4", {2, 3, 9, 10, 11},
               Bound::abs(3), false);
  make<i16>(take, "composite:second=1+linear+raw+shuffle:bytes=2+lz4", {40, 50}, Bound::abs(6),
            false);
  make<u64>(take, "regression:degree=2+linear+huffman", {30, 31}, Bound::abs(9), false);
  make<float>(take, "transpose:order=312+pyramid+linear+rans", {7, 8, 9}, coarse, true);
  make<double>(take, "transpose+linear+lorenzo:axes=1+huffman", {7, 8, 9}, coarse, true);
  make<float>(take, kPyramid, {30, 40}, Bound::pointwise(0.01), true);
  for (const char* recipe : {"sz-pastri", "sz-pastri-zstd", "sz3-pastri", "eri", "fpzip-like"})
    make<double>(take, recipe, {4000}, coarse, true);
  make<float>(take, "linear+cross:rows=9,columns=16+rans", {30, 40}, coarse, false);
  make<i16>(take, "linear+cross:rows=4,columns=5+huffman", {30, 11}, Bound::abs(1), false);
  make<float>(take, "linear+pattern:size=5,count=7+arithmetic", {30, 40}, coarse, true);
  make<u8>(take, "linear+residual", {30, 40}, Bound::abs(1), false);
  make<float>(take, "linear+interp+arithmetic", {9, 10, 11}, coarse, true);
  make<double>(take, "linear+composite:degree=2+huffman", {9, 10, 11}, Bound::abs(4), true);
  make_with_regions(take);
  make<float>(take, "dft+linear+arithmetic+zstd", {9, 21, 11}, coarse, true);
  make<double>(take, "dft:block=5+linear+huffman", {30, 41}, coarse, false);
  make<float>(take, "lag:frames=3+linear+huffman", {9, 40}, coarse, true);
  make<i16>(take, "linear+lag:frames=2+rans", {9, 40}, Bound::abs(2), false);
  make<double>(take, "lorenzo+logscale+huffman", {9, 10, 11}, coarse, true);
  make<bf16>(take, "logscale+lorenzo+huffman", {9, 40}, coarse, false);
  make<float>(take, "sz3-truncation", {30, 40}, coarse, true);
  make<double>(take, "truncate:bits=18+lorenzo+huffman", {400}, coarse, true);
  make<u16>(take, "truncate+raw", {400}, Bound::abs(5), false);
  make_by_value(take, "lorenzo+elementwise+huffman+zstd", {20, 30}, false);
  make_by_value(take, "pyramid+elementwise+rans", {9, 20, 30}, true);
  make_by_value(take, "interp+elementwise+huffman", {9, 10, 11}, false);
  make_by_value(take, "lag+elementwise+rans", {9, 40}, true);
  make<float>(take, "sz3-interp", {12, 13, 14}, coarse, true);
  make<double>(take, "interp:cubic=1+linear+arithmetic", {40, 60}, Bound::abs(0.01), false);
  make<float>(take, "lorenzo+linear:bins=16,beyond=planes+huffman+zstd", {9, 10, 11},
              Bound::abs(1e-4), true);
  make<double>(take, "pyramid+linear:bins=8,beyond=planes+rans", {9, 10, 11}, Bound::abs(1e-3),
               true);
  make<i16>(take, "linear:bins=30,beyond=planes+interp+arithmetic", {20, 30}, Bound::abs(1), false);
  make<float>(take, "linear:bins=4,beyond=planes+cross:rows=9,columns=16+rans", {30, 40}, coarse,
              false);
  make_tightened(take);
  make<float>(take, "fast", {9, 30, 40}, coarse, false);  // narrow codes, as those that follow
  make<double>(take, "cuszp2-outlier", {20, 37}, coarse, false);
  make<float>(take, "ceresz", {700}, Bound::abs(1e-4), false);
  make<double>(take, "ceaz", {9, 10, 31}, coarse, false);
  make<double>(take, kLorenzo, {9, 10, 31}, Bound::abs(1e-4), false);
  make<float>(take, "pyramid:tile=12,taps=0+linear+rans", {24, 33, 34}, coarse, true);  // tiles
  make<i16>(take, "pyramid:frozen=1,tile=8,taps=5,every=1,gain=0+linear+huffman", {2, 40, 70},
            Bound::abs(9), false);
  make<double>(take, "pyramid:tile=10+linear+rans", {5000}, coarse, false);
  make<u8>(take, "pyramid:tile=14,taps=0+linear+rans", {49, 50, 54}, Bound::abs(9), false);
  make<float>(take, "linear+lorenzo+rans", {9, 10, 40}, coarse, true);  // causal contexts
  make<u64>(take, "linear+lorenzo:order=2+rans", {20, 50}, Bound::abs(3), false);
  make<float>(take, "pyramid:frozen=0,tile=12,taps=0+linear+rans", {40, 33, 34}, coarse, true);
  make_layered(take);
  make_all_brief(take);
  make<float>(take, "linear+huffman|pyramid+linear+rans", {9, 10, 31}, coarse, true);
  make<float>(take, "wavesz|pyramid+linear+rans|fast", {9, 30, 40}, coarse, false);
  make<double>(take, "sz1.4|linear+lorenzo+huffman|pyramid+linear+rans", {20, 31}, coarse, true,
               {12, 31});
  make_brief<double>(take, "plain|pyramid+linear+rans", {30, 31}, coarse, true);
  make<float>(take, "cuszp2-outlier", {9, 30, 40}, coarse, true);  // lists that are not packed
  make<double>(take, "fast", {20, 37}, coarse, true);
  make<float>(take, "wavelet+linear+rans", {12, 33, 34}, coarse, true);  // with repairs
  make<float>(take, "wavelet:filter=1+linear+rans", {60, 70}, Bound::psnr(40), false);
  make<double>(take, "wavelet:order=2+linear+rans", {41, 50}, Bound::psnr(120), true);  // in f64
  make<float>(take, "wavelet:order=1+linear+huffman", {5, 13, 14, 30}, Bound::l2(40), false);
  make<i16>(take, "wavelet:reach=25+linear+rans", {3, 900}, Bound::abs(3), false);
  make<u64>(take, "wavelet+linear+arithmetic", {700}, Bound::abs(5), false);
  make_brief<float>(take, "wavelet+linear+rans", {30, 31}, coarse, true);
  make<float>(take, "balanced", {9, 10, 31}, coarse, true);
  make<i16>(take, "balanced", {40, 50}, Bound::abs(3.5), false);
  make_brief<double>(take, "small", {20, 31}, coarse, false);
  make_brief<f16>(take, "smallest", {7, 8, 9}, coarse, true);
  make<u64>(take, "linear:range=1+lorenzo+huffman+zstd", {300}, Bound::abs(9), false);
  make<float>(take, "linear:range=1+lorenzo:axes=0+pack", {9, 30, 40}, coarse, false);  // narrow
  make<float>(take, "interp+linear:range=1+huffman+zstd:level=6", {9, 10, 31}, Bound::abs(20),
              false);
  make<float>(take, "reshape:axes=1+lorenzo+linear+huffman", {9, 10, 31}, coarse, true);
  make<u16>(take, "reshape:merge=first+linear+lorenzo+rans", {9, 10, 31}, Bound::abs(3), false);
  make<double>(take, "sz1.0", {20, 37}, coarse, true);
  make<float>(take, "linear+lorenzo+raw+bitshuffle:bytes=1+gzip", {30, 41}, coarse, true);
  make<float>(take, "linear+blocks:size=8+fixed:block=8", {700}, coarse, false);
  make<i16>(take, "raw+lz4", {300}, Bound::lossless(), false);
  make<double>(take, "lorenzo:order=3+linear+huffman", {9, 10, 11}, coarse, true);
  make<float>(take, "lorenzo:order=4+linear+huffman", {20, 31}, coarse, true);
  make<float>(take, "linear+lorenzo:order=3+huffman", {20, 31}, coarse, false);
  make<float>(take, "lorenzo+logscale:levels=6+huffman", {300}, coarse, true);
  make<double>(take, "dft:block=6,waves=fourier+linear+huffman", {20, 31}, coarse, false);
  make<float>(take, "pattern:size=6,count=5+linear+huffman", {700}, coarse, true);
  make<double>(take, "pattern+linear+huffman", {3000}, coarse, false);
  make<float>(take, "linearize+linear+lorenzo:axes=1+huffman+zstd", {200, 3}, coarse, true);
  make<float>(take, "lorenzo+linear:bins=16,beyond=cut+huffman", {20, 31}, coarse, true);
  make<float>(take, "linear+lorenzo+adaptive:rule=paper,page=11,keep=100,restart=200,outliers=one",
              {9000}, coarse, true);
}

}  // namespace leeway::test
