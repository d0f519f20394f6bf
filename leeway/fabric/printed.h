// SPDX-License-Identifier: BSD-3-Clause
// Printed: the numbers of the CereSZ paper [Song et al., HPDC 2024] and what the model says of
// each.
#pragma once

#include <optional>
#include <string>

#include "leeway/fabric/closed_form.h"

namespace leeway::fabric {

struct PrintedNumber {
  std::string table;  // "Table 1"
  std::string what;
  std::optional<double> printed;  // nothing: a picture without numbers in the text
  double modelled = 0;
  std::string unit;
};

// Tables 1 to 3 and 5, Figures 7 and 10 to 14, on the machine of the paper.
std::vector<PrintedNumber> printed_numbers();

// What in the paper contradicts itself, a sentence or two each.
std::vector<std::string> contradictions();

}  // namespace leeway::fabric
