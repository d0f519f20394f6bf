// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as a stream: only leeway::Error may come out.
#include "leeway/leeway.hpp"

extern "C" int LLVMFuzzerTestOneInput(const leeway::u8* data, size_t size) {
  for (const bool salvage : {false, true}) {
    try {
      const leeway::MemorySource source({data, size});
      const leeway::StreamReader reader(source, salvage ? leeway::StreamReader::OnDamage::salvage
                                                        : leeway::StreamReader::OnDamage::refuse);
      if (reader.header().shape.size() > 1 << 20) continue;  // large is no crime
      leeway::DecompressOptions options;
      options.salvage = salvage;
      leeway::decompress({data, size}, options);
    } catch (const leeway::Error&) {
    }
  }
  return 0;
}
