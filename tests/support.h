// SPDX-License-Identifier: BSD-3-Clause
// Support for tests: shapes, fields and the strict comparison.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <vector>

#include "leeway/codec/mask.h"
#include "leeway/compressor.h"
#include "leeway/leeway.hpp"

namespace leeway::test {

// Odd shapes of ranks 0 to 5 (and one of 8): extents 1, 2, primes, powers of two and their
// neighbours.
inline const std::vector<Shape>& shapes() {
  static const std::vector<Shape> list = {{},
                                          {1},
                                          {2},
                                          {7},
                                          {64},
                                          {257},
                                          {1, 1},
                                          {3, 5},
                                          {1, 31},
                                          {16, 33},
                                          {31, 1},
                                          {3, 4, 5},
                                          {7, 1, 9},
                                          {8, 8, 8},
                                          {2, 17, 13},
                                          {1, 1, 1, 1},
                                          {2, 3, 4, 5},
                                          {3, 1, 5, 7},
                                          {2, 2, 3, 3, 4},
                                          {1, 3, 2, 5, 3},
                                          {2, 1, 2, 1, 2, 1, 2, 3}};
  return list;
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define LEEWAY_SANITIZED
#endif
#endif
// Of many cases a third, where a sanitizer makes each ten times as slow and another of the kind
// finds nothing new.
inline std::vector<Shape> some_shapes() {
#ifdef LEEWAY_SANITIZED
  std::vector<Shape> some;
  for (size_t i = 1; i < shapes().size(); i += 3) some.push_back(shapes()[i]);
  return some;
#else
  return shapes();
#endif
}

enum class Texture { smooth, noise, constant, steps, hostile, huge };
inline constexpr Texture kTextures[] = {Texture::smooth, Texture::noise,   Texture::constant,
                                        Texture::steps,  Texture::hostile, Texture::huge};

// A value of T from a number of moderate size; integers are spread over a good part of their range.
template <class T>
T make_value(double x) {
  if constexpr (is_floating<T>)
    return T(float(x));
  else {
    const double top = double(std::numeric_limits<T>::max()) / 4,
                 low = std::is_signed_v<T> ? -top : 0;
    return T(std::clamp((x + 4) / 8 * (top - low) + low, low, top));
  }
}

template <class T>
T from_bits(u64 bits) {
  return std::bit_cast<T>(Bits<T>(bits));
}

template <class T>
std::vector<T> make_field(const Shape& shape, Texture texture, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<T> values(size_t(shape.size()));
  double walk = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    walk += 0.05 * uniform(random);
    switch (texture) {
      case Texture::smooth:
        values[i] = make_value<T>(2 * std::sin(double(i) * 0.07) + walk);
        break;
      case Texture::noise:
        values[i] = make_value<T>(4 * uniform(random));
        break;
      case Texture::constant:
        values[i] = make_value<T>(1.25);
        break;
      case Texture::steps:
        values[i] = make_value<T>(i / 11 % 2 ? 3.5 : -2);
        break;
      case Texture::huge:
      case Texture::hostile:
        values[i] = from_bits<T>(random());
        break;
    }
    if (texture == Texture::huge && is_floating<T>) values[i] = T(float(1e38 * uniform(random)));
    if (texture == Texture::hostile && is_floating<T>) {
      constexpr float inf = std::numeric_limits<float>::infinity();
      const double x = 2 * std::sin(double(i) * 0.1);
      switch (random() % 12) {
        case 0:
          values[i] = from_bits<T>(random() | bits_of(T(inf)));
          break;  // NaN with some payload
        case 1:
          values[i] = T(inf);
          break;
        case 2:
          values[i] = T(-inf);
          break;
        case 3:
          values[i] = T(-0.0f);
          break;
        case 4:
          values[i] = from_bits<T>(random() & 0xff);
          break;  // denormal
        case 5:
          values[i] = T(1e20f);
          break;
        case 6:
          values[i] = T(-9999.0f);
          break;
        default:
          values[i] = T(float(x));
      }
    }
  }
  return values;
}

// |a - b| in a type that holds the difference exactly enough to compare with zero tolerance.
template <class T>
long double exact_error(T a, T b) {
  return std::abs((long double)(a) - (long double)(b));
}

// Specials and fill values bit for bit, everything else within the bound.
template <class T>
void expect_within(std::span<const T> original, std::span<const T> decoded, double bound,
                   const std::vector<u64>& fills, const std::string& what) {
  ASSERT_EQ(original.size(), decoded.size());
  const Mask mask{.fills = fills};
  for (size_t i = 0; i < original.size(); ++i) {
    if (bits_of(original[i]) == bits_of(decoded[i])) continue;
    ASSERT_FALSE(mask.is_special(original[i])) << what << ": special value changed at " << i;
    ASSERT_FALSE(is_nonfinite(decoded[i])) << what << " at " << i;
    ASSERT_LE(exact_error(original[i], decoded[i]), (long double)(bound)) << what << " at " << i;
  }
}

template <class T>
CompressOptions options_for(const Bound& bound, const std::string& recipe = "balanced") {
  CompressOptions options;
  options.bound = bound;
  options.recipe = recipe;
  return options;
}

// Compresses, decompresses, checks the bound and what the stream states. Returns the stream.
template <class T>
Bytes check_round_trip(const std::vector<T>& values, const Shape& shape,
                       const CompressOptions& options) {
  const std::string what = std::string(name_of(dtype_of<T>())) + " " + to_string(shape) + " " +
                           to_string(options.bound) + " " + options.recipe;
  const Bytes stream = compress(values.data(), shape, options);
  EXPECT_LE(stream.size(), max_compressed_size(dtype_of<T>(), shape, options)) << what;
  const Info info = inspect(stream);
  EXPECT_EQ(info.header.shape, shape);
  const Array decoded = decompress(stream);
  expect_within<T>(values, decoded.as<T>(), info.header.abs_bound, info.header.fills, what);
  EXPECT_LE(info.statement.max_error, info.header.abs_bound) << what;
  return stream;
}

// Calls f<T>() for all element types of the build.
template <class F>
void for_each_type(F&& f) {
  for (u8 id = 1; is_dtype(id); ++id)
    visit_dtype(DType(id), [&]<class T>(std::type_identity<T> type) {
      if constexpr (kIsCompiled<T>) f(type);
    });
}

// For those that the recipe takes.
template <class F>
void for_each_type_of(const std::string& recipe, F&& f) {
  for_each_type([&]<class T>(std::type_identity<T> type) {
    if (is_for(parse_recipe(recipe), dtype_of<T>())) f(type);
  });
}

// Whether a recipe is not among those known; under a sanitizer, whether one of its stages is not.
inline bool has_news(const NamedRecipe& named, std::set<std::string>& known) {
#ifdef LEEWAY_SANITIZED
  bool news = false;
  for (const StageCall& call : parse_recipe(named.recipe).stages)
    news |= known.insert(call.name).second;
  return news;
#else
  return known.insert(std::string(named.recipe)).second;
#endif
}

// All orders and parameters worth testing, made of the library's own lists.
inline std::vector<std::string> recipes() {
  std::vector<std::string> list = {"linear+lorenzo:order=2+huffman",
                                   "lorenzo:order=2+linear+huffman+zstd",
                                   "linear+lorenzo:axes=2+raw+zstd",
                                   "lorenzo:axes=1+linear+raw",
                                   "lorenzo+exact+huffman+zstd",
                                   "linear",
                                   "zstd",
                                   "linear+lorenzo+huffman+zstd:level=-5+store"};
  std::set<std::string> known;  // some have two names
  for (const NamedRecipe& named : named_recipes())
    if (has_news(named, known)) list.emplace_back(named.name);
  return list;
}

}  // namespace leeway::test
