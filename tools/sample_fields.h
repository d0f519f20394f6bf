// SPDX-License-Identifier: BSD-3-Clause
// Sample fields: made-up data with the traits of real simulations and instruments.
#pragma once

#include <span>
#include <string>

#include "leeway/leeway.hpp"

namespace leeway::cli {

struct SampleKind {
  const char *name, *about, *default_shape;
  DType dtype;
  // Fills values (double; converted to the dtype afterwards) in row-major order.
  void (*make)(const Shape& shape, u64 seed, std::span<double> values);
};

std::span<const SampleKind> sample_kinds();

}  // namespace leeway::cli
