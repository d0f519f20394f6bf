// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as a stream for the single-header decoder, which passes over checksums here.
#include <vector>

#define LEEWAY_DECODE_IMPLEMENTATION
#include "decoder/leeway_decode.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  lwy_stream stream;
  if (lwy_open(&stream, data, size, nullptr) == LWY_OK && stream.info.bytes <= 1 << 20) {
    std::vector<uint64_t> values(size_t(stream.info.bytes) / 8 + 1);
    const size_t bytes = 8 * values.size();
    uint64_t first[LWY_MAX_RANK] = {}, extents[LWY_MAX_RANK] = {};
    for (int k = 0; k < stream.info.rank; ++k) {
      first[k] = stream.info.shape[k] / 3;
      extents[k] = (stream.info.shape[k] + 2) / 3;
    }
    lwy_decode(&stream, values.data(), bytes);
    lwy_decode_box(&stream, first, extents, values.data(), bytes);
    for (unsigned level = 1; level < 4; ++level)
      lwy_decode_level(&stream, level, values.data(), bytes);
  }
  lwy_close(&stream);
  return 0;
}
