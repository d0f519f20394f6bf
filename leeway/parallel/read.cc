// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/parallel/read.h"

#include "leeway/engine/with_codec.h"
#include "leeway/library_codec.h"
#include "leeway/parallel/agreement.h"
#include "leeway/parallel/file.h"

namespace leeway::parallel {

DecompressReport read(const Team& team, const std::string& path, std::span<const Wish> wishes,
                      const DecompressOptions& options) {
  Agreement agreement;
  agreement.add("file", ByteView(reinterpret_cast<const u8*>(path.data()), path.size()));
  agreement.reach(team);
  const TeamSource source(team, path);
  const StreamReader stream(
      source, options.salvage ? StreamReader::OnDamage::salvage : StreamReader::OnDamage::refuse);
  DecompressReport all;
  for (const Wish& wish : wishes) {
    const DecompressReport one =
        decompress_with(library_codecs(), stream, wish.first, wish.view, options);
    all.damaged_chunks += one.damaged_chunks;
    all.damaged_values += one.damaged_values;
  }
  team.agree();
  return all;
}

}  // namespace leeway::parallel
