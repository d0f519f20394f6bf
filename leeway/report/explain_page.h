// SPDX-License-Identifier: BSD-3-Clause
// Explain page: what the stages of a recipe have made of an array, as one HTML file.
#pragma once

#include <string>

#include "leeway/base/export.h"
#include "leeway/choose/explain.h"

namespace leeway::report {

LEEWAY_EXPORT std::string explain_page(const std::string& title, const Explanation& found);

}  // namespace leeway::report
