// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/quality/choose.h"

#include <algorithm>
#include <limits>

#include "leeway/leeway.hpp"
#include "leeway/quality/advise.h"

namespace leeway {
namespace {

// The smallest of those that are the best for some kind of data, on a part of the array.
std::string smallest_on_sample(const View& array, const CompressOptions& options) {
  constexpr u64 kSample = u64(1) << 18;
  std::vector<std::string> recipes = {"balanced", "small", "plain",   "linear+arithmetic",
                                      "sz3-lr",   "eri",   "lossless"};
  if (array.shape.size() == 0) return recipes[0];
  const std::vector<Advice> all = advise(array, options, recipes, kSample);
  return std::ranges::max_element(all, {}, &Advice::ratio)->recipe;
}

// SZ3's pipeline for X-ray images: above half a count prediction from blocks, below it counts are
// kept as they are. Steps that are powers of two meet all whole numbers.
std::string for_counts(const View& array, const CompressOptions& options) {
  const Bound limits = absolute_limits(array, options);
  double bound = std::numeric_limits<double>::infinity();
  for (const Limit& limit : limits.limits())
    bound = std::min(bound, limit.kind == BoundKind::abs ? limit.value : 0.0);
  return bound >= 0.5 ? "sz3-lr" : "transpose+linear:step=pow2+arithmetic";
}

constexpr NamedChoice kNames[] = {
    {"auto", "the smallest of several, tried on a part of the array"},
    {"sz3-aps", "SZ3 for X-ray images: counts kept exactly below a bound of 0.5, sz3-lr above"},
};
constexpr std::string (*kChoosers[])(const View&, const CompressOptions&) = {smallest_on_sample,
                                                                             for_counts};

}  // namespace

std::span<const NamedChoice> named_choices() { return kNames; }

bool is_choice(std::string_view name) {
  return std::ranges::find(kNames, name, &NamedChoice::name) != std::end(kNames);
}

std::string chosen_recipe(const View& array, const CompressOptions& options) {
  const auto* found = std::ranges::find(kNames, options.recipe, &NamedChoice::name);
  if (found == std::end(kNames)) return options.recipe;
  return kChoosers[found - kNames](array, options);
}

void check_recipe(std::string_view text) {
  if (!is_choice(text)) parse_recipe(text);
}

}  // namespace leeway
