// SPDX-License-Identifier: BSD-3-Clause
// Walk: the steps of a pyramid, predicted band by band. What depends on the element type is behind
// PyramidRows (storage.h), so that the walk is compiled twice only, for float and double.
#pragma once

#include <memory>

#include "leeway/predict/pyramid/tiles.h"

namespace leeway {

// Rows of a storage: the first value, the distance from row to row, the number of rows, and values
// in each; at most kMostCodes in all.
struct Band {
  size_t first, pitch, lines, count;
};

template <class C>
class PyramidRows {
 public:
  virtual ~PyramidRows() = default;
  // Codes the values of a band, which do not depend on each other; leaves the decoded ones in the
  // storage, and the magnitudes of their codes in `magnitudes`, rows as far apart as the values'.
  virtual void code(const Band& band, const C* predicted, const u8* contexts, u8* magnitudes) = 0;
};

template <class C>
class PyramidWalk {
 public:
  virtual ~PyramidWalk() = default;
  // Visits a step. `numbers` and `magnitudes` are in the order of the layout, with kRowRoom more
  // after the last; those of values that are not visited are known already.
  virtual void walk(const TileStep& step, const Polyphase& layout, C* numbers, u8* magnitudes,
                    PyramidRows<C>& rows) = 0;
  // Another walk with the same memory, for another thread. The two must not visit steps that need
  // each other.
  virtual std::unique_ptr<PyramidWalk> another() const = 0;
};

}  // namespace leeway
