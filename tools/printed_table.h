// SPDX-License-Identifier: BSD-3-Clause
// Numbers of a paper, printed beside what a model says of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/cli.h"

namespace leeway::cli {

struct Printed {
  std::string what;
  std::optional<double> printed;  // nothing: a picture without numbers in the text
  double modelled = 0;
  std::string unit;
  std::string table = {};  // that it stands in, if there are many
};

void print_text(const std::vector<Printed>& all);
Json json_of(const std::vector<Printed>& all);

}  // namespace leeway::cli
