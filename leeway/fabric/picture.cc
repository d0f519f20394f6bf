// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/fabric/picture.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "leeway/base/png.h"

namespace leeway::fabric {
namespace {

// From dark to bright, distinct in grey and for the color-blind.
Rgb color_of(double part) {
  constexpr double kStops[][3] = {
      {68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}};
  const double at = std::clamp(part, 0.0, 1.0) * 4;
  const auto below = std::min(size_t(at), size_t(3));
  Rgb color;
  for (size_t k = 0; k < 3; ++k)
    color[k] = u8(std::lround(kStops[below][k] +
                              (at - double(below)) * (kStops[below + 1][k] - kStops[below][k])));
  return color;
}

template <class... Args>
std::string text(const char* format, Args... args) {
  char buffer[400];
  std::snprintf(buffer, sizeof buffer, format, args...);
  return buffer;
}

std::string hex(const Rgb& color) {
  return text("#%02x%02x%02x", unsigned(color[0]), unsigned(color[1]), unsigned(color[2]));
}

std::string rectangle(double x, double y, double width, double height, const std::string& fill) {
  return text("<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"/>\n", x, y,
              width, height, fill.c_str());
}
std::string label(double x, double y, const std::string& words, const char* more = "") {
  return text("<text x=\"%.1f\" y=\"%.1f\"%s>%s</text>\n", x, y, more, words.c_str());
}

std::string svg(double width, double height, const std::string& content) {
  return text(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
             "viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" font-size=\"13\" "
             "fill=\"#222\" shape-rendering=\"crispEdges\">\n",
             width, height, width, height) +
         rectangle(0, 0, width, height, "#ffffff") + content + "</svg>\n";
}

std::string title_of(const Simulation& done) {
  const Job& job = done.job;
  return text("%u x %u PEs, %s, relay %s, pipelines of %u: %llu cycles", job.machine.columns,
              job.machine.rows,
              job.direction() == Direction::compress ? "compressing" : "decompressing",
              std::string(kRelayNames[size_t(job.relay)]).c_str(), job.length(),
              static_cast<unsigned long long>(done.outcome.cycles));
}

// 1, 2 or 5 times a power of ten: at most seven steps to a span.
double tick_step(double span) {
  const double ten = std::max(1.0, std::pow(10.0, std::floor(std::log10(span / 7))));
  for (const double step : {ten, 2 * ten, 5 * ten})
    if (span <= 7 * step) return step;
  return 10 * ten;
}

}  // namespace

HeatMap heat_map_of(const Simulation& done, u32 most_cells) {
  const u32 columns = done.job.machine.columns, rows = done.job.machine.rows;
  HeatMap map{std::min(columns, most_cells), std::min(rows, most_cells), {}};
  const auto add = [&](const char* name, auto cycles_of) {
    HeatMap::Panel panel{name, 0, std::vector<double>(size_t(map.columns) * map.rows, 0)};
    std::vector<u32> count(panel.cells.size(), 0);
    const double all = double(std::max<u64>(done.outcome.cycles, 1));
    for (u32 row = 0; row < rows; ++row)
      for (u32 column = 0; column < columns; ++column) {
        const size_t cell = size_t(u64(row) * map.rows / rows) * map.columns +
                            size_t(u64(column) * map.columns / columns);
        const double part =
            double(cycles_of(done.outcome.spent[size_t(row) * columns + column])) / all;
        panel.cells[cell] += part;
        panel.mean += part / (double(columns) * rows);
        ++count[cell];
      }
    for (size_t cell = 0; cell < count.size(); ++cell) panel.cells[cell] /= count[cell];
    map.panels.push_back(std::move(panel));
  };
  add("computing", [](const Spent& s) { return s.compute; });
  add("moving", [](const Spent& s) { return s.move + s.start; });
  add("waiting", [](const Spent& s) { return s.wait_words + s.wait_room; });
  return map;
}

std::string heat_map_svg(const Simulation& done) {
  constexpr u32 kMostCells = 64;
  constexpr double kSide = 300, kGap = 30, kTop = 70, kLeft = 40;
  const HeatMap map = heat_map_of(done, kMostCells);
  const double longest = std::max(done.job.machine.columns, done.job.machine.rows);
  const double width = kSide * done.job.machine.columns / longest,
               height = kSide * done.job.machine.rows / longest;
  const double dx = width / map.columns, dy = height / map.rows;
  std::string content = label(kLeft, 25, title_of(done), " font-size=\"16\"");
  double x = kLeft;
  for (const HeatMap::Panel& panel : map.panels) {
    content += label(x, kTop - 10, panel.name + text(" %.1f %%", 100 * panel.mean));
    for (u32 row = 0; row < map.rows; ++row)
      for (u32 column = 0; column < map.columns; ++column)
        content += rectangle(x + column * dx, kTop + row * dy, dx + 0.3, dy + 0.3,
                             hex(color_of(panel.cells[size_t(row) * map.columns + column])));
    x += std::max(width, 130.0) + kGap;
  }
  const double bottom = kTop + height + 30;
  constexpr int kSteps = 50;
  for (int step = 0; step < kSteps; ++step)
    content +=
        rectangle(kLeft + 40 + 4 * step, bottom, 4.3, 12, hex(color_of((step + 0.5) / kSteps)));
  content += label(kLeft + 35, bottom + 11, "0 %", " text-anchor=\"end\"") +
             label(kLeft + 246, bottom + 11, "100 % of all cycles");
  content += label(
      kLeft + 420, bottom + 11,
      done.job.feeds_both_edges() ? "fed from west (left) and east" : "fed from the west (left)");
  return svg(std::max(x, kLeft + 640), bottom + 35, content);
}

std::vector<u8> heat_map_png(const Simulation& done) {
  constexpr u32 kWanted = 256, kGap = 8, kMostCells = 1024, kWhite = 255;
  const HeatMap map = heat_map_of(done, kMostCells);
  const u32 scale = std::max(1u, kWanted / std::max(map.columns, map.rows));
  std::vector<Rgb> palette;
  for (u32 k = 0; k < kWhite; ++k) palette.push_back(color_of(k / double(kWhite - 1)));
  palette.push_back({255, 255, 255});
  const u32 width = u32(map.panels.size()) * (map.columns * scale + kGap) - kGap,
            height = map.rows * scale;
  std::vector<u8> pixels(size_t(width) * height, u8(kWhite));
  for (u32 panel = 0; panel < map.panels.size(); ++panel)
    for (u32 y = 0; y < height; ++y)
      for (u32 x = 0; x < map.columns * scale; ++x) {
        const double part = map.panels[panel].cells[size_t(y / scale) * map.columns + x / scale];
        pixels[size_t(y) * width + panel * (map.columns * scale + kGap) + x] =
            u8(std::lround(std::clamp(part, 0.0, 1.0) * (kWhite - 1)));
      }
  return png(width, height, pixels, palette);
}

std::string timeline_svg(const Simulation& done, size_t number) {
  constexpr u32 kMostPes = 48;
  constexpr double kLeft = 90, kTop = 60, kWidth = 900, kLine = 14;
  constexpr const char* kFills[] = {"#9ecae1", "#3182bd", "#fd8d3c", "#31a354"};
  const Chain& chain = done.chains[number];
  const RowOutcome outcome = again(done, number);
  const double rounds = std::max<double>(chain.rounds(done.job.length()), 1),
               span = std::max(1.0, double(outcome.cycles) * std::min(1.0, 1.5 / rounds));
  const u32 every = (chain.count + kMostPes - 1) / kMostPes;
  std::string content =
      label(kLeft, 25, text("row %u, ", chain.row) + title_of(done), " font-size=\"16\"");
  double y = kTop;
  for (u32 pe = 0; pe < chain.count; pe += every, y += kLine) {
    content += label(kLeft - 8, y + 10, text("column %u", chain.column(pe)),
                     " text-anchor=\"end\" font-size=\"11\"");
    content += rectangle(kLeft, y, kWidth, kLine - 3, "#eeeeee");
    const auto& all =
        outcome.activities[size_t(chain.row) * done.job.machine.columns + chain.column(pe)];
    for (size_t k = 0; k < all.size() && double(all[k].begin) < span;) {
      // Moves of one kind that follow each other with nothing but a start between them are one.
      const Activity first = all[k];
      u64 end = first.end;
      for (++k; k < all.size() && all[k].doing == first.doing &&
                all[k].begin <= end + done.job.machine.start;
           ++k)
        end = all[k].end;
      const double from = kLeft + kWidth * double(first.begin) / span,
                   to = kLeft + kWidth * std::min(1.0, double(end) / span);
      content +=
          rectangle(from, y, std::max(to - from, 0.2), kLine - 3, kFills[size_t(first.doing)]);
    }
  }
  for (double at = 0, step = tick_step(span); at <= span; at += step) {
    const double x = kLeft + kWidth * at / span;
    content += text("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#888\"/>\n", x,
                    y, x, y + 5);
    content += label(x, y + 20, text("%.0f", at), " text-anchor=\"middle\"");
  }
  content += label(kLeft + kWidth / 2, y + 38, "cycles", " text-anchor=\"middle\"");
  double x = kLeft;
  for (size_t k = 0; k < std::size(kDoingNames); ++k, x += 110) {
    content += rectangle(x, 38, 14, 11, kFills[k]);
    content += label(x + 20, 48, std::string(kDoingNames[k]));
  }
  content += rectangle(x, 38, 14, 11, "#eeeeee") + label(x + 20, 48, "start, idle");
  return svg(kLeft + kWidth + 40, y + 55, content);
}

}  // namespace leeway::fabric
