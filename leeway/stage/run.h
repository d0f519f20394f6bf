// SPDX-License-Identifier: BSD-3-Clause
// Run: values that do not depend on each other, as a predictor hands them to a coder.
#pragma once

#include "leeway/base/types.h"

namespace leeway {

template <class T>
struct Run {
  T* values;  // encoding: the originals, replaced by the decoded values; decoding: set
  const Predicted<T>* predicted;
  size_t count;  // at most kMostCodes (codes.h)
  // What follows may be null.
  const u8* contexts = nullptr;  // what the predictor knows about each code before it is coded
  const u8* flags = nullptr;     // of these values: the part of coder.flags() that belongs to them
  u8* magnitudes = nullptr;      // set: |code| of each value, but at most 255
};

}  // namespace leeway
