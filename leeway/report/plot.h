// SPDX-License-Identifier: BSD-3-Clause
// Plot: a diagram as SVG, whose colors the style sheet of the page decides.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace leeway::report {

class Plot {
 public:
  struct Axis {
    std::string label;
    bool is_log = false;
  };
  Plot(std::string title, Axis x, Axis y) : title_(std::move(title)), x_(x), y_(y) {}

  // `color`: 1 to 5, a class of the style sheet. A name appears in the legend.
  void line(std::span<const double> x, std::span<const double> y, int color, std::string name = "",
            bool with_points = false);
  void bars(std::span<const double> x, std::span<const double> y, int color, std::string name = "");
  void vertical(double x);                // a dashed guide
  void band(double low, double high);     // of y
  void y_range(double low, double high);  // at least this
  std::string svg() const;

 private:
  struct Series {
    std::vector<double> x, y;
    int color;
    std::string name;
    bool is_bars, with_points;
  };
  struct Scale;
  std::string ticks(const Scale& sx, const Scale& sy) const;
  std::string drawn(const Series& series, const Scale& sx, const Scale& sy) const;

  std::string title_;
  Axis x_, y_;
  std::vector<Series> series_;
  std::vector<double> guides_, bands_, extra_y_;
};

}  // namespace leeway::report
