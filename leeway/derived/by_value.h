// SPDX-License-Identifier: BSD-3-Clause
// By value: recipes that keep a bound of its own for every value.
#pragma once

#include <string>

namespace leeway::derived {

// The recipe with bounds by value that comes nearest to the one asked for: of its first alternative
// that predicts before it quantizes, with another quantizer, as pyramid+linear+rans becomes
// pyramid+elementwise+rans.
std::string by_value_recipe(const std::string& recipe);

}  // namespace leeway::derived
