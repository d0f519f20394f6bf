// SPDX-License-Identifier: BSD-3-Clause
// Constant chunks: the same value everywhere.
#pragma once

#include <algorithm>
#include <cstring>

#include "leeway/stage/values.h"

namespace leeway {

// Whether all values are the same, bit for bit.
template <class T>
bool is_constant(const View& chunk) {
  bool constant = true;
  for_each_row(chunk, [&](const std::byte* row, size_t count, std::ptrdiff_t stride) {
    for (size_t i = 0; i < count && constant; ++i, row += stride)
      constant = std::memcmp(row, chunk.data, sizeof(T)) == 0;
  });
  return constant;
}

template <class T>
void put_repeated(T value, size_t count, ValueSink& values) {
  constexpr size_t kPiece = ValueSink::kMost / sizeof(T);
  for (; count > 0; count -= std::min(count, kPiece)) {
    const size_t n = std::min(count, kPiece);
    std::fill_n(static_cast<T*>(values.room(n * sizeof(T))), n, value);
    values.put(n * sizeof(T));
  }
}

}  // namespace leeway
