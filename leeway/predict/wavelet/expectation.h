// SPDX-License-Identifier: BSD-3-Clause
// Expectation: what size a coefficient is expected to have, from the sizes of those known before
// its row (wavelet.md, "Contexts"). All in integers.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "leeway/base/buffer.h"
#include "leeway/predict/wavelet/bands.h"
#include "leeway/stage/codes.h"

namespace leeway::wavelet {

// Of each coefficient its size |q|, but at most 255, in bands: rows along the last axis, each with
// its ends repeated beyond them.
class Sizes {
 public:
  // The rows of a band.
  struct Table {
    u8* first;
    Extents extents, stride;  // strides of rows; that of the last axis is not used
  };

  Sizes(const Bands& bands, size_t rank);
  const Table& table(size_t band) const { return tables_[band]; }
  // The row of a band at these coordinates, which are moved into the band.
  u8* row(size_t band, const Index& index) const {
    const Table& table = tables_[band];
    u64 place = 0;
    for (size_t axis = 0; axis + 1 < rank_; ++axis)
      place += std::min(index[axis], table.extents[axis] - 1) * table.stride[axis];
    return table.first + place;
  }
  // Repeats the ends of a row.
  static void close(u8* row, size_t count) {
    row[-1] = row[0];
    row[count] = row[count - 1];
  }

 private:
  size_t rank_;
  std::vector<Table> tables_;
  Buffer<u8> memory_;
};

// What is known about the sizes in a row, eight times as large: the row before, that two before,
// the planes before along the third and the fourth last axis, the first and the second parent, the
// siblings; and the last one, which is always kConstant.
inline constexpr size_t kKnown = 8, kRows = 7;
inline constexpr i32 kConstant = 64;
using Weights = std::array<i8, kKnown>;  // in parts of 64
inline constexpr Weights kUsualWeights = {19, 0, 19, 12, 8, 8, 19, 1};

// The features of a run in a row; those that are not there are 0.
struct Features {
  std::array<std::array<u16, kMostCodes>, kRows> rows;
  u32 present = 0;  // bit k: rows[k]
};

inline constexpr u8 kContextsOfLevel = 64, kContextOfMeans = 192;
// The first of the 32 contexts of a band.
inline u8 first_context(const Band& band) {
  return u8(kContextsOfLevel * band.level + (band.high_axes() > 1 ? 32 : 0));
}

// Of the `count` coefficients from `x` on in a row of the band.
void find_features(const Bands& bands, const Sizes& sizes, size_t rank, size_t band,
                   const Index& index, size_t x, size_t count, Features& out);
// Writes contexts.
void find_contexts(const Features& features, const Weights& weights, size_t count, u8 first,
                   u8* contexts);

}  // namespace leeway::wavelet
