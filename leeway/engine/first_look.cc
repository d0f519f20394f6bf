// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/engine/first_look.h"

#include <algorithm>

#include "leeway/engine/analyze.h"

namespace leeway {

bool can_look_on_the_way(const Job& job) {
  const CompressOptions& options = job.options;
  const auto& limits = job.header.bound.limits();
  const bool is_absolute =
      std::ranges::all_of(limits, [](const Limit& limit) { return limit.kind == BoundKind::abs; });
  return is_absolute && !limits.empty() && options.detect_fills && options.fills.empty() &&
         options.fill_bits.empty() && !(options.rms > 0) && !options.earlier &&
         !options.keeps_all && !options.grows && !job.header.is_growing && !job.part &&
         !options.has_regions();
}

bool FirstLook::finds_special(const View& chunk) {
  Summary summary;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      summary = idle_.back();
      idle_.pop_back();
    }
  }
  summary.any_special = false;
  summary = summarize(chunk, summary);
  const Analysis found = leeway::conclude(summary, dtype_, {}, Detect::customary);
  if (!found.fills.empty()) throw FillsFound();
  const std::lock_guard lock(mutex_);
  any_special_ |= summary.any_special;
  idle_.push_back(summary);
  return summary.any_special;
}

void FirstLook::conclude(Job& job) const {
  Summary all;
  for (const Summary& some : idle_) all = merged(all, some, dtype_);
  const Analysis found = leeway::conclude(all, dtype_, {}, Detect::customary);
  if (!found.fills.empty()) throw FillsFound();
  job.mask.is_needed = any_special_;
  job.range = found.range;
  job.header.min = found.range.min;
  job.header.max = found.range.max;
}

}  // namespace leeway
