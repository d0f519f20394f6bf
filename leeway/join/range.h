// SPDX-License-Identifier: BSD-3-Clause
// ValueRange: the least and the largest value of a chunk. A quantizer that is asked to keeps
// decoded values between them; the notes of the join begin with them.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>

#include "leeway/base/bytes.h"
#include "leeway/base/error.h"
#include "leeway/base/field.h"

namespace leeway {

template <class T>
struct ValueRange {
  T low, high;

  void write(Writer& notes) const {
    notes.put(low);
    notes.put(high);
  }
  static ValueRange read(Reader& notes) {
    ValueRange range;
    range.low = notes.template get<T>();
    range.high = notes.template get<T>();
    if (!(range.low <= range.high)) fail_corrupt("a range that begins above its end");
    return range;
  }
};

// Whether the parameters of a quantizer ask for a range.
template <class Q>
bool wants_range(const Q& quantizer) {
  if constexpr (requires { quantizer.params.range; })
    return quantizer.params.range != 0;
  else
    return false;
}

// The grid of a quantizer, kept in a range if there is one.
template <class T, class Q>
auto grid_in(const Q& quantizer, double bound, const std::optional<ValueRange<T>>& range) {
  auto grid = quantizer.template at<T>(bound);
  if constexpr (requires { grid.stay_within(T(), T()); })
    if (range) grid.stay_within(range->low, range->high);
  return grid;
}

// Found when it is asked for.
template <class T>
class ChunkRange {
 public:
  ChunkRange(const View& values, bool is_wanted) : values_(values), is_wanted_(is_wanted) {}
  // Known already, from settings or notes that begin with it.
  ChunkRange(const View& values, bool is_wanted, Reader& known) : ChunkRange(values, is_wanted) {
    if (is_wanted && known.remaining() > 0) found_ = ValueRange<T>::read(known);
  }

  // Not inline, because g++ 12 would then warn about values that are never read.
  [[gnu::noinline]] const std::optional<ValueRange<T>>& get() {
    if (is_wanted_ && !found_ && values_.shape.size() > 0) found_ = find();
    return found_;
  }
  // Whether a value may be one of the ends: a few others show that most are not.
  bool may_end_at(T value) const {
    if (!is_wanted_) return false;
    constexpr u64 kFew = 64;
    bool any_below = false, any_above = false;
    const u64 size = values_.shape.size(), step = size / kFew | 1;
    for (u64 i = 0; i < size && !(any_below && any_above); i += step) {
      Index index{};
      u64 rest = i;
      for (size_t axis = values_.shape.rank(); axis-- > 0; rest /= values_.shape[axis])
        index[axis] = rest % values_.shape[axis];
      const T other = value_at(values_.at(index));
      any_below |= other < value;
      any_above |= value < other;
    }
    return !(any_below && any_above);
  }

 private:
  static T value_at(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  // Many values side by side, which compilers turn into vector code.
  ValueRange<T> find() const {
    constexpr size_t kSide = 32;
    std::array<T, kSide> low, high;
    low.fill(value_at(values_.data));
    high = low;
    for_each_row(values_, [&](const std::byte* row, size_t count, std::ptrdiff_t step) {
      size_t i = 0;
      if (step == std::ptrdiff_t(sizeof(T)))
        for (; i + kSide <= count; i += kSide) {
          std::array<T, kSide> some;
          std::memcpy(some.data(), row + i * sizeof(T), sizeof some);
          for (size_t k = 0; k < kSide; ++k) {
            low[k] = some[k] < low[k] ? some[k] : low[k];
            high[k] = high[k] < some[k] ? some[k] : high[k];
          }
        }
      for (; i < count; ++i) {
        const T value = value_at(row + std::ptrdiff_t(i) * step);
        low[0] = value < low[0] ? value : low[0];
        high[0] = high[0] < value ? value : high[0];
      }
    });
    ValueRange<T> range{low[0], high[0]};
    for (size_t k = 1; k < kSide; ++k) {
      range.low = low[k] < range.low ? low[k] : range.low;
      range.high = range.high < high[k] ? high[k] : range.high;
    }
    // NaN is neither: what a preprocessor has made is not kept in any range.
    if constexpr (is_floating<T>)
      if (!(range.low <= range.high))
        range.high = T(std::numeric_limits<float>::infinity()), range.low = T(-float(range.high));
    return range;
  }

  const View& values_;
  bool is_wanted_;
  std::optional<ValueRange<T>> found_;
};

}  // namespace leeway
