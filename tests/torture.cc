// SPDX-License-Identifier: BSD-3-Clause
// Torture: random and adversarial arrays through every recipe, type and kind of bound, until a
// number of values is reached. An oracle looks at every value: it calculates with 128 bits and
// shares no comparison with the library. Run for long with scripts/torture.sh.
//
//   leeway_torture VALUES [SEED [FIRST_CASE]]
//
// To try something new, write a function like check_region() and call it in check().
#include <algorithm>
#include <array>
#include <cfenv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "leeway/chunk_memory.h"
#include "leeway/leeway.hpp"
#include "leeway/recipe/recipe.h"
#include "leeway/stream/compact.h"

namespace leeway {
namespace {

using Random = std::mt19937_64;

// ---------------------------------------------------------------------------------------- numbers

// 113 bits and exponents up to 16383: integers of 64 bits, products of doubles and sums of their
// squares fit.
#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 Wide;
#else
using Wide = long double;
#endif

Wide size_of_number(Wide x) { return x < 0 ? -x : x; }

template <class T>
Wide wide(T value) {
  if constexpr (is_floating<T>)
    return Wide(double(value));
  else
    return Wide(value);
}

// |a - b|, exactly: the sum of both.
struct Distance {
  Wide rounded, rest;
  bool exceeds(Wide bound) const { return rounded > bound || (rounded == bound && rest > 0); }
};
template <class T>
Distance distance_of(T a, T b) {
  const Wide x = wide(a), y = -wide(b), sum = x + y, of_y = sum - x;
  const Wide rest = (x - (sum - of_y)) + (y - of_y);
  return sum < 0 ? Distance{-sum, -rest} : Distance{sum, rest};
}

template <class T>
u64 pattern(T value) {
  u64 bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

// ------------------------------------------------------------------------------------------ cases

enum class Asked { abs, rel, pointwise, psnr, l2, regions, by_value, lossless, rate };
constexpr const char* kAskedNames[] = {"abs",     "rel",      "pointwise", "psnr", "l2",
                                       "regions", "by value", "lossless",  "rate"};

template <class T>
struct Case {
  Asked kind = Asked::abs;
  std::string recipe;
  Shape shape;
  std::vector<T> values;
  std::vector<double> bounds;  // value by value, if there are some
  CompressOptions options;
};

struct Tally {
  u64 arrays = 0, values = 0, violations = 0;
};

double uniform(Random& random) { return double(random() >> 11) * 0x1p-52 - 1; }  // [-1, 1)

template <class T>
T from_number(double x) {
  if constexpr (is_floating<T>) {
    return T(x);
  } else {
    const double low = double(std::numeric_limits<T>::min()),
                 high = double(std::numeric_limits<T>::max());
    return x <= low                         ? std::numeric_limits<T>::min()
           : x >= std::nextafter(high, 0.0) ? std::numeric_limits<T>::max()
           : std::isnan(x)                  ? T(0)
                                            : T(x);
  }
}

enum Texture {
  bits,
  walk,
  edges,
  octaves,
  offset,
  outliers,
  ends,
  huge,
  tiny,
  near_zero,
  kTextures
};

// How large values of this texture are, about.
template <class T>
double magnitude(Random& random, Texture texture) {
  const double top = is_floating<T> ? (std::is_same_v<T, double> ? 0x1p1020
                                       : std::is_same_v<T, f16>  ? 0x1p14
                                                                 : 0x1p124)
                                    : std::ldexp(1.0, 8 * int(sizeof(T)) - 2);
  const double bottom = !is_floating<T>             ? 16
                        : std::is_same_v<T, double> ? 0x1p-1015
                        : std::is_same_v<T, f16>    ? 0x1p-12
                                                    : 0x1p-120;
  switch (texture) {
    case bits:
    case ends:
    case huge:
      return top;
    case tiny:
      return bottom;
    case near_zero:
      return 8;
    default:
      return std::min(top,
                      std::exp2(double(i64(random() % 60)) - 30) * (is_floating<T> ? 1 : 0x1p30));
  }
}

// Values made to hurt: any bits, values next to the edges of quantization bins, next to the ends of
// the type, huge and tiny ones.
template <class T>
std::vector<T> make_values(Random& random, Texture texture, double size, double bound,
                           size_t count) {
  std::vector<T> values(count);
  double at = 0;
  for (T& value : values) {
    const double u = uniform(random);
    at += u * size / 64;
    if (std::abs(at) > size) at /= 2;
    double x = at;
    switch (texture) {
      case bits:
        value = std::bit_cast<T>(Bits<T>(random()));
        continue;
      case edges:
        x = (double(i64(random() % 2001)) - 1000 + 0.5) * 2 * bound * (1 + u * 1e-7);
        break;
      case octaves:
        x = u * size * std::exp2(-double(random() % 60));
        break;
      case offset:
        x = 1000 * size + at;
        break;
      case outliers:
        x = random() % 40 ? at : u * size * 1e9;
        break;
      case ends:
        if constexpr (!is_floating<T>) {
          using U = std::make_unsigned_t<T>;
          const U ends[] = {U(0), U(std::numeric_limits<T>::min()),
                            U(std::numeric_limits<T>::max()), U(u64(1) << 53),
                            U(u64(1700000000000000000) / 256 * 256)};
          // One end for the whole array, mostly: then the range is small and the values are large.
          const size_t end = random() % 64 ? size_t(count % 5) : size_t(random() % 5);
          value = T(U(ends[end] + U(random() % 200) - U(random() % 100)));
          continue;
        }
        x = (u < 0 ? -1 : 1) * size * (8 + 7 * std::abs(u));
        break;
      case near_zero:
        x = double(i64(random() % 33) - 16) / (is_floating<T> ? 4 : 1) + (random() % 3 ? 0 : u);
        break;
      default:
        break;
    }
    value = from_number<T>(x);
  }
  return values;
}

// NaN with payloads, infinities, zeros of both signs, customary fill values, in places.
template <class T>
void sprinkle(Random& random, std::vector<T>& values) {
  const u64 one_in = 3 + random() % 60, what = random();
  for (size_t i = 0; i < values.size(); ++i) {
    if (random() % one_in) continue;
    T& value = values[i];
    if constexpr (is_floating<T>) {
      const double inf = std::numeric_limits<double>::infinity();
      const auto nan = Bits<T>(pattern(T(inf)) | (random() % 64 + 1));
      switch (what % 16 < 8 ? what % 8 : random() % 8) {
        case 0:
          value = std::bit_cast<T>(nan);
          break;
        case 1:
          value = T(inf);
          break;
        case 2:
          value = T(-inf);
          break;
        case 3:
          value = T(-0.0);
          break;
        case 4:
          value = T(1e20);
          break;
        case 5:
          value = T(-9999.0);
          break;
        case 6:
          value = T(0.0);
          break;
        default:
          value = values[0];
      }
    } else {
      value = what % 2 ? values[0] : from_number<T>(what % 4 ? -32768 : 65535);
    }
  }
}

template <class T>
void declare_fills(Random& random, Case<T>& made) {
  switch (random() % 5) {
    case 0:
      made.options.fills = {0};
      break;
    case 1:
      made.options.fill_bits = {pattern(made.values[random() % made.values.size()])};
      break;
    case 2:
      for (int i = 0; i < 3; ++i)
        made.options.fill_bits.push_back(pattern(made.values[random() % made.values.size()]));
      break;
    default:
      break;
  }
  made.options.detect_fills = random() % 4 != 0;
}

Box random_box(Random& random, const Shape& shape) {
  Box box;
  std::array<u64, kMaxRank> extents{};
  for (size_t axis = 0; axis < shape.rank(); ++axis) {
    box.first[axis] = random() % shape[axis];
    extents[axis] = 1 + random() % (shape[axis] - box.first[axis]);
  }
  box.shape = Shape(std::span<const u64>(extents).first(shape.rank()));
  return box;
}

// Calls f(place in the box, place in the array).
template <class F>
void for_each_place(const Shape& shape, const Box& box, F&& f) {
  size_t count = 0;
  for_each_outer(box.shape, 0, [&](const Index& index) {
    size_t at = 0;
    for (size_t axis = 0; axis < shape.rank(); ++axis)
      at = at * size_t(shape[axis]) + size_t(box.first[axis] + index[axis]);
    f(count++, at);
  });
}

const std::vector<std::string>& recipes_for(Asked kind) {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> list = {"linear+lorenzo:order=2+huffman+zstd",
                                     "lorenzo:order=2+linear+huffman",
                                     "lorenzo+logscale+huffman",
                                     "logscale+lorenzo+huffman",
                                     "transpose+linear+lorenzo+huffman",
                                     "dft+linear+huffman",
                                     "truncate:bits=2+raw",
                                     "truncate:bits=12+lorenzo+huffman",
                                     "linear+interp+huffman",
                                     "pyramid:tile=10+linear+rans",
                                     "regression+linear+huffman",
                                     "lag+linear+huffman"};
    for (const NamedRecipe& named : named_recipes()) list.emplace_back(named.name);
    return list;
  }();
  static const std::vector<std::string> of_logarithms = {
      "balanced", "fast", "small", "sz-pwr", "sz3-lr", "sz3-interp", "plain"};
  static const std::vector<std::string> by_value = {"pyramid+elementwise+rans", "balanced",
                                                    "lorenzo+elementwise+huffman+zstd", "small"};
  static const std::vector<std::string> quick = {"balanced", "fast", "sz1.4"};
  return kind == Asked::pointwise                            ? of_logarithms
         : kind == Asked::by_value || kind == Asked::regions ? by_value
         : kind == Asked::rate                               ? quick
                                                             : all;
}

template <class T>
Case<T> make_case(Random& random, u64 number) {
  static const Shape kShapes[] = {{700},      {3000},        {50, 61},         {14, 15, 16},
                                  {5, 9, 30}, {4, 5, 9, 11}, {3, 1, 7, 11, 5}, {1, 2, 300}};
  static const Shape kLargeShapes[] = {{200, 201}, {30, 35, 40}, {50, 50, 50}, {40, 2500}};
  Case<T> made;
  // Absolute bounds are most of all bounds.
  static constexpr Asked kKinds[] = {Asked::abs, Asked::abs,       Asked::rel,      Asked::abs,
                                     Asked::rel, Asked::pointwise, Asked::psnr,     Asked::abs,
                                     Asked::l2,  Asked::regions,   Asked::by_value, Asked::abs,
                                     Asked::abs, Asked::lossless,  Asked::rate,     Asked::abs};
  made.kind = kKinds[number % std::size(kKinds)];
  if (made.kind == Asked::pointwise && !is_floating<T>) made.kind = Asked::rel;
  const bool is_slow =
      made.kind == Asked::rate || made.kind == Asked::psnr || made.kind == Asked::l2;
  made.shape = !is_slow && random() % 40 == 0 ? kLargeShapes[random() % std::size(kLargeShapes)]
                                              : kShapes[random() % std::size(kShapes)];
  const auto& recipes = recipes_for(made.kind);
  do made.recipe = recipes[random() % recipes.size()];
  while (!is_for(parse_recipe(made.recipe), dtype_of<T>()));

  const auto texture = Texture(random() % kTextures);
  const double size = magnitude<T>(random, texture),
               fraction = std::exp2(4 - double(random() % 2800) / 100),
               bound = std::clamp(size * fraction, 1e-300, 1e300);
  made.values = make_values<T>(random, texture, size, bound, size_t(made.shape.size()));
  if (random() % 2) sprinkle(random, made.values);
  declare_fills(random, made);
  made.options.recipe = made.recipe;
  if (random() % 2) made.options.chunk = default_chunk(made.shape, u64(1) << (7 + random() % 12));
  if (random() % 8 == 0) made.options.execution.threads = 3;
  made.options.brief = random() % 2 == 0;
  switch (made.kind) {
    case Asked::abs:
      made.options.bound = Bound::abs(bound);
      break;
    case Asked::rel:
      made.options.bound = Bound::rel(std::min(fraction, 2.0));
      if (random() % 4 == 0) made.options.bound.add(BoundKind::abs, bound);
      break;
    case Asked::pointwise:
      made.options.bound = Bound::pointwise(random() % 8 ? fraction / 16 : 1e3 * fraction);
      break;
    case Asked::psnr:
      made.options.bound = Bound::psnr(10 + double(random() % 1200) / 10);
      break;
    case Asked::l2:
      made.options.bound = Bound::l2(bound);
      break;
    case Asked::rate:
      made.options.bound = Bound::rate(1 + double(random() % 80) / 10);
      break;
    case Asked::lossless:
      made.options.bound = Bound::lossless();
      break;
    case Asked::by_value: {
      made.options.bound = Bound::abs(bound);
      const u64 distinct = random() % 2 ? 4 : 1000;
      for (size_t i = 0; i < made.values.size(); ++i)
        made.bounds.push_back(random() % 50 ? bound * double(random() % distinct + 1) / 4 : 0);
      made.options.bounds = view_of(made.bounds.data(), made.shape);
      break;
    }
    case Asked::regions:
      made.options.bound = random() % 2 ? Bound::abs(bound) : Bound::psnr(60);
      for (int i = 0; i < 2; ++i)
        made.options.regions.push_back(
            {random_box(random, made.shape), random() % 8 ? bound / double(2 + random() % 50) : 0});
      break;
  }
  return made;
}

// ----------------------------------------------------------------------------------------- oracle

template <class T>
class Oracle {
 public:
  Oracle(const Case<T>& given, Random& random, Tally& tally)
      : case_(given), random_(random), tally_(tally) {}

  void check() {
    ++tally_.arrays;
    tally_.values += case_.values.size();
    const Bytes stream = compress(case_.values.data(), case_.shape, case_.options);
    info_ = inspect(stream);
    const Array decoded = decompress(stream);
    decoded_ = decoded.as<T>();
    check_fills();
    check_values();
    check_sums();
    check_region(stream);
    check_environment(stream);
    if (stays_when_compressed_again()) check_again();
    if (!case_.values.empty() && !is_by_value(parse_recipe(info_.header.recipe))) {
      check_update(stream);
      check_rewriting(stream);
    }
  }

 private:
  bool is_special(T value) const {
    if constexpr (is_floating<T>)
      if (!std::isfinite(double(value))) return true;
    return std::ranges::find(info_.header.fills, pattern(value)) != info_.header.fills.end();
  }
  bool is_kept(size_t i) const { return pattern(case_.values[i]) == pattern(decoded_[i]); }

  // The fill values declared are those of the stream; others must be in the array.
  void check_fills() {
    for (const u64 fill : case_.options.fill_bits)
      if (std::ranges::find(info_.header.fills, fill) == info_.header.fills.end())
        complain("a declared fill value is not in the stream", 0);
    for (const T value : case_.values) {
      if (is_special(value)) continue;
      if (!any_ || wide(value) < low_) low_ = wide(value);
      if (!any_ || wide(value) > high_) high_ = wide(value);
      any_ = true;
    }
  }

  // What a value may be off.
  Wide allowed(size_t i) const {
    Wide most = Wide(info_.header.abs_bound);
    if (!case_.bounds.empty()) most = std::min(most, Wide(case_.bounds[i]));
    for (const Limit& limit : case_.options.bound.limits()) switch (limit.kind) {
        case BoundKind::abs:
          most = std::min(most, Wide(limit.value));
          break;
        case BoundKind::rel:
          most = std::min(most, Wide(limit.value) * (high_ - low_));
          break;
        case BoundKind::pointwise:
          most = std::min(most, Wide(limit.value) * size_of_number(wide(case_.values[i])));
          break;
        case BoundKind::lossless:
          most = 0;
          break;
        default:
          break;
      }
    return most;
  }

  void check_values() {
    std::vector<Wide> most(case_.values.size());
    for (size_t i = 0; i < most.size(); ++i) most[i] = allowed(i);
    for (const RegionBound& region : case_.options.regions)
      for_each_place(case_.shape, region.box,
                     [&](size_t, size_t at) { most[at] = std::min(most[at], Wide(region.bound)); });
    const Wide stated = Wide(info_.statement.max_error);
    if (stated > Wide(info_.header.abs_bound)) complain("the stated error exceeds the bound", 0);
    for (size_t i = 0; i < most.size(); ++i) {
      if (is_kept(i)) continue;
      const T x = case_.values[i], y = decoded_[i];
      if (case_.kind == Asked::lossless) complain("not lossless", i);
      if (is_special(x)) complain("a special value has changed", i);
      if (is_special(y)) complain("an ordinary value has become special", i);
      if (is_special(x) || is_special(y)) continue;
      const Distance error = distance_of(x, y);
      if (error.exceeds(most[i])) complain("the bound is broken", i);
      if (error.exceeds(stated)) complain("the stated largest error is too small", i);
    }
  }

  // psnr and l2.
  void check_sums() {
    Wide squares = 0, count = 0;
    for (size_t i = 0; i < case_.values.size(); ++i) {
      if (is_special(case_.values[i]) || is_special(decoded_[i])) continue;
      const Wide error = distance_of(case_.values[i], decoded_[i]).rounded;
      squares += error * error;
      count += 1;
    }
    for (const Limit& limit : case_.options.bound.limits()) {
      Wide most = squares;
      if (limit.kind == BoundKind::l2) most = Wide(limit.value) * Wide(limit.value);
      if (limit.kind == BoundKind::psnr)
        most = count * (high_ - low_) * (high_ - low_) *
               Wide(std::pow(10.0L, -(long double)(limit.value) / 10));
      if (squares > most) complain("the sum of squared errors is too large", 0);
    }
  }

  // Regions decode to what the whole has there.
  void check_region(const Bytes& stream) {
    const Box box = random_box(random_, case_.shape);
    const Array part = decompress(stream, box);
    for_each_place(case_.shape, box, [&](size_t place, size_t at) {
      if (pattern(part.as<T>()[place]) != pattern(decoded_[at]))
        complain("a region differs from the whole", at);
    });
  }

  // The caller's rounding mode changes nothing.
  void check_environment(const Bytes& stream) {
    if (random_() % 8 != 0) return;
    constexpr std::array kModes = {FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
    struct Rounding {
      explicit Rounding(int mode) { std::fesetround(mode); }
      ~Rounding() { std::fesetround(FE_TONEAREST); }
    };
    Bytes again;
    Array decoded(dtype_of<T>(), case_.shape);
    {
      const Rounding rounding(kModes[random_() % kModes.size()]);
      again = compress(case_.values.data(), case_.shape, case_.options);
      decoded = decompress(stream);
    }
    if (again != stream) complain("another rounding mode gives another stream", 0);
    for (size_t i = 0; i < decoded_.size(); ++i)
      if (pattern(decoded.as<T>()[i]) != pattern(decoded_[i]))
        return complain("another rounding mode decodes another value", i);
  }

  // Some values in a box, taken from elsewhere in the array.
  struct Part {
    Box box;
    std::vector<T> values;
    std::vector<u8> is_inside;  // by place in the array
  };
  Part random_part() {
    Part part{random_box(random_, case_.shape), {}, std::vector<u8>(case_.values.size())};
    part.values.resize(size_t(part.box.shape.size()));
    for (T& value : part.values) value = case_.values[random_() % case_.values.size()];
    for_each_place(case_.shape, part.box, [&](size_t, size_t at) { part.is_inside[at] = 1; });
    return part;
  }
  // Where a part was written, values are within the bound; elsewhere they are what they were.
  void check_part(const Part& part, const Bytes& stream, std::span<const T> before,
                  std::span<const T> after) {
    const Info info = info_ = inspect(stream);
    if (Wide(info.statement.max_error) > Wide(info.header.abs_bound))
      complain("the stated error exceeds the bound", 0);
    for_each_place(case_.shape, part.box, [&](size_t place, size_t at) {
      const T x = part.values[place], y = after[at];
      if (pattern(x) == pattern(y)) return;
      Wide most = Wide(info.header.abs_bound);
      if (case_.kind == Asked::pointwise)
        most = Wide(case_.options.bound.limits()[0].value) * size_of_number(wide(x));
      if (is_special(x) || is_special(y) || distance_of(x, y).exceeds(most))
        complain("a value that was written is too far off", at, x, y);
    });
    for (size_t i = 0; i < after.size(); ++i)
      if (!part.is_inside[i] && pattern(before[i]) != pattern(after[i]))
        return complain("a value that was not written has changed", i, before[i], after[i]);
  }

  static Bytes as_standard(const Bytes& brief) {
    const MemorySource source(brief);
    Bytes standard;
    compact(StreamReader(source),
            [&](ByteView part) { standard.insert(standard.end(), part.begin(), part.end()); });
    return standard;
  }
  void check_update(Bytes stream) {
    if (case_.options.bound.needs_measurement()) return;
    if (info_.form == Form::brief) stream = as_standard(stream);
    std::vector<T> before(decoded_.begin(), decoded_.end());
    for (int round = 0; round < 3; ++round) {
      const Part part = random_part();
      MemoryStore store(stream);
      update(store, part.box.first, view_of(part.values.data(), part.box.shape));
      const Array after = decompress(stream);
      check_part(part, stream, before, after.as<T>());
      before.assign(after.as<T>().begin(), after.as<T>().end());
    }
  }

  // As a host does it: a chunk decoded, changed in part, and compressed again.
  void check_rewriting(const Bytes& stream) {
    if (case_.kind == Asked::regions || case_.kind == Asked::lossless) return;
    Part part = random_part();
    const auto kept = std::ranges::count(part.is_inside, 0);
    if (u64(kept) * 100 < part.is_inside.size()) return;  // may be overlooked
    std::vector<T> now(decoded_.begin(), decoded_.end());
    for_each_place(case_.shape, part.box,
                   [&](size_t place, size_t at) { now[at] = part.values[place]; });
    ChunkMemory memory;
    memory.remember(stream, view_of(decoded_.data(), case_.shape));
    Bytes again(size_t(max_compressed_size(dtype_of<T>(), case_.shape, case_.options)));
    again.resize(size_t(
        memory.compress_into(view_of(now.data(), case_.shape), case_.options, again).output_bytes));
    const Array after = decompress(again);
    check_part(part, again, decoded_, after.as<T>());
  }

  // Promised for these recipes and absolute bounds, and for pointwise ones where values are
  // quantized first.
  bool stays_when_compressed_again() const {
    const bool is_promised =
        case_.recipe == "fast" || case_.recipe == "balanced" || case_.recipe == "small";
    return is_promised &&
           (case_.kind == Asked::abs ||
            (case_.kind == Asked::pointwise && !predicts_first(parse_recipe(case_.recipe))));
  }
  void check_again() {
    const Array again = decompress(compress(decoded_.data(), case_.shape, case_.options));
    for (size_t i = 0; i < decoded_.size(); ++i)
      if (pattern(again.as<T>()[i]) != pattern(decoded_[i]))
        return complain("compressed again, it is another value", i);
  }

  void complain(const char* what, size_t i) { complain(what, i, case_.values[i], decoded_[i]); }
  void complain(const char* what, size_t i, T was, T is) {
    if (tally_.violations++ >= 20) return;
    std::string fills;
    for (const u64 fill : info_.header.fills) fills += " " + std::to_string(fill);
    std::fprintf(stderr, "%s: %s %s %s, %s, fills%s%s, value %zu: %a (%llx) became %a (%llx)\n",
                 what, case_.recipe.c_str(), std::string(name_of(dtype_of<T>())).c_str(),
                 to_string(case_.shape).c_str(), to_string(case_.options.bound).c_str(),
                 fills.c_str(), case_.options.detect_fills ? "" : " (declared)", i, double(was),
                 (unsigned long long)pattern(was), double(is), (unsigned long long)pattern(is));
  }

  const Case<T>& case_;
  Random& random_;
  Tally& tally_;
  Info info_;
  std::span<const T> decoded_;
  bool any_ = false;
  Wide low_ = 0, high_ = 0;
};

}  // namespace
}  // namespace leeway

int main(int argc, char** argv) {
  using namespace leeway;
  if (argc < 2) {
    std::fprintf(stderr, "usage: leeway_torture VALUES [SEED [FIRST_CASE]]\n");
    return 2;
  }
  const auto wanted = u64(std::atof(argv[1]));
  const u64 seed = argc > 2 ? u64(std::atoll(argv[2])) : 1;
  std::map<Asked, Tally> tallies;
  Tally all;
  for (u64 number = argc > 3 ? u64(std::atoll(argv[3])) : 0; all.values < wanted; ++number) {
    Random random(seed * 1000003 + number);  // a case can be made again alone
    visit_dtype(DType(1 + random() % 12), [&]<class T>(std::type_identity<T>) {
      if constexpr (kIsCompiled<T>) {
        const Case<T> made = make_case<T>(random, number);
        Tally tally;
        try {
          Oracle<T>(made, random, tally).check();
        } catch (const Error& error) {
          std::fprintf(stderr, "%s %s %s: %s\n", made.recipe.c_str(), to_string(made.shape).c_str(),
                       to_string(made.options.bound).c_str(), error.what());
          ++tally.violations;
        }
        if (tally.violations > 0)
          std::fprintf(stderr, "case %llu of seed %llu: %llu violations\n",
                       (unsigned long long)number, (unsigned long long)seed,
                       (unsigned long long)tally.violations);
        for (Tally* sum : {&all, &tallies[made.kind]}) {
          sum->arrays += tally.arrays;
          sum->values += tally.values;
          sum->violations += tally.violations;
        }
      }
    });
  }
  const auto print = [](const char* name, const Tally& tally) {
    std::printf("%-10s %8llu arrays %12llu values %6llu violations\n", name,
                (unsigned long long)tally.arrays, (unsigned long long)tally.values,
                (unsigned long long)tally.violations);
  };
  for (const auto& [kind, tally] : tallies) print(kAskedNames[size_t(kind)], tally);
  print("all", all);
  return all.violations == 0 ? 0 : 1;
}
