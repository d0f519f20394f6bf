// SPDX-License-Identifier: BSD-3-Clause
// Restate: a stream that was made of targets (aim.h) tells what is true of the original.
#pragma once

#include <string>
#include <vector>

#include "leeway/base/field.h"
#include "leeway/stream/format.h"

namespace leeway::derived {

// The largest error of each chunk. `is_within`: whether each is within the bound of its frame, as
// it must be to be stated.
struct ChunkErrors {
  std::vector<double> largest;
  std::vector<u64> beyond;  // chunks with larger errors than their frames can state
};
ChunkErrors errors_of(ByteView stream, const std::vector<double>& original,
                      const std::vector<double>& decoded);

// The stream with these errors in its frames and its statement, and promises in its header. It was
// just written, in the standard form.
std::vector<u8> restated(ByteView stream, const std::vector<double>& errors,
                         const std::string& variable, const std::vector<StatedPromise>& promises);

}  // namespace leeway::derived
