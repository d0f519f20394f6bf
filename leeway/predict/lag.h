// SPDX-License-Identifier: BSD-3-Clause
// Lag: from the same place in earlier frames, for trajectories and other series in time (lag.md).
//
// The slowest axis is time. A value is predicted by the last frame, by the line through the last
// two, or by the parabola through the last three; values of the first frame by the one before them.
#pragma once

#include <algorithm>
#include <array>

#include "leeway/stage/stage.h"

namespace leeway {

struct Lag {
  static constexpr std::string_view kName = "lag";
  static constexpr std::string_view kAbout = "from the same place in earlier frames";
  static constexpr Kind kKind = Kind::predictor;
  static constexpr Traits kTraits{.chunk_values = u64(1) << 20};
  struct Params {
    i32 frames = 1;
    void fields(auto&& field) {
      field("frames", frames, 1, 3, "1: the last frame, 2: the line through two, 3: a parabola");
    }
  } params;

  template <class T>
  void walk(Field<T> field, Coder<T>& coder) const {
    using P = Predicted<T>;
    const Table table(field.shape);
    const auto length = size_t(table.length);
    if (length == 0) return;
    P last{};
    for (size_t i = 0; i < length; ++i) {
      coder.point(field.data[i], last);
      last = P(field.data[i]);
    }
    std::array<P, kMostCodes> predicted;
    const u8* const flags = coder.flags();
    for (size_t t = 1; t < size_t(table.rows); ++t) {
      T* const frame = field.data + t * length;
      const auto frames = std::min(size_t(params.frames), t);
      for (size_t first = 0; first < length; first += kMostCodes) {
        const size_t count = std::min(kMostCodes, length - first);
        T* const x = frame + first;
        const T *a = x - length, *b = frames > 1 ? a - length : a, *c = frames > 2 ? b - length : b;
        for (size_t i = 0; i < count; ++i)
          predicted[i] = frames == 1   ? P(a[i])
                         : frames == 2 ? P(2) * P(a[i]) - P(b[i])
                                       : P(3) * (P(a[i]) - P(b[i])) + P(c[i]);
        coder.run({.values = x,
                   .predicted = predicted.data(),
                   .count = count,
                   .flags = flags ? flags + (x - field.data) : nullptr});
      }
    }
  }
};

}  // namespace leeway
