// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/report/explain_page.h"

#include <algorithm>
#include <cmath>

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

std::string histogram(const Explanation& e) {
  // As far as 999 of 1000 codes reach, but at least to 8.
  const auto near = e.codes.near();
  const u64 all = e.codes.count();
  i64 reach = 8;
  for (u64 inside = 0; reach < CodeCounts::kNear - 1; reach *= 2) {
    inside = 0;
    for (const auto& [code, number] : near)
      if (std::abs(code) <= reach) inside += number;
    if (inside * 1000 >= all * 999) break;
  }
  std::vector<double> x, y;
  for (const auto& [code, number] : near) {
    if (std::abs(code) > reach) continue;
    x.push_back(double(code));
    y.push_back(double(number) / double(std::max<u64>(all, 1)));
  }
  if (x.size() < 2) return "";
  Plot plot("Codes", {"code"}, {"part of all codes", true});
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

}  // namespace

std::string explain_page(const std::string& title, const Explanation& e) {
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
  page += "<div class=plots>" + histogram(e) + levels(e) + "</div>";
  page += "<h2>Choices</h2>" + table("Chunks", chunk_rows(e));
  if (!e.settings.empty()) page += table("Settings found by trials, and chunks", settings_rows(e));
  page += "<p class=soft>Special values (NaN, infinities, fill values): " + count(e.special) +
          ". Other values kept exactly: " + count(e.exact) + ".</p></html>\n";
  return page;
}

}  // namespace leeway::report
