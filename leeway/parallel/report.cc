// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/parallel/report.h"

#include <algorithm>
#include <bit>

namespace leeway::parallel {

void count_chunks(const Team& team, const Plan& plan, leeway_write_report& report) {
  std::vector<u64> counts(static_cast<size_t>(team.size()));
  for (const int owner : plan.owner) ++counts[size_t(owner)];
  report.chunks += plan.owner.size();
  const auto [least, most] = std::ranges::minmax(counts);
  report.least_chunks += least;
  report.most_chunks += most;
}

void complete(const Team& team, leeway_write_report& report) {
  u64 sums[] = {report.sent_raw, report.sent_compressed, report.special,
                std::bit_cast<u64>(report.max_error), report.output_bytes};
  team.sum(sums);
  report.sent_raw = sums[0];
  report.sent_compressed = sums[1];
  report.special = sums[2];
  report.max_error = std::bit_cast<double>(sums[3]);
  report.output_bytes = sums[4];
  u64 times[4];
  for (size_t i = 0; i < 4; ++i) times[i] = u64(report.seconds[i] * 1e9);
  team.max(times);
  for (size_t i = 0; i < 4; ++i) report.seconds[i] = double(times[i]) * 1e-9;
}

}  // namespace leeway::parallel
