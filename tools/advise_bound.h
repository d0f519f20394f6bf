// SPDX-License-Identifier: BSD-3-Clause
// AdviseBound: which bound suits a field, or each variable of a file.
#pragma once

#include <string>
#include <vector>

#include "tools/cli.h"

namespace leeway::cli {

struct AdviseBound {
  std::string input, output;       // output: a bounds file; empty: a report
  std::vector<std::string> wants;  // what is required: "dssim=0.9995"; empty: suggestions
  std::string recipe;
  bool json = false, force = false;
  ArrayOptions array;
  WorkOptions work;
  void run() const;
};

}  // namespace leeway::cli
