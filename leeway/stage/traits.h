// SPDX-License-Identifier: BSD-3-Clause
// Traits: what a stage says about itself, beside its name, kind and parameters.
//
//   static constexpr Traits kTraits{.chunk_values = u64(1) << 20, .floating_only = true};
//
// A trait that is not named has its default; most stages say `kTraits{}`.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include "leeway/base/types.h"

namespace leeway {

struct Traits {
  u64 chunk_values = 0;
  bool floating_only = false;
  bool moves_only = false;          // preprocessors
  bool after_quantizer = false;     // predictors
  bool needs_step = false;          // predictors
  bool one_grid = false;            // predictors
  bool causal_codes = false;        // predictors
  bool transforms = false;          // predictors
  bool ignores_prediction = false;  // quantizers
  bool by_value = false;            // quantizers
  bool lossless = false;            // quantizers
  bool whole_rows = false;          // predictors
  bool narrow_codes = false;        // encoders
  bool unpacked = false;            // encoders

  // Calls field(name, value, meaning) for every trait.
  constexpr void fields(auto&& field) const {
    field("chunk_values", chunk_values, "how many values a chunk should have for this stage");
    field("floating_only", floating_only, "the stage takes floating-point numbers only");
    field("moves_only", moves_only,
          "the preprocessor moves values and gives them back bit for bit; after any other, decoded "
          "values are compared with the original ones");
    field("after_quantizer", after_quantizer, "the predictor cannot come before the quantizer");
    field("needs_step", needs_step,
          "before the quantizer, the predictor asks for the step between its values");
    field("one_grid", one_grid,
          "the predictor decides by that step, so it must be the same for all values of a chunk");
    field("causal_codes", causal_codes,
          "after the quantizer, every code of the predictor takes the place of its value, so codes "
          "before it tell about it (causal_contexts.h)");
    field("transforms", transforms,
          "the predictor turns all values into coefficients, which are quantized in its own steps "
          "(join/transform_first.h)");
    field("ignores_prediction", ignores_prediction,
          "the quantizer's codes do not depend on predictions, so no predictor can come before it");
    field("by_value", by_value,
          "the quantizer works with a bound for every value, on the grids of another one, `Grids`");
    field("lossless", lossless,
          "the quantizer keeps every value bit for bit, so its recipe is used without a bound, too");
    field("whole_rows", whole_rows,
          "chunks should be whole rows of the array, one piece of its memory");
    field("narrow_codes", narrow_codes, "the encoder takes codes of 16 bits, too");
    field("unpacked", unpacked,
          "lists beside the codes are not packed, and a chunk that does not shrink is stored: no "
          "other encoder is needed");
  }

  bool operator==(const Traits&) const = default;
};

// Traits that differ from their defaults: "floating_only, chunk_values=1048576".
inline std::string print_traits(const Traits& traits) {
  std::string text;
  traits.fields([&](std::string_view name, auto value, std::string_view) {
    if (value == decltype(value)()) return;
    text += (text.empty() ? "" : ", ") + std::string(name);
    if constexpr (!std::is_same_v<decltype(value), bool>) text += "=" + std::to_string(value);
  });
  return text;
}

}  // namespace leeway
