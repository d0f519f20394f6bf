// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/choose/tune.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "leeway/base/environment.h"
#include "leeway/choose/advise.h"
#include "leeway/engine/execution.h"
#include "leeway/leeway.hpp"
#include "leeway/recipe/recipe.h"

namespace leeway {
namespace {

// A stage with the values of all of its parameters, and those that they have if nothing is said.
struct StageText {
  std::string name;
  std::vector<ParamInfo> params, usual;
};

using Stages = std::vector<StageText>;

std::string text_of(const std::vector<Stages>& alternatives) {
  std::string text;
  for (const Stages& stages : alternatives) {
    text += text.empty() ? "" : "|";
    for (const StageText& stage : stages) {
      text += (&stage == &stages.front() ? "" : "+") + stage.name;
      char before = ':';
      for (size_t i = 0; i < stage.params.size(); ++i) {
        const ParamInfo& param = stage.params[i];
        if (param.value == stage.usual[i].value) continue;
        text += before + std::string(param.name) + "=" + param.value;
        before = ',';
      }
    }
  }
  return text;
}

Stages taken_apart(const Recipe& recipe) {
  const std::vector<StageInfo> known = all_stages();
  Stages stages;
  for (const StageCall& call : recipe.stages) {
    const auto& usual = std::ranges::find(known, call.name, &StageInfo::name)->params;
    StageText stage{call.name, usual, usual};
    std::string_view rest = call.params;
    while (!rest.empty()) {
      const std::string_view given = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(rest.size(), given.size() + 1));
      const size_t equals = given.find('=');
      std::ranges::find(stage.params, given.substr(0, equals), &ParamInfo::name)->value =
          given.substr(equals + 1);
    }
    stages.push_back(std::move(stage));
  }
  return stages;
}

// Other values to try for a parameter: all words; all numbers of a short range; else near ones,
// half, and double.
std::vector<std::string> others(const ParamInfo& param) {
  std::vector<std::string> values;
  const auto add = [&](const std::string& value) {
    if (value != param.value && std::ranges::find(values, value) == values.end())
      values.push_back(value);
  };
  const auto number = [](std::string_view text, i64& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
  };
  const size_t to = param.range.find(" to ");
  i64 value = 0, lowest = 0, highest = 0;
  if (to == std::string::npos) {
    for (size_t first = 0; first != std::string::npos;) {
      const size_t end = param.range.find(" or ", first);
      add(param.range.substr(first, end == std::string::npos ? end : end - first));
      first = end == std::string::npos ? end : end + 4;
    }
  } else if (number(param.value, value) && number(param.range.substr(0, to), lowest) &&
             number(param.range.substr(to + 4), highest)) {
    constexpr i64 kShort = 9;
    if (highest - lowest <= kShort)
      for (i64 k = lowest; k <= highest; ++k) add(std::to_string(k));
    else
      for (const i64 k : {value - 1, value + 1, value / 2, value * 2})
        if (k >= lowest && k <= highest) add(std::to_string(k));
  }
  return values;
}

class Search {
 public:
  Search(const View& array, const CompressOptions& options, const TuneOptions& how)
      : options_(options),
        how_(how),
        part_(middle_part(array, how.most_values)),
        progress_(options.execution.progress),
        meter_(progress_, double(how.most_trials)) {
    for (const Recipe& each : alternatives_of(parse_recipe(options.recipe)))
      alternatives_.push_back(taken_apart(each));
    options_.bound = absolute_limits(array, options);
    options_.execution.progress = {};
    found_.values = part_.shape.size();
  }

  Tuned run() {
    size_t bytes = 0;
    if (!is_smaller(text_of(alternatives_), bytes))
      fail_argument("the recipe does not fit this array");
    for (bool gains = true; gains && found_.trials < how_.most_trials;) {
      gains = false;
      for (Stages& stages : alternatives_)
        for (StageText& stage : stages)
          for (ParamInfo& param : stage.params) gains |= improve(param, bytes);
    }
    return std::move(found_);
  }

 private:
  // The best value of one parameter, the others as they are.
  bool improve(ParamInfo& param, size_t& bytes) {
    const std::string before = param.value;
    std::string best = before;
    for (const std::string& value : others(param)) {
      if (found_.trials >= how_.most_trials) break;
      param.value = value;
      if (is_smaller(text_of(alternatives_), bytes)) best = value;
    }
    param.value = best;
    return best != before;
  }

  // Whether a recipe makes a smaller stream than `bytes` (0: whether it makes one at all).
  bool is_smaller(const std::string& text, size_t& bytes) {
    if (!tried_.insert(text).second) return false;
    try {
      options_.recipe = to_string(parse_recipe(text));
    } catch (const Error&) {
      return false;  // values that do not go together
    }
    ++found_.trials;
    meter_.add(1);
    const size_t size = compress(part_, options_).size();
    if (bytes != 0 && size >= bytes) return false;
    bytes = size;
    found_.steps.push_back({options_.recipe, size});
    return true;
  }

  CompressOptions options_;
  TuneOptions how_;
  View part_;
  std::vector<Stages> alternatives_;
  Progress progress_;  // of the search, not of each stream
  Meter meter_;
  std::set<std::string> tried_;
  Tuned found_;
};

}  // namespace

Tuned tune(const View& array, const CompressOptions& options, const TuneOptions& how) {
  const DefaultFloatingPoint environment;
  if (array.shape.size() == 0) fail_argument("the array is empty");
  return Search(array, options, how).run();
}

}  // namespace leeway
