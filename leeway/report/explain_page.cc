// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/report/explain_page.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "leeway/report/plot.h"
#include "leeway/report/style.h"
#include "leeway/report/text.h"

namespace leeway::report {
namespace {

std::string row(const std::string& name, const std::string& value, const std::string& note = "") {
  return "<tr><th scope=row>" + escaped(name) + "</th><td class=n>" + escaped(value) + "</td><td>" +
         escaped(note) + "</td></tr>";
}
std::string table(const std::string& caption, const std::string& rows) {
  return "<div class=wide><table><caption>" + escaped(caption) + "</caption>" + rows +
         "</table></div>";
}

std::string bytes_rows(const Explanation& e) {
  std::string rows;
  const auto add = [&](const std::string& name, u64 bytes) {
    rows += row(name, count(bytes), number(e.bits_a_value(bytes), 3) + " bits a value");
  };
  for (const Anatomy::Part& part : e.parts)
    if (part.bytes > 0) add(part.name, part.bytes);
  if (e.body_bytes != e.packed_bytes) {
    add("all bodies", e.body_bytes);
    add("after the lossless stages", e.packed_bytes);
  }
  add("heads, index, other payloads", e.stream_bytes - std::min(e.stream_bytes, e.packed_bytes));
  add("stream", e.stream_bytes);
  return rows;
}

std::string chunk_rows(const Explanation& e) {
  std::string rows;
  for (const auto& [kind, chunks] : e.chunks_by_kind) rows += row(kind, count(chunks));
  if (e.recipes.size() > 1)
    for (size_t k = 0; k < e.recipes.size(); ++k)
      rows += row(e.recipes[k], count(e.chunks_by_recipe[k]));
  return rows;
}

std::string settings_rows(const Explanation& e) {
  std::string rows;
  for (const auto& [settings, chunks] : e.settings) rows += row(settings, count(chunks));
  return rows;
}

std::string code_rows(const Explanation& e) {
  const CodeCounts& codes = e.codes;
  const auto all = double(std::max<u64>(codes.count(), 1));
  const auto near = codes.near();
  const auto zero = std::ranges::find(near, i64(0), &std::pair<i64, u64>::first);
  std::string rows = row("codes", count(codes.count()));
  rows += row("that are 0", percent(zero == near.end() ? 0 : double(zero->second) / all));
  rows += row("1024 or more from 0", percent(double(codes.larger()) / all));
  rows += row("values kept exactly instead", percent(double(codes.exact()) / all));
  rows += row("entropy", number(codes.entropy(), 4), "bits a code");
  if (codes.contexts() > 1)
    rows += row("entropy in " + count(codes.contexts()) + " contexts",
                number(codes.entropy_in_contexts(), 4), "bits a code");
  return rows;
}

// How far 999 of 1000 codes reach, but at least 8.
i64 reach_of(const CodeCounts& codes) {
  i64 reach = 8;
  for (; reach < CodeCounts::kNear - 1; reach *= 2) {
    u64 inside = 0;
    for (const auto& [code, number] : codes.near())
      if (std::abs(code) <= reach) inside += number;
    if (inside * 1000 >= codes.count() * 999) break;
  }
  return reach;
}

// The codes, or what they stand for: a code is a difference of about two bounds.
std::string histogram(const Explanation& e, Plot plot, double scale) {
  const i64 reach = reach_of(e.codes);
  std::vector<double> x, y;
  for (const auto& [code, number] : e.codes.near()) {
    if (std::abs(code) > reach) continue;
    x.push_back(scale * double(code));
    y.push_back(double(number) / double(std::max<u64>(e.codes.count(), 1)));
  }
  if (x.size() < 2) return "";
  plot.bars(x, y, 1);
  return plot.svg();
}

std::string levels(const Explanation& e) {
  if (e.level_bytes.size() < 2) return "";
  std::vector<double> x, y;
  for (size_t level = 0; level < e.level_bytes.size(); ++level) {
    x.push_back(double(level));
    y.push_back(e.bits_a_value(e.level_bytes[level]));
  }
  Plot plot("Levels, 0 is the finest", {"level"}, {"bits for a value of the array"});
  plot.bars(x, y, 2);
  return plot.svg();
}

// The first values of an array, in order.
std::vector<double> as_doubles(const View& array, u64 most) {
  std::vector<double> values;
  visit_dtype(array.dtype, [&]<class T>(std::type_identity<T>) {
    for_each_row(array, [&](const std::byte* row, size_t length, std::ptrdiff_t stride) {
      for (size_t i = 0; i < length && values.size() < most; ++i, row += stride) {
        T value;
        std::memcpy(&value, row, sizeof value);
        values.push_back(double(value));
      }
    });
  });
  return values;
}

// What a recipe says of a parameter: 36 of "linear+pattern:size=36".
size_t parameter(const std::string& recipe, const std::string& name, size_t otherwise) {
  const size_t at = recipe.find(name + "=");
  return at == std::string::npos ? otherwise
                                 : size_t(std::strtoul(&recipe[at + name.size() + 1], nullptr, 10));
}

// For recipes made for integrals: the block with the largest value, and its largest sub-blocks,
// each over its own largest value. If they lie upon each other, one pattern predicts all.
std::string pattern_plots(const Explanation& e, const View& array) {
  const bool by_pattern = e.header.recipe.find("pattern") != std::string::npos;
  if (!by_pattern && e.header.recipe.find("cross") == std::string::npos) return "";
  const size_t width = by_pattern ? parameter(e.header.recipe, "size", 36)
                                  : parameter(e.header.recipe, "columns", 36),
               count = by_pattern ? parameter(e.header.recipe, "count", width)
                                  : parameter(e.header.recipe, "rows", 36),
               block = width * count;
  const std::vector<double> values = as_doubles(array, u64(1) << 22);
  if (block == 0 || values.size() < block) return "";
  const auto size = [](double x) { return std::isfinite(x) ? std::abs(x) : 0; };
  const auto largest_in = [&](size_t first, size_t length) {
    double most = 0;
    for (size_t i = first; i < first + length; ++i) most = std::max(most, size(values[i]));
    return most;
  };
  size_t first = 0;
  for (size_t b = 0; b + block <= values.size(); b += block)
    if (largest_in(b, block) > largest_in(first, block)) first = b;
  std::vector<size_t> rows;
  for (size_t k = 0; k < count; ++k) rows.push_back(first + k * width);
  std::ranges::stable_sort(rows, std::greater(),
                           [&](size_t row) { return largest_in(row, width); });
  std::vector<double> x(block),
      y(values.begin() + std::ptrdiff_t(first), values.begin() + std::ptrdiff_t(first + block));
  for (size_t i = 0; i < block; ++i) x[i] = double(i);
  Plot whole("The block with the largest value", {"place in the block"}, {"value"});
  whole.line(x, y, 1);
  Plot parts("Its largest sub-blocks, each over its largest value", {"place in the sub-block"},
             {"part"});
  x.resize(width);
  for (size_t k = 0; k < std::min<size_t>(4, rows.size()); ++k) {
    y.assign(values.begin() + std::ptrdiff_t(rows[k]),
             values.begin() + std::ptrdiff_t(rows[k] + width));
    const double most = largest_in(rows[k], width);
    for (double& value : y) value /= most > 0 ? most : 1;
    parts.line(x, y, int(k) + 1, "sub-block " + leeway::report::count((rows[k] - first) / width));
  }
  return whole.svg() + parts.svg();
}

std::string cost_rows(const std::vector<PredictorCost>& costs) {
  std::string rows;
  for (const PredictorCost& cost : costs)
    rows += row(cost.recipe, number(cost.bits, 4), number(cost.entropy, 4) + " bits a code");
  return rows;
}

}  // namespace

std::string explain_page(const std::string& title, const Explanation& e, const View* array,
                         const std::vector<PredictorCost>& costs, const StageTimes& times) {
  const u64 bytes = e.header.shape.size() * size_of(e.header.dtype);
  std::string page =
      "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport "
      "content=\"width=device-width,initial-scale=1\"><title>" +
      escaped(title) + "</title><style>" + kStyle + "</style><h1>" + escaped(title) + "</h1>";
  page += "<p>" + to_string(e.header.shape) + " " + std::string(leeway::name_of(e.header.dtype)) +
          " by <code>" + escaped(e.header.recipe) + "</code>: ratio <b>" +
          number(double(bytes) / double(std::max<u64>(e.stream_bytes, 1)), 4) + "</b>, " +
          number(e.bits_a_value(e.stream_bytes), 4) + " bits a value, bound <b>" +
          exact_number(e.header.abs_bound) + "</b>, " + count(e.chunks) + " chunks of " +
          to_string(e.header.chunk) + ".</p>";
  page += "<h2>Where the bytes are</h2>" + table("Bytes, and bits a value", bytes_rows(e));
  page += "<h2>Codes</h2>" + table("What predictor and quantizer leave to the encoder", code_rows(e));
  page +=
      "<div class=plots>" + histogram(e, Plot("Codes", {"code"}, {"part of all codes", true}), 1) +
      histogram(
          e, Plot("Differences to predictions", {"difference / bound"}, {"part of all", true}), 2) +
      levels(e) + (array ? pattern_plots(e, *array) : "") + "</div>";
  page += "<h2>Choices</h2>" + table("Chunks", chunk_rows(e));
  if (!e.settings.empty()) page += table("Settings found by trials, and chunks", settings_rows(e));
  if (!costs.empty())
    page +=
        table("Other predictors on a sample: bits a value, entropy of a code", cost_rows(costs));
  if (times.all > 0)
    page += "<p>One thread: " + number(1e3 * times.predict, 3) + " ms to predict and quantize, " +
            number(1e3 * std::max(0.0, times.all - times.predict), 3) +
            " ms to encode and pack.</p>";
  page += "<p class=soft>Special values (NaN, infinities, fill values): " + count(e.special) +
          ". Other values kept exactly: " + count(e.exact) + ".</p></html>\n";
  return page;
}

}  // namespace leeway::report
