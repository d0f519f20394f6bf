// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/fabric/machine.h"

#include <string>

#include "leeway/base/error.h"

namespace leeway::fabric {

void Machine::check() const {
  constexpr double kLeast = 1, kMost = 1e15;  // cycles or bytes a second
  if (columns == 0 || rows == 0) fail_argument("a mesh has at least one PE");
  if (!(clock >= kLeast && clock <= kMost))
    fail_argument("the clock must be between 1 Hz and 10^15 Hz");
  if (!(host >= kLeast && host <= kMost))
    fail_argument("the line to the host must have a speed between 1 and 10^15 bytes a second");
  if (queue == 0 || queue > kMostQueue)
    fail_argument("a queue has room for at least one word, and for " + std::to_string(kMostQueue) +
                  " at most");
  if (ramp > kMostRamp)
    fail_argument("between core and router are " + std::to_string(kMostRamp) +
                  " cycles at most");
  if (start > kMostStart)
    fail_argument("a move starts within " + std::to_string(kMostStart) + " cycles");
  if (channels == 0 || channels > kMostChannels)
    fail_argument("a wafer has at least one channel, and " + std::to_string(kMostChannels) +
                  " at most");
}

}  // namespace leeway::fabric
