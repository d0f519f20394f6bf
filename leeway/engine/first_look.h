// SPDX-License-Identifier: BSD-3-Clause
// FirstLook: looks for fill values while chunks are made, so that the array is read only once.
//
// With an absolute bound nothing else has to be known beforehand. As soon as something looks like a
// fill value, the work is broken off and begins again with a pass of its own: few arrays have some.
#pragma once

#include <mutex>
#include <vector>

#include "leeway/engine/job.h"
#include "leeway/engine/summary.h"

namespace leeway {

// Whether the chunks of a job may be made before all values have been looked at.
bool can_look_on_the_way(const Job& job);

class FirstLook {
 public:
  struct FillsFound {};  // thrown

  explicit FirstLook(DType dtype) : dtype_(dtype) {}

  // Looks at a chunk; says whether it has special values. Any thread may call it.
  bool finds_special(const View& chunk);
  // States the range of all chunks; there are no fill values.
  void conclude(Job& job) const;

 private:
  DType dtype_;
  std::mutex mutex_;
  std::vector<Summary> idle_;  // each of some chunks, for the next thread to go on with
  bool any_special_ = false;
};

}  // namespace leeway
