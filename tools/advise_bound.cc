// SPDX-License-Identifier: BSD-3-Clause
#include "tools/advise_bound.h"

#include <algorithm>
#include <filesystem>

#include "leeway/choose/advise.h"
#include "leeway/report/suggest.h"
#include "leeway/report/text.h"
#include "tools/output_file.h"
#include "tools/pair_files.h"
#include "tools/variables.h"

namespace leeway::cli {
namespace {

using report::Advised;
using report::Suggestion;

// Of larger arrays a part is looked at.
constexpr u64 kLookedAt = u64(1) << 22;

// What is said of one variable.
struct Found {
  std::string name, units, long_name;
  DType dtype;
  Shape shape;
  Advised advised;
  std::optional<Suggestion> wanted;  // what meets the requirements
  std::vector<std::string> warnings;
  const Suggestion* best() const {
    if (wanted) return &*wanted;
    return advised.suggestions.empty() ? nullptr : &advised.suggestions[advised.best];
  }
};

// "abs:0.01", as bounds files have it.
std::string bound_text(const Bound& bound) {
  const Limit& limit = bound.limits()[0];
  if (limit.kind == BoundKind::lossless) return "lossless";
  return std::string(name_of(limit.kind)) + ":" + number(limit.value);
}
std::string option_text(const Bound& bound) {
  const Limit& limit = bound.limits()[0];
  if (limit.kind == BoundKind::lossless) return "--lossless";
  return "--" + std::string(name_of(limit.kind)) + " " + number(limit.value);
}
std::string with_unit(const Bound& bound, const std::string& units) {
  const Limit& limit = bound.limits()[0];
  if (limit.kind == BoundKind::lossless) return "lossless";
  if (limit.kind == BoundKind::pointwise)
    return fmt::format("{} % of each value", report::number(100 * limit.value, 3));
  return number(limit.value) + (units.empty() ? "" : " " + printable(units));
}

std::vector<std::string> precision_lines(const Precision& p) {
  std::vector<std::string> lines;
  if (p.step > 0)
    lines.push_back(
        fmt::format("values are {} {}: a bound below {} buys nothing",
                    p.has_decimals ? fmt::format("rounded to {} decimals, multiples of", p.decimals)
                                   : "multiples of",
                    report::number(p.step, 6), report::number(p.step / 2, 3)));
  if (p.mantissa_bits > 0 && p.used_bits < p.mantissa_bits)
    lines.push_back(fmt::format("the last {} of {} mantissa bits are 0 in all values",
                                p.mantissa_bits - p.used_bits, p.mantissa_bits));
  if (p.is_float_in_double) lines.push_back("all of these f64 values are f32 values");
  if (p.noise > 0)
    lines.push_back(fmt::format("what is not smooth has a standard deviation of about {}",
                                report::number(p.noise, 3)));
  lines.push_back(p.wants_pointwise
                      ? "values of one sign over more than three powers of ten: a bound relative "
                        "to each value (pointwise) suits them"
                      : "an absolute bound suits them");
  return lines;
}

Json to_json(const Suggestion& s) {
  const Limit& limit = s.bound.limits()[0];
  return {{"by", s.by},
          {"why", s.why},
          {"kind", name_of(limit.kind)},
          {"value", limit.value},
          {"bound", bound_text(s.bound)},
          {"ratio", s.ratio},
          {"psnr", json_of(s.psnr)},
          {"dssim", json_of(s.dssim)},
          {"pearson_gap", json_of(s.pearson_gap)}};
}

Json to_json(const Found& found) {
  const Precision& p = found.advised.precision;
  Json json;
  json["variable"] = found.name;
  json["units"] = found.units;
  json["dtype"] = name_of(found.dtype);
  json["shape"] = json_of(found.shape);
  json["precision"] = {{"values", p.values},
                       {"distinct", p.distinct},
                       {"min", p.min},
                       {"max", p.max},
                       {"step", p.step},
                       {"decimals", p.has_decimals ? Json(p.decimals) : Json()},
                       {"mantissa_bits", p.mantissa_bits},
                       {"used_bits", p.used_bits},
                       {"informative_bits", p.informative_bits},
                       {"is_float_in_double", p.is_float_in_double},
                       {"noise", p.noise},
                       {"wants_pointwise", p.wants_pointwise}};
  json["suggestions"] = Json::array();
  for (const Suggestion& s : found.advised.suggestions) json["suggestions"].push_back(to_json(s));
  if (found.wanted) json["wanted"] = to_json(*found.wanted);
  if (found.best()) json["choice"] = to_json(*found.best());
  json["warnings"] = found.warnings;
  return json;
}

class Advising {
 public:
  explicit Advising(const AdviseBound& asked)
      : asked_(asked), execution_(asked.work.execution("advising")) {
    execution_.progress = nullptr;
    for (const std::string& text : asked.wants) wants_.push_back(report::parse_want(text));
  }

  Found look(const OpenSide& side) const {
    Found found{side.name, side.units, side.long_name, side.side.dtype, side.shape, {}, {}, {}};
    const Part part = side.side.read(middle_box(side.shape, kLookedAt));
    CompressOptions declared;
    declared.fill_bits = side.side.fills;
    std::vector<u64> fills = declared.fill_bits;
    if (const auto range = value_range(part.view, declared)) fills = range->fills;
    if (wants_.empty()) {
      found.advised = report::suggest(part.view, fills, asked_.recipe, execution_, !side.is_packed);
    } else {
      found.advised.precision = precision_of(part.view, fills);
      found.wanted = report::bound_for(part.view, fills, wants_, asked_.recipe, execution_);
    }
    warn(side, found);
    return found;
  }

 private:
  void warn(const OpenSide& side, Found& found) const {
    constexpr u64 kSmallestChunk = u64(1) << 14;
    if (found.advised.precision.is_float_in_double && !side.is_packed)
      found.warnings.push_back("stored as f64, but all values are f32: half of the bytes are 0");
    const Shape& chunk = side.side.chunk;
    if (chunk.rank() > 0 && chunk.size() < std::min(kSmallestChunk, side.shape.size()))
      found.warnings.push_back(
          fmt::format("chunks of {} values are too small to be compressed well", chunk.size()));
    if (part_of(side) < 1)
      found.warnings.push_back(
          fmt::format("looked at {:.2g} % of the values, in the middle", 100 * part_of(side)));
    if (!wants_.empty() && !found.wanted)
      found.warnings.push_back("no bound tried meets what is wanted");
  }
  static double part_of(const OpenSide& side) {
    return double(middle_box(side.shape, kLookedAt).shape.size()) / double(side.shape.size());
  }

  const AdviseBound& asked_;
  Execution execution_;
  std::vector<report::Requirement> wants_;
};

void print_text(const Found& found, const AdviseBound& asked, bool is_file) {
  const Precision& p = found.advised.precision;
  fmt::print("{}{} {}, {} different values of {} looked at, {} to {}{}\n",
             found.name.empty() ? "" : printable(found.name) + ": ", name_of(found.dtype),
             to_string(found.shape), report::count(p.distinct), report::count(p.values),
             report::number(p.min, 6), report::number(p.max, 6),
             found.units.empty() ? "" : " " + printable(found.units));
  for (const std::string& line : precision_lines(p)) fmt::print("  {}\n", line);
  for (const std::string& warning : found.warnings) fmt::print("  note: {}\n", warning);
  std::vector<Suggestion> all = found.advised.suggestions;
  if (found.wanted) all.push_back(*found.wanted);
  if (all.empty()) return;
  fmt::print("  {:<12} {:>18} {:>8} {:>8} {:>10} {:>9}  {}\n", "by", "bound", "ratio", "PSNR",
             "data SSIM", "1 - r", "why");
  for (const Suggestion& s : all)
    fmt::print("  {:<12} {:>18} {:>8.1f} {:>8.1f} {:>10} {:>9.2g}  {}\n", s.by,
               with_unit(s.bound, found.units), s.ratio, s.psnr,
               std::isnan(s.dssim) ? "-" : fmt::format("{:.6f}", s.dssim), s.pearson_gap, s.why);
  const Suggestion& best = *found.best();
  if (is_file)
    fmt::print("  take {}: --variable {}={}\n", best.by, printable(found.name),
               bound_text(best.bound));
  else
    fmt::print("  take {}: leeway compress {} {} --recipe {}\n", best.by, printable(asked.input),
               option_text(best.bound), asked.recipe);
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}
// Text in a comment: on one line, without control characters.
std::string comment(const std::string& text) { return printable(text); }

std::string bounds_file_of(const AdviseBound& asked, const std::vector<Found>& all,
                           const FileVariables& variables) {
  const std::string input = std::filesystem::path(asked.input).filename().string();
  std::string out =
      "# Which error each variable may have: suggested by leeway advise from a part of " +
      comment(input) + ".\n# Look at them, change them, then:\n#   leeway compress " +
      comment(input) + " --bounds-file " +
      comment(std::filesystem::path(asked.output).filename().string()) + " -o small.nc\n";
  out += "recipe = " + quoted(asked.recipe) + "\n";
  for (const auto& [name, reason] : variables.left_alone)
    out += "# left alone: " + comment(name) + ", " + comment(reason) + "\n";
  out += "\n[variables]\n";
  for (const Found& found : all) {
    out += "# " + comment(found.long_name.empty() ? found.name : found.long_name) +
           (found.units.empty() ? "" : ", in " + comment(found.units)) + ": " +
           report::number(found.advised.precision.min, 5) + " to " +
           report::number(found.advised.precision.max, 5) + "\n";
    for (const std::string& line : precision_lines(found.advised.precision))
      out += "#   " + line + "\n";
    for (const std::string& warning : found.warnings) out += "#   note: " + warning + "\n";
    for (const Suggestion& s : found.advised.suggestions)
      out += fmt::format("#   by {}: \"{}\", ratio about {:.1f}: {}\n", s.by, bound_text(s.bound),
                         s.ratio, s.why);
    if (found.best())
      out += quoted(found.name) + " = " + quoted(bound_text(found.best()->bound)) + "\n";
  }
  return out;
}

}  // namespace

void AdviseBound::run() const {
  const auto container = h5::parse_address(input);
  if (!output.empty() && !container)
    fail_argument("-o writes a bounds file, for an HDF5 or netCDF file");
  const Advising advising(*this);
  std::vector<Found> all;
  FileVariables variables;
  if (container) {
    variables = data_variables(*container);
    for (const std::string& name : variables.names)
      all.push_back(advising.look(open_variable_side(*container, name)));
  } else {
    OpenSide side = open_side(input, array, work.execution("advising").threads);
    side.name.clear();
    all.push_back(advising.look(side));
  }
  if (all.empty()) fail_argument("'" + input + "' has no variable of floating-point numbers");
  if (!output.empty()) {
    OutputFile out(output, force);
    const std::string text = bounds_file_of(*this, all, variables);
    out.write(ByteView(reinterpret_cast<const u8*>(text.data()), text.size()));
    out.commit();
  }
  if (json) {
    Json list = Json::array();
    for (const Found& found : all) list.push_back(to_json(found));
    for (const auto& [name, reason] : variables.left_alone)
      list.push_back({{"variable", name}, {"left_alone", reason}});
    cli::print(container ? list : list[0]);
  } else if (!work.quiet) {
    for (const Found& found : all) print_text(found, *this, container.has_value());
    for (const auto& [name, reason] : variables.left_alone)
      fmt::print("left alone: {}, {}\n", printable(name), reason);
    if (!output.empty())
      fmt::print("bounds written to {0}: leeway compress {1} --bounds-file {0} -o OUT.nc\n",
                 printable(output), printable(input));
  }
  for (const Found& found : all)
    if (!wants.empty() && !found.wanted) throw Ended{kNotVerified};
}

}  // namespace leeway::cli
