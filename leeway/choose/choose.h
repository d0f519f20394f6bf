// SPDX-License-Identifier: BSD-3-Clause
// Choose: names of choices, such as "auto", that look at the array: they choose among recipes, or
// make a bound for each value. The stream states the recipe that was chosen.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leeway/engine/engine.h"

namespace leeway {

struct Choice {
  std::string recipe;
  std::vector<float> bounds{};  // for every value; empty: as the options say
};
struct NamedChoice {
  std::string_view name, about;
  Choice (*choose)(const View&, const CompressOptions&);
};
std::span<const NamedChoice> named_choices();
bool is_choice(std::string_view name);

// Makes the choice that options.recipe names, for this array. It depends on the values and the
// bound, not on measured time, so that the same array always gets the same.
Choice choose(const View& array, const CompressOptions& options);

// Throws Error if this is neither a recipe nor the name of one or of a choice.
void check_recipe(std::string_view text);

}  // namespace leeway
