// SPDX-License-Identifier: BSD-3-Clause
// Panels: the parts of a section that are drawn or tabulated from an assessment.
#pragma once

#include <string>

#include "leeway/report/page.h"

namespace leeway::report {

// `id`: unique on the page.
std::string pictures(const Section& section, const std::string& id);
std::string error_plots(const Section& section);
std::string structure_plots(const Section& section);
std::string spectrum_plots(const Section& section);
std::string statistics_table(const Section& section);
std::string slice_plots(const Section& section);
std::string feature_table(const Section& section);
std::string rate_plots(const Section& section);
std::string rate_table(const Section& section);

}  // namespace leeway::report
