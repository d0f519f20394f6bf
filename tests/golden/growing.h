// SPDX-License-Identifier: BSD-3-Clause
// Streams that grew: their tails, frames under the room of others, chunks that were completed. Kept
// by name (make_golden.cc).
#pragma once

#include "tests/golden/cases.h"

namespace leeway::test {

inline void append_rows(Bytes& stream, const std::vector<float>& values, u64 first, u64 count) {
  const Shape shape{count, 7, 9};
  MemoryStore store(stream);
  append(store, view_of(values.data() + first * 63, shape));
}

// Rows of 7x9 values in chunks of 3x4x9: whole chunks, chunks that are begun and completed later,
// and an update of a part in between.
inline Bytes make_growing(const std::string& recipe, const Bound& bound) {
  const auto values = make_values<float>({20, 7, 9}, true);
  CompressOptions options;
  options.recipe = recipe;
  options.bound = bound;
  options.chunk = {3, 4, 9};
  options.growing = true;
  Bytes stream = compress(values.data(), {3, 7, 9}, options);
  append_rows(stream, values, 3, 3);
  append_rows(stream, values, 6, 1);
  append_rows(stream, values, 7, 4);
  const std::vector<float> smooth(40, 2.5f);
  MemoryStore store(stream);
  update(store, {5, 1, 2}, view_of(smooth.data(), {4, 5, 2}));
  append_rows(stream, values, 11, 9);
  return stream;
}

// The same while rows are being appended: the frames of the last append are there, its tail is not.
inline Bytes make_unfinished() {
  const auto values = make_values<float>({20, 7, 9}, true);
  Bytes stream = make_growing("fast", Bound::abs(0.4));
  append_rows(stream, values, 0, 6);
  stream.resize(stream.size() - 40);
  return stream;
}

template <class Take>
void for_each_growing(const Take& take) {
  take("growing_f32", make_growing("balanced", Bound::abs(0.4)));
  take("growing_f32_small", make_growing("small", Bound::rel(1e-3)));
  take("growing_f32_pointwise", make_growing("balanced", Bound::pointwise(0.01)));
  take("growing_f32_unfinished", make_unfinished());
}

}  // namespace leeway::test
