// SPDX-License-Identifier: BSD-3-Clause
// Wavefront: a table predicted in waves, as waveSZ has it [Tian et al., PPoPP 2020]. stage/wave.h
// explains what a wave is. Codes are those of the loop value by value, in the order of rows;
// `lorenzo` uses waves, too.
#pragma once

#include <array>

#include "leeway/predict/lorenzo.h"
#include "leeway/stage/stage.h"
#include "leeway/stage/wave.h"

namespace leeway {

enum class Border : u8 { exact, predicted };
constexpr std::array<std::string_view, 2> param_words(Border) { return {"exact", "predicted"}; }

struct Wavefront {
  static constexpr std::string_view kName = "wavefront";
  static constexpr std::string_view kAbout =
      "Lorenzo's rule on a table, the first axis by all others, in the order of waveSZ";
  static constexpr Kind kKind = Kind::predictor;
  static constexpr Traits kTraits{
      .chunk_values = u64(1) << 20, .floating_only = true, .needs_step = true};
  struct Params {
    Border border = Border::exact;
    void fields(auto&& field) {
      field("border", border, Border::exact, Border::predicted,
            "first row and column: kept exactly, as in the paper, or predicted");
    }
  } params;

  template <class T>
  void walk(Field<T> field, auto& coder) const {
    using P = Predicted<T>;
    const Table table(field.shape);
    const size_t rows = size_t(table.rows), length = size_t(table.length);
    if (params.border == Border::predicted || field.shape.rank() < 2)
      return Lorenzo().walk(Field<T>{field.data, {table.rows, table.length}}, coder);
    if (field.size() == 0) return;
    const auto at = [&](size_t i, size_t j) -> T& { return field.data[i * length + j]; };
    for (size_t j = 0; j < length; ++j) coder.exact(at(0, j), j > 0 ? P(at(0, j - 1)) : P(0));
    WaveMaker<T> waves(length - 1);
    for (size_t i = 1; i < rows;) {
      const size_t n = waves.rows(rows - i);
      if constexpr (WaveMaker<T>::kPossible)
        if (n > 0 && coder.wave(waves.make(&at(i, 1), n, std::ptrdiff_t(length), true, true))) {
          i += n;
          continue;
        }
      for (const size_t stop = i + std::max<size_t>(n, 1); i < stop; ++i) {
        coder.exact(at(i, 0), P(at(i - 1, 0)));
        P left = P(at(i, 0)), above_left = P(0) + P(at(i - 1, 0));
        for (size_t j = 1; j < length; ++j) {
          const P above = P(0) + P(at(i - 1, j));
          coder.point(at(i, j), left + (above - above_left));
          left = P(at(i, j));
          above_left = above;
        }
      }
    }
  }
};

}  // namespace leeway
