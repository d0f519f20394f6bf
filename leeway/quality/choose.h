// SPDX-License-Identifier: BSD-3-Clause
// Choose: names that stand for a choice among recipes, made by looking at the array. Streams hold
// the recipe that was chosen.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "leeway/core/export.h"
#include "leeway/engine/engine.h"

namespace leeway {

struct NamedChoice {
  std::string_view name, about;
  std::string (*choose)(const View&, const CompressOptions&);
};
LEEWAY_EXPORT std::span<const NamedChoice> named_choices();
LEEWAY_EXPORT bool is_choice(std::string_view name);

// The recipe that the name in the options stands for, for this array. Depends on values and bound
// only, not on time, so that the same array always gets the same.
LEEWAY_EXPORT std::string chosen_recipe(const View& array, const CompressOptions& options);

// Throws Error if this is neither a recipe nor the name of one or of a choice.
LEEWAY_EXPORT void check_recipe(std::string_view text);

}  // namespace leeway
