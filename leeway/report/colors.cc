// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/report/colors.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "leeway/base/png.h"
#include "leeway/report/text.h"

namespace leeway::report {
namespace {

// From dark blue over green to yellow: lightness rises evenly.
constexpr std::array<Rgb, 6> kValues = {
    {{38, 12, 84}, {46, 74, 140}, {29, 123, 141}, {53, 168, 107}, {160, 206, 58}, {252, 238, 60}}};
// From blue over white to red: no difference is white.
constexpr std::array<Rgb, 5> kDifferences = {
    {{22, 62, 132}, {120, 170, 212}, {246, 246, 246}, {232, 144, 112}, {142, 20, 36}}};
constexpr std::array<Rgb, 4> kCounts = {
    {{245, 245, 250}, {158, 176, 220}, {74, 86, 172}, {28, 14, 72}}};
constexpr Rgb kNothing = {150, 150, 150};
constexpr size_t kLevels = 255;

std::span<const Rgb> anchors(Palette palette) {
  if (palette == Palette::values) return kValues;
  if (palette == Palette::differences) return kDifferences;
  return kCounts;
}

std::vector<Rgb> colors_of(Palette palette) {
  const std::span<const Rgb> a = anchors(palette);
  std::vector<Rgb> colors;
  for (size_t i = 0; i < kLevels; ++i) {
    const double place = double(i) / double(kLevels - 1) * double(a.size() - 1);
    const size_t below = std::min(size_t(place), a.size() - 2);
    Rgb color;
    for (size_t c = 0; c < 3; ++c)
      color[c] =
          u8(std::lround(a[below][c] + (place - double(below)) * (a[below + 1][c] - a[below][c])));
    colors.push_back(color);
  }
  colors.push_back(kNothing);
  return colors;
}

}  // namespace

std::string picture_uri(std::span<const float> numbers, size_t rows, size_t columns, double low,
                        double high, Palette palette) {
  std::vector<u8> pixels;
  pixels.reserve(numbers.size());
  for (const float v : numbers) {
    const double part = high > low ? (double(v) - low) / (high - low) : 0.5;
    pixels.push_back(std::isnan(v) ? u8(kLevels)
                                   : u8(std::lround(std::clamp(part, 0.0, 1.0) * (kLevels - 1))));
  }
  return "data:image/png;base64," +
         base64(png(u32(columns), u32(rows), pixels, colors_of(palette)));
}

std::string gradient_of(Palette palette) {
  std::string text = "linear-gradient(to right";
  for (const Rgb& c : anchors(palette))
    text += ",rgb(" + std::to_string(c[0]) + "," + std::to_string(c[1]) + "," +
            std::to_string(c[2]) + ")";
  return text + ")";
}

}  // namespace leeway::report
