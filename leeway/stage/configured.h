// SPDX-License-Identifier: BSD-3-Clause
// Configured: a stage with the parameters that a recipe's text gives it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "leeway/base/error.h"
#include "leeway/stage/params.h"

namespace leeway {

inline std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

template <class S>
S configured(std::string_view params) {
  S stage;
  if (params.empty()) return stage;
  for (const std::string_view assignment : split(params, ',')) {
    const size_t equals = assignment.find('=');
    if (equals == std::string_view::npos)
      fail_argument("stage '" + std::string(S::kName) + "': expected key=value, not '" +
                    std::string(assignment) + "'");
    set_param(stage.params, S::kName, assignment.substr(0, equals), assignment.substr(equals + 1));
  }
  check_params(stage.params, S::kName);
  return stage;
}

}  // namespace leeway
