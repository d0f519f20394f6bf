// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/fabric/outside.h"

#include <algorithm>
#include <numeric>

namespace leeway::fabric {
namespace {

// Cycles until the busiest channel has carried the words of its rows.
u64 busiest_channel(const Job& job, std::span<const Chain> chains, std::span<const u64> words) {
  const u32 edges = job.feeds_both_edges() ? 2 : 1;
  const u32 channels = std::max(1u, job.machine.channels / edges);  // of an edge
  std::vector<u64> sums(size_t(channels) * 2, 0);
  for (size_t c = 0; c < chains.size(); ++c) {
    const u64 channel = u64(chains[c].row) * channels / job.machine.rows;
    sums[2 * channel + (chains[c].goes_west ? 1 : 0)] += words[c];
  }
  return *std::ranges::max_element(sums);
}

u64 sum(std::span<const u64> words) { return std::accumulate(words.begin(), words.end(), u64(0)); }

}  // namespace

std::vector<Ceiling> ceilings_of(const Job& job, std::span<const Chain> chains,
                                 const Traffic& traffic, Origin origin) {
  std::vector<Ceiling> ceilings;
  const auto add = [&](const char* name, double seconds) {
    ceilings.push_back({name, seconds, seconds > 0 ? double(traffic.field_bytes) / seconds : 0});
  };
  const auto over_channels = [&](std::span<const u64> words) {
    return job.machine.seconds(busiest_channel(job, chains, words));
  };
  const auto over_line = [&](std::span<const u64> words) {
    return double(sum(words)) * 4 / job.machine.host;
  };
  add("mesh", job.machine.seconds(traffic.cycles));
  add("collection", over_channels(traffic.words_out));
  add("host", over_line(traffic.words_out));
  if (origin == Origin::host) {
    add("channels, in", over_channels(traffic.words_in));
    add("host, in", over_line(traffic.words_in));
  }
  return ceilings;
}

const Ceiling& lowest(std::span<const Ceiling> ceilings) {
  return *std::ranges::max_element(ceilings, {}, &Ceiling::seconds);
}

}  // namespace leeway::fabric
