// SPDX-License-Identifier: BSD-3-Clause
// Stage call: from a stage's name and parameters in a recipe to the stage itself.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "leeway/recipe/all_stages.h"
#include "leeway/recipe/recipe.h"

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
      fail_argument("stage '" + std::string(S::kName) + "': expected key=number, not '" +
                    std::string(assignment) + "'");
    set_param(stage.params, S::kName, assignment.substr(0, equals), assignment.substr(equals + 1));
  }
  if constexpr (requires { stage.params.check(); }) stage.params.check();
  return stage;
}

// Calls f(stage) with the configured stage of that name, if the list has one.
template <class... S, class F>
bool with_stage(List<S...>, const StageCall& call, F&& f) {
  return ((S::kName == call.name ? (f(configured<S>(call.params)), true) : false) || ...);
}

inline const StageCall* find_stage(const Recipe& recipe, Kind kind) {
  const auto found = std::ranges::find(recipe.stages, kind, &StageCall::kind);
  return found == recipe.stages.end() ? nullptr : &*found;
}

// Defined in make_codec.h, compiled in codec_*.cc.
template <class T>
std::shared_ptr<const ChunkCodec> make_typed_codec(const Recipe& recipe);

}  // namespace leeway
