// SPDX-License-Identifier: BSD-3-Clause
// Choose: names of choices, such as "auto", that look at the array: they choose among recipes, or
// make a bound for each value. The stream states the recipe that was chosen.
#pragma once

#include <functional>
#include <optional>
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

// What a choice sees of an array. Most see its middle and its range, which can be brought together
// where the array lies in parts.
struct Sight {
  DType dtype = DType::f32;
  Shape shape{};
  View middle{};                                          // at most kMiddleValues
  std::function<std::optional<ValidRange>()> range = {};  // as value_range()
  View whole{};                                           // without data if it lies in parts
};
inline constexpr u64 kMiddleValues = u64(1) << 18;

struct NamedChoice {
  std::string_view name, about;
  Choice (*choose)(const Sight&, const CompressOptions&);
};
std::span<const NamedChoice> named_choices();
bool is_choice(std::string_view name);

// Whether the recipe of such an array depends on its values; otherwise it is that of the options.
bool looks_at_values(const Shape& shape, const CompressOptions& options);

// Makes the choice that options.recipe names, for this array. It depends on the values and the
// bound, not on measured time, so that the same array always gets the same.
Choice choose(const Sight& array, const CompressOptions& options);
Choice choose(const View& array, const CompressOptions& options);

// Throws Error if this is neither a recipe nor the name of one or of a choice.
void check_recipe(std::string_view text);

}  // namespace leeway
