// SPDX-License-Identifier: BSD-3-Clause
// Maker: the settings that have made decoded data. With them it stays as it is when it is
// compressed again; any others would add a second error.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "leeway/stage/stage.h"

namespace leeway {

// Settings of a predictor that goes from coarse to fine, which may have made an array.
struct Suspect {
  u32 frozen;             // axes that are not interpolated, as bits
  size_t top;             // the level whose bound the first value has
  size_t learned_levels;  // finest levels where values depend on what was learned from all slices
  // Tries the settings on a sample whose finest level is level `first_level` of the array.
  std::function<Trial(size_t first_level, const Sample&)> ask;
};

// Whether an array looks as if a suspect had made it: then nothing of it changes. `likely` is what
// was seen only in part; with `unknown` too little was there to see.
enum class Made : u8 { no, unknown, likely, surely };

// Tried is little of the array: the first value; the coarse levels of the first slice along frozen
// axes; then more and more slices. This ends with the whole array if it is small, or when enough
// values have a code that is not 0.
Made looks_made(const Shape& shape, const Suspect& suspect);

// The same, surely: level by level up to the whole array, or until something changes.
bool is_made(const Shape& shape, const Suspect& suspect);

// Which of the candidates has made the array. Several may do for the coarse levels alone, so those
// that look like makers must leave the whole array as it is. If none does so, it is the first that
// looked like one.
template <class P, class Try>
std::optional<P> maker_of(const Shape& shape, const std::vector<P>& candidates, const Try& trial) {
  const auto suspect = [&](const P& settings) {
    const auto ask = [&](size_t first_level, const Sample& sample) {
      P part = settings;
      part.first_level = first_level;
      return trial(part, sample);
    };
    return Suspect{settings.frozen_axes(shape), settings.level_of_first(shape),
                   settings.learned_levels(), ask};
  };
  std::optional<P> first;
  std::vector<const P*> unknown;
  for (const P& settings : candidates) {
    const Made made = looks_made(shape, suspect(settings));
    if (made == Made::surely || (made == Made::likely && is_made(shape, suspect(settings))))
      return settings;
    if (made == Made::likely && !first) first = settings;
    if (made == Made::unknown) unknown.push_back(&settings);
  }
  for (const P* settings : unknown)
    if (is_made(shape, suspect(*settings))) return *settings;
  return first;
}

}  // namespace leeway
