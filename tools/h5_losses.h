// SPDX-License-Identifier: BSD-3-Clause
// The attributes that state the losses of a variable: read before compression, written after it.
#pragma once

#include <optional>
#include <string>

#include "tools/h5.h"

namespace leeway::cli::h5 {

struct Losses {
  std::string bound;                // "abs=0.01", as the attribute lossy_compression_bound says it
  std::optional<double> max_error;  // in the unit of the values; nothing: it is not known
};

// Nothing if neither an attribute nor the filter of the variable tells of a loss.
std::optional<Losses> earlier_losses(const Variable& variable);

// Both after each other: their errors add up.
Losses joined(const Losses& earlier, const Losses& later);

}  // namespace leeway::cli::h5
