// SPDX-License-Identifier: BSD-3-Clause
// Colors: numbers as pictures, in colors that keep their order for the color-blind and on paper.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace leeway::report {

enum class Palette { values, differences, counts };

// A PNG as a data URI. Numbers from low to high; what is NaN is gray.
std::string picture_uri(std::span<const float> numbers, size_t rows, size_t columns, double low,
                        double high, Palette palette);
// The colors from low to high, as a CSS gradient.
std::string gradient_of(Palette palette);

}  // namespace leeway::report
