// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/derived/by_value.h"

#include <algorithm>

#include "leeway/base/error.h"
#include "leeway/choose/choose.h"
#include "leeway/recipe/recipe.h"

namespace leeway::derived {

std::string by_value_recipe(const std::string& recipe) {
  if (recipe == "fast") return "lorenzo+elementwise+huffman";
  for (const char* const other : {"auto", "plain", "lossless"})
    if (recipe == other) return "pyramid+elementwise+rans";
  if (!is_choice(recipe)) {
    const Recipe parsed = parse_recipe(recipe);
    if (is_by_value(parsed)) return recipe;
    constexpr std::string_view kLinear = "+linear";
    for (const Recipe& alternative : alternatives_of(parsed)) {
      std::string text = to_string(alternative);
      const size_t at = text.find(kLinear);
      if (!predicts_first(alternative) || at == text.npos) continue;
      text.replace(at, std::min(text.find('+', at + 1), text.size()) - at, "+elementwise");
      if (is_by_value(parse_recipe(text))) return text;
    }
  }
  fail_argument("promises need a preset, or a recipe that predicts before it quantizes, not '" +
                recipe + "'");
}

}  // namespace leeway::derived
