// SPDX-License-Identifier: BSD-3-Clause
// What `leeway model wafer` says of a simulation, as text and as JSON.
#pragma once

#include "leeway/fabric/simulate.h"
#include "tools/cli.h"

namespace leeway::cli {

struct WaferReport {
  const fabric::Simulation& done;
  const fabric::Host& host;
  bool is_estimate;  // of the cycles of vector operations

  Json json() const;
  void print() const;
};

// The program of all PEs of a row, and the same as a table.
Json wafer_program(fabric::Job job);
void print_program(const Json& program);

}  // namespace leeway::cli
