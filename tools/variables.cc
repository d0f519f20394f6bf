// SPDX-License-Identifier: BSD-3-Clause
#include "tools/variables.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "leeway/quality/compare.h"
#include "tools/h5_cf.h"
#include "tools/output_file.h"

namespace leeway::cli {
namespace {

using h5::Variable;

// What a comparison of a variable with the original has found, part by part.
struct Verified {
  double max_error = 0, max_pointwise = 0, l2 = 0;
  u64 compared = 0, mismatches = 0, broken = 0;  // broken: rules, by values

  void add(const Comparison& part) {
    max_error = std::max(max_error, part.max_abs);
    max_pointwise = std::max(max_pointwise, part.max_pointwise);
    l2 = std::hypot(l2, part.l2);
    compared += part.compared;
    mismatches += part.special_mismatches;
  }
  bool holds(double abs_bound, const PartBound& bound) const {
    bool result = max_error <= abs_bound && mismatches == 0 && broken == 0;
    for (const Limit& limit : bound.each.limits())
      if (limit.kind == BoundKind::pointwise) result &= max_pointwise <= limit.value;
    if (bound.rms > 0) result &= l2 <= bound.rms * std::sqrt(double(compared)) || compared == 0;
    return result;
  }
};

// What is to be said of keep, min and max.
std::string rules_text(const derived::PartRules& rules, u64 broken, bool is_compared) {
  if (rules.empty() || !is_compared) return "";
  return broken == 0 ? ", " + rules.text() + " kept"
                     : fmt::format(", {} values break {}", broken, rules.text());
}

}  // namespace

void DecompressVariables::run() const {
  if (!h5::is_container_name(output))
    fail_argument("where to? give -o OUT.nc or -o OUT.h5, or name a variable: " + input.path +
                  ":NAME -o OUT.npy");
  const h5::File file(input.path);
  std::vector<std::pair<std::string, h5::Plan>> plans;
  for (const std::string& name : file.arrays()) {
    const Variable variable = file.variable(name);
    if (variable.filter()) plans.emplace_back(name, h5::Plan{{}, *variable.chunk(), {}});
  }
  Replacement out(output, force);
  h5::copy_file(file, out.temporary(), plans, {});
  out.commit();
  if (json) {
    Json list = Json::array();
    for (const auto& [name, plan] : plans) list.push_back(name);
    print(Json{{"decompressed", list}});
  } else if (!quiet) {
    for (const auto& [name, plan] : plans) fmt::print("{}: decompressed\n", printable(name));
    if (plans.empty()) fmt::print("no variable was compressed by leeway\n");
  }
}

void VerifyVariables::run() const {
  const h5::File file(input.path);
  std::optional<h5::File> truth;
  if (original) truth.emplace(original->path);
  Json list = Json::array();
  bool fine = true;
  for (const std::string& name : input.names.empty() ? file.arrays() : input.names) {
    const Variable variable = file.variable(name);
    if (!variable.filter()) continue;
    const h5::Stored stored = h5::inspect_stored(variable);
    Verified found{stored.max_error};
    // Reading checks every checksum.
    variable.for_each_part((*variable.chunk())[0], [&](const Box& part, const Array& decoded) {
      if (!truth) return;
      const Variable before = truth->variable(name);
      if (before.dtype() != variable.dtype() || !(before.shape() == variable.shape()))
        fail_argument("'" + name + "' has another type or shape in '" + original->path + "'");
      const Array values = before.read(part);
      found.add(
          compare(view_of(values), view_of(decoded), before.fill_patterns(view_of(values)), false));
      if (const auto& rules = variable.filter()->rules; !rules.empty())
        found.broken += derived::broken_by(view_of(values), view_of(decoded),
                                           before.fill_patterns(view_of(values)), rules);
    });
    const bool holds = found.holds(stored.abs_bound, variable.filter()->bound);
    fine &= holds;
    list.push_back({{"variable", name},
                    {"verified", holds},
                    {"bound", {{"absolute", stored.abs_bound * variable.unit()}}},
                    {"max_error", found.max_error * variable.unit()},
                    {"special_mismatches", found.mismatches},
                    {"broken_rules", found.broken}});
    if (!json && (!quiet || !holds))
      fmt::print(
          holds ? stdout : stderr, "{}{}: largest error {:.9g}, bound {:.9g}{}{}\n",
          holds ? "" : "leeway: NOT verified: ", printable(name), found.max_error * variable.unit(),
          stored.abs_bound * variable.unit(),
          found.mismatches == 0 ? "" : fmt::format(", {} special values differ", found.mismatches),
          rules_text(variable.filter()->rules, found.broken, truth.has_value()));
  }
  if (list.empty())
    fail_argument("'" + input.path + "' holds no variable that leeway has compressed");
  if (json) print(list);
  if (!fine) throw Ended{kNotVerified};
}

void inspect_variables(const h5::Address& input, bool json) {
  const h5::File file(input.path);
  Json list = Json::array();
  for (const std::string& name : input.names.empty() ? file.arrays() : input.names) {
    const Variable variable = file.variable(name);
    const auto filter = variable.filter();
    Json entry;
    entry["variable"] = name;
    entry["dtype"] = name_of(variable.dtype());
    entry["shape"] = json_of(variable.shape());
    entry["compressed"] = filter.has_value();
    if (filter) {
      const h5::Stored stored = h5::inspect_stored(variable);
      const u64 bytes = variable.shape().size() * size_of(variable.dtype());
      entry["chunk"] = json_of(*variable.chunk());
      entry["chunks"] = stored.chunks;
      entry["bound"] = {{"absolute", stored.abs_bound * variable.unit()}};
      entry["max_error"] = stored.max_error * variable.unit();
      entry["recipe"] = stored.recipe;
      entry["special_values"] = stored.special;
      entry["exact_values"] = stored.exact;
      entry["input_bytes"] = bytes;
      entry["stream_bytes"] = stored.stream_bytes;
      entry["ratio"] = double(bytes) / double(std::max<u64>(stored.stream_bytes, 1));
    }
    list.push_back(entry);
  }
  if (json) return print(list);
  for (const Json& entry : list) {
    const std::string what =
        fmt::format("{}: {} {}", printable(entry["variable"].get<std::string>()),
                    entry["dtype"].get<std::string>(), entry["shape"].dump());
    if (!entry["compressed"].get<bool>()) {
      fmt::print("{}, not compressed by leeway\n", what);
      continue;
    }
    const double bound = entry["bound"]["absolute"].get<double>();
    fmt::print("{}, ratio {:.2f}, bound {}, largest error {}, {} chunks of {}, {}\n", what,
               entry["ratio"].get<double>(), bound > 0 ? number(bound) : "lossless",
               number(entry["max_error"].get<double>()), entry["chunks"].get<u64>(),
               entry["chunk"].dump(), printable(entry["recipe"].get<std::string>()));
  }
}

}  // namespace leeway::cli
