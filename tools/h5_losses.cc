// SPDX-License-Identifier: BSD-3-Clause
#include "tools/h5_losses.h"

#include "tools/cli.h"

namespace leeway::cli::h5 {

std::optional<Losses> earlier_losses(const Variable& variable) {
  Losses said{text_of(variable.id(), "lossy_compression_bound"),
              number_of(variable.id(), "lossy_compression_maximum_error")};
  const bool is_said = !said.bound.empty() && said.bound != "lossless";
  const Stored stored = variable.filter() ? inspect_stored(variable) : Stored();
  const double unit = variable.unit();
  if (!is_said && stored.abs_bound == 0) return std::nullopt;
  const Losses filtered{"abs=" + number(stored.abs_bound * unit), stored.max_error * unit};
  if (!is_said) return filtered;
  if (!variable.filter()) return said;
  if (!said.max_error) return Losses{said.bound, filtered.max_error};
  // Attributes that tell of less than the filter come from before it was applied.
  return *said.max_error < *filtered.max_error ? joined(said, filtered) : said;
}

Losses joined(const Losses& earlier, const Losses& later) {
  Losses both = earlier;
  if (later.bound != "lossless") both.bound += "; then " + later.bound;
  if (both.max_error && later.max_error)
    *both.max_error += *later.max_error;
  else
    both.max_error.reset();
  return both;
}

}  // namespace leeway::cli::h5
