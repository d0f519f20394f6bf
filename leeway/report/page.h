// SPDX-License-Identifier: BSD-3-Clause
// Page: a report as one HTML file that needs nothing else: no network, no script.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "leeway/report/rate_distortion.h"
#include "leeway/report/scores.h"

namespace leeway::report {

// One variable.
struct Section {
  Facts facts;
  Assessment assessment;
  std::vector<Score> scores;
  std::vector<RatePoint> rates;
  std::vector<std::string> failed;  // requirements that are not met
};

std::string html_page(const std::string& title, std::span<const Section> sections);

}  // namespace leeway::report
