// SPDX-License-Identifier: BSD-3-Clause
// Report: what writing together took, as all ranks learn it.
#pragma once

#include <chrono>

#include "leeway/parallel/plan.h"
#include "leeway/parallel/team.h"

namespace leeway::parallel {

// The seconds of each step.
class Clock {
 public:
  void lap(double& seconds) {
    const auto now = std::chrono::steady_clock::now();
    seconds = std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// Adds the chunks of a plan, of all ranks together and of those with fewest and most.
void count_chunks(const Team& team, const Plan& plan, leeway_write_report& report);

// Collective: what only one rank knows, or each has a part of, all know.
void complete(const Team& team, leeway_write_report& report);

}  // namespace leeway::parallel
