// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/choose/choose.h"

#include <algorithm>
#include <limits>

#include "leeway/base/environment.h"
#include "leeway/choose/advise.h"
#include "leeway/choose/blocks.h"
#include "leeway/choose/critical_points.h"
#include "leeway/choose/equal_error.h"
#include "leeway/choose/tune.h"
#include "leeway/leeway.hpp"
#include "leeway/recipe/recipe.h"

namespace leeway {
namespace {

// A recipe with parameters found by a search, or as it is if none are better. Of several
// alternatives, the one that codes most chunks is searched.
std::string searched(const View& part, CompressOptions options, const std::string& name) {
  options.recipe = name;
  std::vector<Recipe> alternatives = alternatives_of(parse_recipe(name));
  const Bytes as_it_is = compress(part, options);
  const std::vector<u64> used = inspect(as_it_is).alternatives;
  Recipe& most_used =
      alternatives[used.empty() ? 0 : size_t(std::ranges::max_element(used) - used.begin())];
  options.recipe = to_string(most_used);
  const Tuned found = tune(part, options, {.most_trials = 16, .most_values = part.shape.size()});
  most_used = parse_recipe(found.best().recipe);
  std::string text;
  for (const Recipe& each : alternatives) text += (text.empty() ? "" : "|") + to_string(each);
  if (found.steps.size() == 1 || text.size() > kMostRecipeText) return name;
  options.recipe = text;
  return compress(part, options).size() < as_it_is.size() ? text : name;
}

// Of recipes that are each the best for some data, takes the smallest on a part of the array, and
// searches its parameters.
Choice smallest_on_sample(const Sight& array, const CompressOptions& options) {
  const std::string recipes[] = {"balanced", "small", "plain",   "linear+arithmetic",
                                 "sz3-lr",   "eri",   "lossless"};
  if (array.shape.size() == 0) return {recipes[0]};
  // The middle of a row of blocks begins inside of one: it is not the sample to try.
  if (array.shape.squeezed().rank() < 2)
    if (const std::string found = recipe_for_blocks(recipes[1], array, options);
        found != recipes[1])
      return {found};
  CompressOptions trial = options;
  trial.bound = absolute_limits(options, array.range);
  const std::string& best = *std::ranges::min_element(recipes, {}, [&](const std::string& recipe) {
    trial.recipe = recipe;
    return compress(array.middle, trial).size();
  });
  const std::string full = recipe_for_blocks(best, array, options);
  return {trial.bound.has(BoundKind::lossless) ? full : searched(array.middle, trial, full)};
}

// SZ3's pipeline for X-ray images, whose values are counts: with a bound above half a count it
// predicts from blocks; below, it keeps counts exactly. All counts are multiples of a step 2^-k.
Choice for_counts(const Sight& array, const CompressOptions& options) {
  const Bound limits = absolute_limits(options, array.range);
  double bound = std::numeric_limits<double>::infinity();
  for (const Limit& limit : limits.limits())
    bound = std::min(bound, limit.kind == BoundKind::abs ? limit.value : 0.0);
  return {bound >= 0.5 ? "sz3-lr" : "transpose+linear:step=pow2+arithmetic"};
}

// cpSZ: errors so small that critical points of a vector field stay in their cells.
Choice for_critical_points(const Sight& array, const CompressOptions& options) {
  if (!array.whole.data && array.shape.size() > 0)
    fail_argument("the recipe cpsz looks at the whole array, which lies in parts here");
  if (options.bounds.data)
    fail_argument("the recipe cpsz finds bounds value by value itself: it takes no others");
  const Bound limits = absolute_limits(options, array.range);
  double most = std::numeric_limits<double>::infinity();
  for (const Limit& limit : limits.limits())
    if (limit.kind == BoundKind::abs) most = std::min(most, limit.value);
  return {"pyramid+elementwise+rans", critical_point_bounds(array.whole, most, options.execution)};
}

constexpr NamedChoice kChoices[] = {
    {"auto", "the smallest of several, its parameters searched, on a part of the array",
     smallest_on_sample},
    {"sz3-aps", "SZ3 for X-ray images: counts kept exactly below a bound of 0.5, sz3-lr above",
     for_counts},
    {"cpsz", "for vector fields: errors so small that critical points stay in their cells",
     for_critical_points},
};

const NamedChoice* find_choice(std::string_view name) {
  const auto* found = std::ranges::find(kChoices, name, &NamedChoice::name);
  return found == std::end(kChoices) ? nullptr : found;
}

}  // namespace

std::span<const NamedChoice> named_choices() { return kChoices; }

bool is_choice(std::string_view name) { return find_choice(name) != nullptr; }

bool looks_at_values(const Shape& shape, const CompressOptions& options) {
  return is_choice(options.recipe) || is_tried_at_equal_error(shape, options) ||
         may_be_for_blocks(shape, options);
}

Choice choose(const Sight& array, const CompressOptions& options) {
  const DefaultFloatingPoint environment;
  const NamedChoice* choice = find_choice(options.recipe);
  if (choice) return choice->choose(array, options);
  return {recipe_for_blocks(recipe_at_equal_error(array, options), array, options)};
}

Choice choose(const View& array, const CompressOptions& options) {
  if (!looks_at_values(array.shape, options)) return {options.recipe};
  return choose(Sight{array.dtype, array.shape, middle_part(array, kMiddleValues),
                      [&] { return value_range(array, options); }, array},
                options);
}

void check_recipe(std::string_view text) {
  if (!is_choice(text)) parse_recipe(text);
}

}  // namespace leeway
