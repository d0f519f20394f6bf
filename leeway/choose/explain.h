// SPDX-License-Identifier: BSD-3-Clause
// Explain: what the stages of a recipe have made of an array, read from its stream: what it
// consists of, which settings were found, how codes are distributed; and how long stages take.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "leeway/base/export.h"
#include "leeway/codec/anatomy.h"
#include "leeway/engine/engine.h"
#include "leeway/stream/stream_reader.h"

namespace leeway {

struct Explanation {
  Header header;
  u64 stream_bytes = 0, chunks = 0;
  std::vector<std::string> recipes;       // the alternatives
  std::vector<u64> chunks_by_recipe;      // of those coded by one of them
  std::map<std::string, u64> chunks_by_kind;
  u64 payload_bytes = 0;                  // without heads, header and index
  std::vector<Anatomy::Part> parts;       // of all bodies
  u64 body_bytes = 0, packed_bytes = 0;   // before and after the lossless stages
  std::vector<u64> level_bytes;           // of the levels, the finest first; the last is the rest
  std::map<std::string, u64> settings;    // chunks that each was found for
  CodeCounts codes;
  u64 special = 0, exact = 0;             // values

  double bits_a_value(u64 bytes) const {
    return 8 * double(bytes) / double(std::max<u64>(header.shape.size(), 1));
  }
};
LEEWAY_EXPORT Explanation explain(const StreamReader& stream, const Execution& execution = {});

// What the codes would cost if another predictor stood in a recipe, or none, or on the other side
// of the quantizer: tried on the middle of an array, with the encoder and what follows it as they
// are.
struct PredictorCost {
  std::string recipe;
  double bits = 0;     // a value, of the stream
  double entropy = 0;  // of a code, in its contexts
};
// The cheapest first. Of several alternatives, the first counts.
std::vector<PredictorCost> predictor_costs(const View& array,
                                                         const CompressOptions& options);

// Seconds that compressing takes with one thread: to predict and quantize, and in all.
struct StageTimes {
  double predict = 0, all = 0;
};
StageTimes time_stages(const View& array, const Header& header);

}  // namespace leeway
