// SPDX-License-Identifier: BSD-3-Clause
// Choose: names that stand for something made by looking at the array: a choice among recipes, or
// bounds value by value. Streams hold the recipe that was chosen.
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

// What the name in the options stands for, for this array. Depends on values and bound only, not on
// time, so that the same array always gets the same.
Choice choose(const View& array, const CompressOptions& options);

// Throws Error if this is neither a recipe nor the name of one or of a choice.
void check_recipe(std::string_view text);

}  // namespace leeway
