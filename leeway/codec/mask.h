// SPDX-License-Identifier: BSD-3-Clause
// Mask: takes special values out of the way of prediction and puts them back bit for bit.
//
// Special are NaN, the infinities and the fill values of the array. Each is replaced by the value
// before it in row-major order, so that prediction does not see a step. Part of every recipe. A
// predictor that comes before the quantizer does better: it is told which values are special, and
// each becomes whatever is predicted for it (join/predict_first.h).
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "leeway/base/buffer.h"
#include "leeway/stage/fills.h"
#include "leeway/stage/patches.h"

namespace leeway {

// Whether the value is NaN or infinite: all bits of the exponent set.
template <class T>
constexpr bool is_nonfinite(T value) {
  if constexpr (is_floating<T>) {
    constexpr int width = 8 * sizeof(T), low = mantissa_bits<T>;
    constexpr auto exponent = Bits<T>((u64(1) << (width - 1)) - (u64(1) << low));
    return (std::bit_cast<Bits<T>>(value) & exponent) == exponent;
  } else {
    return false;
  }
}

// The values of a chunk without the special ones, and which these are, one byte a value; nothing if
// none is.
struct TakenOut {
  Buffer<u64> values;
  std::vector<u8> special;
};

struct Mask {
  std::vector<u64> fills = {};      // bit patterns, zero-extended
  bool is_needed = true;            // false: the array is known to have no special values
  const TakenOut* taken = nullptr;  // of the chunk, if it is known already

  template <class T>
  bool is_special(T value) const {
    return is_nonfinite(value) || Fills<T>(fills).has(value);
  }

  // Takes special values out; `patches` will put them back. Returns which they are, one byte a
  // value; nothing if none is special.
  template <class T>
  std::vector<u8> take_out(Field<T> field, Patches<T>& patches) const {
    std::vector<u8> special;
    if (is_needed && any_special(std::span<const T>(field.values()))) {
      special.resize(field.size());
      size_t position = 0;
      T before{};
      bool known = false;
      for (T& value : field.values()) {
        if (is_special(value)) {
          patches.add(position, value);
          special[position] = 1;
          value = before;
        } else {
          before = value;
          // The special values before the first other one.
          if (!known) std::fill_n(field.data, position, before);
          known = true;
        }
        ++position;
      }
    }
    return special;
  }

  // Whether a value of the chunk is special.
  template <class T>
  bool any_special(const View& chunk) const {
    bool any = false;
    if (!is_floating<T> && fills.empty()) return any;
    std::array<T, 512> piece;
    for_each_row(chunk, [&](const std::byte* row, size_t count, std::ptrdiff_t stride) {
      for (size_t first = 0; first < count && !any; first += piece.size()) {
        const size_t n = std::min(piece.size(), count - first);
        copy_row(row + std::ptrdiff_t(first) * stride, stride,
                 reinterpret_cast<std::byte*>(piece.data()), sizeof(T), n, sizeof(T));
        any = any_special(std::span<const T>(piece).first(n));
      }
    });
    return any;
  }

 private:
  // Branch-free, so that the common case, nothing special, runs at memory speed.
  template <class T>
  bool any_special(std::span<const T> values) const {
    bool any = false;
    if constexpr (is_floating<T>)
      for (const T& value : values) any |= is_nonfinite(value);
    return any || Fills<T>(fills).any_in(values);
  }
};

}  // namespace leeway
