// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/report/plot.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "leeway/report/text.h"

namespace leeway::report {
namespace {

constexpr double kWidth = 460, kHeight = 284, kLeft = 62, kRight = 12, kTop = 42, kBottom = 42;

std::string at(double value) { return number(std::round(value * 10) / 10, 6); }

// A tick: powers of ten from 1000 on, and below 0.001, with the exponent raised.
std::string tick_text(double value, bool is_log) {
  const double power = std::round(std::log10(std::abs(value)));
  if (!is_log || std::abs(power) < 3 || std::abs(std::pow(10.0, power) / value - 1) > 1e-9)
    return number(value, 3);
  return "10<tspan class=up dy=-4>" + number(power, 4) + "</tspan>";
}

}  // namespace

// Numbers to places in the picture.
struct Plot::Scale {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  bool is_log;
  double from, to;

  Scale(bool log, double first, double last) : is_log(log), from(first), to(last) {}
  bool takes(double v) const { return std::isfinite(v) && (!is_log || v > 0); }
  void include(double v) {
    if (takes(v)) low = std::min(low, v), high = std::max(high, v);
  }
  void settle() {
    if (!(low <= high)) low = is_log ? 1 : 0, high = is_log ? 10 : 1;
    if (low < high) return;
    const double apart = is_log ? 3 : std::max(std::abs(low) * 0.1, 1e-300);
    low = is_log ? low / apart : low - apart;
    high = is_log ? high * apart : high + apart;
  }
  double operator()(double v) const {
    const double part =
        is_log ? std::log(v / low) / std::log(high / low) : (v - low) / (high - low);
    return from + std::clamp(part, 0.0, 1.0) * (to - from);
  }
  std::vector<double> ticks() const {
    std::vector<double> result;
    if (is_log) {
      const int first = int(std::ceil(std::log10(low) - 1e-9)),
                last = int(std::floor(std::log10(high) + 1e-9));
      const int step = std::max(1, (last - first + 5) / 6);
      for (int power = first; power <= last; power += step) result.push_back(std::pow(10.0, power));
      if (result.size() >= 2) return result;
      result.clear();  // less than a decade or two
      for (int power = first - 1; power <= last + 1; ++power)
        for (const double digit : {1.0, 2.0, 5.0})
          if (const double v = digit * std::pow(10.0, power); v >= low && v <= high)
            result.push_back(v);
      return result;
    }
    const double raw = (high - low) / 5, power = std::pow(10.0, std::floor(std::log10(raw)));
    double step = power;
    for (const double factor : {1.0, 2.0, 5.0, 10.0})
      if (power * factor <= raw * 1.5) step = power * factor;
    for (double v = std::ceil(low / step) * step; v <= high + 1e-9 * step; v += step)
      result.push_back(std::abs(v) < 1e-9 * step ? 0 : v);
    return result;
  }
};

void Plot::line(std::span<const double> x, std::span<const double> y, int color, std::string name,
                bool with_points) {
  series_.push_back(
      {{x.begin(), x.end()}, {y.begin(), y.end()}, color, std::move(name), false, with_points});
}

void Plot::bars(std::span<const double> x, std::span<const double> y, int color, std::string name) {
  series_.push_back(
      {{x.begin(), x.end()}, {y.begin(), y.end()}, color, std::move(name), true, false});
}

void Plot::vertical(double x) { guides_.push_back(x); }
void Plot::band(double low, double high) { bands_ = {low, high}; }
void Plot::y_range(double low, double high) { extra_y_ = {low, high}; }

std::string Plot::ticks(const Scale& sx, const Scale& sy) const {
  std::string out;
  for (const double v : sx.ticks())
    out += "<path class=grid d='M" + at(sx(v)) + " " + at(kTop) + "V" + at(kHeight - kBottom) +
           "'/><text x=" + at(sx(v)) + " y=" + at(kHeight - kBottom + 14) + " class=middle>" +
           tick_text(v, x_.is_log) + "</text>";
  for (const double v : sy.ticks())
    out += "<path class=grid d='M" + at(kLeft) + " " + at(sy(v)) + "H" + at(kWidth - kRight) +
           "'/><text x=" + at(kLeft - 6) + " y=" + at(sy(v) + 3.5) + " class=end>" +
           tick_text(v, y_.is_log) + "</text>";
  return out;
}

std::string Plot::drawn(const Series& s, const Scale& sx, const Scale& sy) const {
  std::string out, path;
  const std::string color = " class=c" + std::to_string(s.color);
  if (s.is_bars) {
    const double base = sy.is_log ? sy.from : sy(std::clamp(0.0, sy.low, sy.high));
    const double width =
        s.x.size() > 1 ? std::max(1.0, std::abs(sx(s.x[1]) - sx(s.x[0])) * 0.8) : 8;
    for (size_t i = 0; i < s.x.size(); ++i) {
      if (!sy.takes(s.y[i])) continue;
      const double y = sy(s.y[i]);
      path += "M" + at(sx(s.x[i]) - width / 2) + " " + at(base) + "V" + at(y) + "h" + at(width) +
              "V" + at(base) + "z";
    }
    return "<path" + color + " style='stroke:none' fill=currentColor d='" + path + "'/>";
  }
  bool down = false;
  for (size_t i = 0; i < s.x.size(); ++i) {
    if (!sx.takes(s.x[i]) || !sy.takes(s.y[i])) {
      down = false;
      continue;
    }
    const std::string place = at(sx(s.x[i])) + " " + at(sy(s.y[i]));
    path += (down ? "L" : "M") + place;
    down = true;
    if (s.with_points)
      out += "<circle" + color + " fill=currentColor r=2.6 cx=" + at(sx(s.x[i])) +
             " cy=" + at(sy(s.y[i])) + " />";
  }
  return out + "<path" + color + " fill=none d='" + path + "'/>";
}

std::string Plot::svg() const {
  Scale sx(x_.is_log, kLeft, kWidth - kRight), sy(y_.is_log, kHeight - kBottom, kTop);
  for (const Series& s : series_) {
    for (const double v : s.x) sx.include(v);
    for (const double v : s.y) sy.include(v);
    if (s.is_bars && !y_.is_log) sy.include(0);
  }
  for (const double v : guides_) sx.include(v);
  for (const double v : extra_y_) sy.include(v);
  sx.settle(), sy.settle();
  std::string out = "<svg class=plot viewBox='0 0 " + at(kWidth) + " " + at(kHeight) +
                    "' role=img aria-label=\"" + escaped(title_) + "\"><title>" + escaped(title_) +
                    "</title>";
  if (!bands_.empty())
    out += "<rect class=band x=" + at(kLeft) + " width=" + at(kWidth - kLeft - kRight) +
           " y=" + at(sy(bands_[1])) + " height=" + at(sy(bands_[0]) - sy(bands_[1])) + " />";
  out += ticks(sx, sy);
  for (const double v : guides_)
    out +=
        "<path class=guide d='M" + at(sx(v)) + " " + at(kTop) + "V" + at(kHeight - kBottom) + "'/>";
  for (const Series& s : series_) out += drawn(s, sx, sy);
  out += "<text class=head x=" + at(kLeft) + " y=14>" + escaped(title_) +
         "</text><text class=middle x=" + at((kLeft + kWidth - kRight) / 2) +
         " y=" + at(kHeight - 8) + ">" + escaped(x_.label) +
         "</text><text class=middle transform='translate(13 " + at((kTop + kHeight - kBottom) / 2) +
         ") rotate(-90)'>" + escaped(y_.label) + "</text>";
  double x = kLeft;
  for (const Series& s : series_) {
    if (s.name.empty()) continue;
    constexpr double kLetter = 6.2;
    out += "<path class=c" + std::to_string(s.color) + " d='M" + at(x) + " " + at(kTop - 13) +
           "h18'/><text x=" + at(x + 23) + " y=" + at(kTop - 9) + ">" + escaped(s.name) + "</text>";
    x += 40 + kLetter * double(s.name.size());
  }
  return out + "</svg>";
}

}  // namespace leeway::report
