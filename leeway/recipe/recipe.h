// SPDX-License-Identifier: BSD-3-Clause
// Recipe: a compressor as a sentence, "linear+lorenzo:order=2+huffman+zstd:level=3", parsed and
// printed.
//
//   text   = recipe { "|" recipe }        alternatives: each chunk is coded by one of them
//   recipe = stage { "+" stage }
//   stage  = name [ ":" key "=" value { "," key "=" value } ]          value: a number, or a word
//
// Stages stand in the order preprocessors, predictor and quantizer (in either order), encoder,
// lossless. A kind that is left out is bypassed: no prediction, no loss (`exact`), codes unpacked
// (`raw`), bytes unchanged. The name of a preset or system (`leeway recipes`) stands for its
// recipe.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

#include "leeway/base/export.h"
#include "leeway/join/rules.h"
#include "leeway/stage/bound.h"
#include "leeway/stage/stage.h"

namespace leeway {

struct StageCall {
  std::string name;
  std::string params;  // those that differ from the defaults, as text
  Kind kind;
  std::shared_ptr<const void> stage;  // with these parameters, of the type that has the name
};

struct Recipe {
  std::vector<StageCall> stages;
  std::vector<Recipe> others{};  // alternatives, in order; they have none of their own
};

// All alternatives, the first one included.
inline constexpr size_t kMostAlternatives = 8;
LEEWAY_EXPORT std::vector<Recipe> alternatives_of(const Recipe& recipe);

// Throws Error with what is wrong and what exists.
LEEWAY_EXPORT Recipe parse_recipe(std::string_view text);
LEEWAY_EXPORT std::string to_string(const Recipe& recipe);
// The recipe with one more stage before all others, in every alternative.
LEEWAY_EXPORT Recipe with_first(std::string_view stage, Recipe recipe);
// Whether the recipe, or its first alternative, has this stage.
LEEWAY_EXPORT bool has_stage(const Recipe& recipe, std::string_view name);

// Whether an alternative has only stages that take this element type; some are for floating-point
// numbers only.
LEEWAY_EXPORT bool is_for(const Recipe& recipe, DType dtype);

// Whether values are predicted from reconstructed ones; of the first alternative.
LEEWAY_EXPORT bool predicts_first(const Recipe& recipe);

// The bound that a recipe has by itself, so that none need be given: none at all if it keeps a
// given number of bits of every value (truncate:bits=16), no loss if it loses nothing. Else no
// limits.
LEEWAY_EXPORT Bound bound_of(const Recipe& recipe);

// Whether values can have a bound each.
LEEWAY_EXPORT bool is_by_value(const Recipe& recipe);

// A name that stands for a recipe.
struct NamedRecipe {
  std::string_view name, recipe, about;
};
LEEWAY_EXPORT std::span<const NamedRecipe> named_recipes();
inline constexpr std::string_view kDefaultRecipe = "balanced";

struct StageInfo {
  std::string_view name, about;
  Kind kind;
  Traits traits;
  std::vector<ParamInfo> params;
};
// All stages a recipe may name, by kind.
LEEWAY_EXPORT std::vector<StageInfo> all_stages();
// The type of the library's stage of that name; null if there is none.
LEEWAY_EXPORT const std::type_info* library_stage(std::string_view name);

}  // namespace leeway
