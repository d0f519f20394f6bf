// SPDX-License-Identifier: BSD-3-Clause
#include "python/judge.h"

#include "leeway/derived/part_rules.h"
#include "leeway/derived/together.h"
#include "leeway/report/page.h"
#include "leeway/report/profile.h"
#include "leeway/report/similar.h"
#include "leeway/report/suggest.h"
#include "python/arrays.h"
#include "python/watch.h"

namespace leeway::python {
namespace {

using Limits = std::vector<std::pair<std::string, double>>;

nb::dict dict_of(const report::Suggestion& s) {
  nb::dict entry;
  entry["by"] = s.by;
  entry["why"] = s.why;
  entry["kind"] = std::string(name_of(s.bound.limits()[0].kind));
  entry["value"] = s.bound.limits()[0].value;
  entry["ratio"] = s.ratio;
  entry["psnr"] = s.psnr;
  entry["dssim"] = s.dssim;
  entry["pearson_gap"] = s.pearson_gap;
  return entry;
}

nb::dict dict_of(const Precision& p) {
  nb::dict entry;
  entry["values"] = p.values;
  entry["distinct"] = p.distinct;
  entry["min"] = p.min;
  entry["max"] = p.max;
  entry["step"] = p.step;
  entry["decimals"] = p.has_decimals ? nb::cast(p.decimals) : nb::none();
  entry["mantissa_bits"] = p.mantissa_bits;
  entry["used_bits"] = p.used_bits;
  entry["informative_bits"] = p.informative_bits;
  entry["is_float_in_double"] = p.is_float_in_double;
  entry["noise"] = p.noise;
  entry["wants_pointwise"] = p.wants_pointwise;
  return entry;
}

// Precision, suggestions, and which of them is taken; with requirements there is one suggestion at
// most.
nb::tuple suggest_bound(const InArray& array, const std::string& as, const std::vector<u64>& fills,
                        const std::string& recipe, const std::vector<std::string>& wants,
                        i64 threads) {
  Watch watch;
  const View view = view_of_array<const std::byte>(array, as);
  std::vector<report::Requirement> requirements;
  for (const std::string& want : wants) requirements.push_back(report::parse_want(want));
  const Execution execution = watch.execution(threads);
  report::Advised advised;
  watch.run([&] {
    if (requirements.empty()) {
      advised = report::suggest(view, fills, recipe, execution);
      return;
    }
    advised.precision = precision_of(view, fills);
    if (const auto found = report::bound_for(view, fills, requirements, recipe, execution))
      advised.suggestions.push_back(*found);
  });
  nb::list suggestions;
  for (const report::Suggestion& s : advised.suggestions) suggestions.append(dict_of(s));
  return nb::make_tuple(dict_of(advised.precision), suggestions, advised.best);
}

// Axes: names, units and coordinates, which may be missing.
using GivenAxes = std::vector<std::tuple<std::string, std::string, std::vector<double>>>;

nb::list list_of(const std::vector<Feature>& features) {
  nb::list list;
  for (const Feature& f : features) {
    nb::dict entry;
    entry["what"] = f.what;
    entry["level"] = f.level;
    entry["original"] = f.original;
    entry["decoded"] = f.decoded;
    list.append(entry);
  }
  return list;
}

// A page, scores and features as dictionaries. `facts`: name, units, bound as asked for, recipe,
// long and standard name; sizes of both, 0 if they are not known.
nb::tuple report_pair(const InArray& original, const InArray& decoded, const std::string& as,
                      const std::vector<u64>& fills, const std::string& title,
                      const std::vector<std::string>& facts, double bound,
                      const std::pair<u64, u64>& sizes, bool rates, i64 threads,
                      const nb::object& progress, const GivenAxes& axes, const std::string& profile,
                      const std::vector<double>& levels) {
  Watch watch(progress);
  const View first = view_of_array<const std::byte>(original, as),
             second = view_of_array<const std::byte>(decoded, as);
  report::Section section;
  section.facts.name = facts.at(0), section.facts.units = facts.at(1);
  section.facts.bound_asked = facts.at(2), section.facts.recipe = facts.at(3);
  section.facts.long_name = facts.at(4), section.facts.standard_name = facts.at(5);
  for (const auto& [name, units, values] : axes)
    section.facts.axes.push_back({name, units, values});
  section.facts.bound = bound;
  std::tie(section.facts.original_bytes, section.facts.compressed_bytes) = sizes;
  section.facts.provenance.emplace_back("Report",
                                        "leeway.report of leeway " + std::string(version()));
  AssessOptions options;
  options.bound = bound;
  options.execution = watch.execution(threads);
  std::string page;
  watch.run([&] {
    const Pair pair = pair_of(first, second, fills);
    options.features =
        report::feature_aim(report::parse_profile(profile), levels, section.facts, pair);
    report::AreaWeights area = report::area_weights(section.facts);
    options.weighted_axis = area.axis, options.weights = std::move(area.values);
    section.assessment = assess(pair, options);
    section.scores = report::scores_of(section.assessment, section.facts);
    const double around = bound > 0 ? bound : section.assessment.max_error;
    if (rates) section.rates = report::rate_distortion(pair, around, options.execution);
    page = report::html_page(title, std::span(&section, 1));
  });
  constexpr const char* kVerdicts[] = {"none", "good", "look closer", "not good"};
  nb::list scores;
  for (const report::Score& score : section.scores) {
    nb::dict entry;
    entry["name"] = score.name;
    entry["label"] = score.label;
    entry["value"] = score.value;
    entry["unit"] = score.unit;
    entry["verdict"] = kVerdicts[size_t(score.verdict)];
    entry["chip"] = score.chip;
    scores.append(entry);
  }
  return nb::make_tuple(page, scores, list_of(section.assessment.features));
}

nb::dict dict_of(const derived::Kept& kept) {
  nb::dict entry;
  entry["text"] = kept.text;
  entry["bound"] = kept.bound;
  entry["reached"] = kept.reached;
  entry["compared"] = kept.compared;
  entry["beyond"] = kept.beyond;
  return entry;
}

// name, array, type of elements, limits, fill values as bits
using GivenMember = std::tuple<std::string, InArray, std::string, Limits, std::vector<u64>>;

nb::tuple compress_members(const std::vector<GivenMember>& given,
                           const std::vector<std::string>& promises, const std::string& recipe,
                           bool detect_fills, i64 threads) {
  Watch watch;
  std::vector<derived::Member> members;
  for (const auto& [name, array, as, limits, fills] : given) {
    derived::Member& member = members.emplace_back();
    member.name = name;
    member.view = view_of_array<const std::byte>(array, as);
    for (const auto& [kind, value] : limits)
      member.options.bound.add(parse_bound_kind(kind), value);
    member.options.fill_bits = fills;
    member.options.detect_fills = detect_fills;
    member.options.recipe = recipe;
    member.options.execution.threads = unsigned(std::max<i64>(threads, 1));
  }
  const Execution execution = watch.execution(threads);
  derived::Together made;
  watch.run([&] { made = derived::compress_together(members, promises, execution); });
  nb::list streams, kept;
  for (const Bytes& stream : made.streams)
    streams.append(nb::bytes(reinterpret_cast<const char*>(stream.data()), stream.size()));
  for (const derived::Kept& one : made.promises) kept.append(dict_of(one));
  return nb::make_tuple(streams, kept);
}

// name, original, decoded, type of elements, fill values as bits; texts and bounds of promises.
using GivenDecoded = std::tuple<std::string, InArray, InArray, std::string, std::vector<u64>>;

nb::tuple check_members(const std::vector<GivenDecoded>& given,
                        const std::vector<std::pair<std::string, double>>& promises, i64 threads) {
  Watch watch;
  std::vector<derived::Decoded> members;
  for (const auto& [name, original, decoded, as, fills] : given)
    members.push_back({name, view_of_array<const std::byte>(original, as),
                       view_of_array<const std::byte>(decoded, as), fills});
  std::vector<StatedPromise> stated;
  for (const auto& [text, bound] : promises) stated.push_back({text, bound, 0});
  const Execution execution = watch.execution(threads);
  std::vector<derived::Kept> all;
  std::vector<std::string> missing;
  watch.run([&] { all = derived::check_together(members, stated, execution, missing); });
  nb::list kept;
  for (const derived::Kept& one : all) kept.append(dict_of(one));
  return nb::make_tuple(kept, missing);
}

// A stream whose worst map has at least this data SSIM.
nb::bytes compress_by_ssim(const InArray& array, const std::string& as, const Limits& limits,
                           double least, const std::string& recipe, const std::vector<u64>& fills,
                           bool detect_fills, i64 threads) {
  Watch watch;
  const View view = view_of_array<const std::byte>(array, as);
  CompressOptions options;
  for (const auto& [kind, value] : limits) options.bound.add(parse_bound_kind(kind), value);
  options.recipe = recipe, options.fill_bits = fills, options.detect_fills = detect_fills;
  options.execution = watch.execution(threads);
  report::Similar made;
  watch.run([&] { made = report::compress_similar(view, options, least, "x"); });
  return nb::bytes(reinterpret_cast<const char*>(made.stream.data()), made.stream.size());
}

// Of the worst map.
double data_ssim_of(const InArray& original, const InArray& decoded, const std::string& as,
                    const std::vector<u64>& fills, i64 threads) {
  Watch watch;
  const View first = view_of_array<const std::byte>(original, as),
             second = view_of_array<const std::byte>(decoded, as);
  const Execution execution = watch.execution(threads);
  double found = 0;
  watch.run([&] { found = report::worst_dssim(first, second, fills, execution); });
  return found;
}

}  // namespace

void add_judge(nb::module_& module) {
  module.def("suggest", &suggest_bound);
  module.def("report", &report_pair, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
             nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg("progress").none(),
             nb::arg(), nb::arg(), nb::arg());
  module.def("compress_similar", &compress_by_ssim);
  module.def("data_ssim", &data_ssim_of);
  module.def("promises", [](const std::string& rules, const std::string& name) {
    return derived::PartRules::of(rules).promises(name);
  });
  module.def("compress_together", &compress_members);
  module.def("check_together", &check_members);
}

}  // namespace leeway::python
