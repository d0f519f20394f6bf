// SPDX-License-Identifier: BSD-3-Clause
// The verb `report`: what compression did to the data, as a page and as numbers.
#include <filesystem>
#include <memory>

#include "leeway/report/page.h"
#include "leeway/report/profile.h"
#include "tools/cli.h"
#include "tools/derived_pairs.h"
#include "tools/output_file.h"
#include "tools/pair_files.h"

namespace leeway::cli {
namespace {

using report::Requirement;
using report::Score;
using report::Section;

struct ReportVerb {
  std::string original, decoded, output, json_file, title, profile = "generic";
  std::vector<std::string> required, derived;
  std::vector<double> levels;
  bool force = false, json = false, no_rates = false;
  ArrayOptions array;
  WorkOptions work;

  void run() const {
    std::vector<Requirement> requirements;
    for (const std::string& text : required)
      for (Requirement& requirement : report::parse_requirements(text))
        requirements.push_back(std::move(requirement));
    if (output.empty() && json_file.empty() && !json && requirements.empty())
      fail_argument("where to? give -o report.html, --json-file F, --json or --require");
    const Execution execution = work.execution("assessing");
    report::parse_profile(profile);
    std::vector<OpenPair> pairs = open_pairs(original, decoded, array, execution.threads);
    for (OpenPair& pair : derived_pairs(pairs, derived, execution.threads))
      pairs.push_back(std::move(pair));
    std::vector<Section> sections;
    for (const OpenPair& pair : pairs)
      sections.push_back(section_of(pair, pairs.size(), requirements, execution));
    const Json numbers = to_json(sections);
    if (!output.empty())
      write(output, report::html_page(title.empty() ? default_title() : title, sections));
    if (!json_file.empty()) write(json_file, numbers.dump(2) + "\n");
    if (json)
      cli::print(numbers);
    else if (!work.quiet)
      print_text(sections);
    bool failed = false;
    for (const Section& section : sections)
      for (const std::string& text : section.failed) {
        failed = true;
        complain(fmt::format(
            "NOT met{}: {}",
            section.facts.name.empty() ? "" : " by " + printable(section.facts.name), text));
      }
    if (failed) throw Ended{kNotVerified};
  }

  std::string default_title() const {
    return "What compression did to " + std::filesystem::path(original).filename().string();
  }

  Section section_of(const OpenPair& open, size_t of, const std::vector<Requirement>& requirements,
                     const Execution& execution) const {
    const Pair pair = open.pair();
    Section section;
    section.facts = open.facts();
    AssessOptions options;
    options.features =
        report::feature_aim(report::parse_profile(profile), levels, section.facts, pair);
    report::AreaWeights area = report::area_weights(section.facts);
    options.weighted_axis = area.axis, options.weights = std::move(area.values);
    options.bound = section.facts.bound;
    options.execution = execution;
    // Pages of many variables stay small enough to be mailed.
    options.picture_side = std::max<size_t>(64, size_t(420 / std::sqrt(double(of))));
    options.slices = std::clamp<size_t>(16 / of, 1, 8);
    section.assessment = assess(pair, options);
    section.scores = report::scores_of(section.assessment, section.facts);
    for (const Requirement& requirement : requirements)
      if (!report::meets(requirement, section.scores)) {
        const auto score = std::ranges::find(section.scores, requirement.name, &Score::name);
        section.failed.push_back(requirement.text +
                                 (score == section.scores.end()
                                      ? " (there is no such score)"
                                      : fmt::format(" (it is {:.9g})", score->value)));
      }
    const double bound = options.bound > 0 ? options.bound : section.assessment.max_error;
    if (!no_rates && !output.empty())
      section.rates = report::rate_distortion(pair, bound, execution);
    auto& notes = section.facts.provenance;
    notes.emplace_back("Original", original + ", " + checksum_of_file(path_of(original)));
    notes.emplace_back("Decoded", decoded + ", " + checksum_of_file(path_of(decoded)));
    notes.emplace_back("Report",
                       "leeway report " + original + " " + decoded + ", leeway " + version());
    return section;
  }

  static std::string path_of(const std::string& text) {
    const auto address = h5::parse_address(text);
    return address ? address->path : text;
  }

  void write(const std::string& path, const std::string& text) const {
    OutputFile out(path, force);
    out.write(ByteView(reinterpret_cast<const u8*>(text.data()), text.size()));
    out.commit();
  }

  static Json to_json(const std::vector<Section>& sections) {
    constexpr const char* kVerdicts[] = {"none", "good", "look closer", "not good"};
    Json list = Json::array();
    for (const Section& s : sections) {
      Json entry;
      entry["variable"] = s.facts.name;
      entry["units"] = s.facts.units;
      entry["shape"] = json_of(s.assessment.shape);
      entry["verdict"] =
          kVerdicts[size_t(s.failed.empty() ? report::worst_of(s.scores) : report::Verdict::bad)];
      entry["failed"] = s.failed;
      if (s.facts.bound > 0) entry["bound"] = s.facts.bound;
      if (!s.facts.bound_asked.empty()) entry["bound_asked"] = s.facts.bound_asked;
      entry["compared"] = s.assessment.moments.count();
      entry["sample_step"] = s.assessment.sample_step;
      entry["map_step"] = s.assessment.deep_step;
      for (const Score& score : s.scores) {
        entry["scores"][score.name] = json_of(score.value);
        entry["libpressio"][score.key] = json_of(score.value);
        if (!score.chip.empty() && score.verdict != report::Verdict::none)
          entry["chips"][score.name] = kVerdicts[size_t(score.verdict)];
      }
      const Assessment& a = s.assessment;
      entry["max_place"] = report::place_text(s.facts, a.shape, a.max_at);
      entry["max_at"] = Json::array();
      for (size_t axis = 0; axis < a.shape.rank(); ++axis)
        entry["max_at"].push_back(a.max_at[axis]);
      const auto counts = [](const SpecialCounts& c) {
        return Json{{"nan", c.nan},
                    {"infinite", c.infinite},
                    {"fill", c.fill},
                    {"zero", c.zero},
                    {"negative", c.negative}};
      };
      entry["special"] = {{"original", counts(a.before)}, {"decoded", counts(a.after)}};
      const auto list_of = [](auto&& values) {
        Json all = Json::array();
        for (const double v : values) all.push_back(json_of(v));
        return all;
      };
      entry["error_autocorrelation"] = {{"rows", list_of(a.along_rows)},
                                        {"columns", list_of(a.along_columns)}};
      entry["spectra"] = {{"original", list_of(a.spectra.original)},
                          {"decoded", list_of(a.spectra.decoded)},
                          {"error", list_of(a.spectra.error)}};
      entry["quantiles"] = {{"at", list_of(kQuantiles)},
                            {"original", list_of(a.distribution.original)},
                            {"decoded", list_of(a.distribution.decoded)}};
      entry["slice_means"] = {{"original", list_of(a.slice_means_original)},
                              {"decoded", list_of(a.slice_means_decoded)}};
      for (const Feature& f : a.features)
        entry["features"].push_back({{"what", f.what},
                                     {"level", json_of(f.level)},
                                     {"original", json_of(f.original)},
                                     {"decoded", json_of(f.decoded)}});
      if (!a.distances.original.empty())
        entry["pair_distances"] = {{"largest", a.distances.largest},
                                   {"original", a.distances.original},
                                   {"decoded", a.distances.decoded}};
      if (a.particles)
        entry["displacement"] = {{"original", list_of(a.time.displacement_original)},
                                 {"decoded", list_of(a.time.displacement_decoded)}};
      for (const report::RatePoint& p : s.rates)
        entry["rate_distortion"].push_back({{"preset", p.preset},
                                            {"bound", p.bound},
                                            {"bits", p.bits},
                                            {"psnr", p.psnr},
                                            {"accuracy_gain", p.accuracy_gain}});
      list.push_back(entry);
    }
    return list;
  }

  void print_text(const std::vector<Section>& sections) const {
    for (const Section& s : sections) {
      const Assessment& a = s.assessment;
      std::string doubts;
      for (const Score& score : s.scores)
        if (!score.chip.empty() && score.verdict > report::Verdict::good)
          doubts += (doubts.empty() ? "" : ", ") + score.chip;
      fmt::print("{}largest error {:.9g}, PSNR {:.4g} dB, data SSIM {}, 1 - r {:.3g}; {}\n",
                 s.facts.name.empty() ? "" : printable(s.facts.name) + ": ", a.max_error, a.psnr(),
                 std::isnan(a.dssim) ? "not defined" : fmt::format("{:.7f}", a.dssim),
                 a.moments.one_minus_correlation(),
                 doubts.empty() ? "all is well" : "look at: " + doubts);
    }
    if (!output.empty()) fmt::print("report written to {}\n", printable(output));
  }
};

}  // namespace

void add_report(CLI::App& verb) {
  const auto self = std::make_shared<ReportVerb>();
  verb.add_option("ORIGINAL", self->original, "raw or .npy file, stream, or file.nc[:NAME,...]")
      ->required();
  verb.add_option("DECODED", self->decoded,
                  "what became of it: the same kinds, a stream among them")
      ->required();
  verb.add_option("-o,--output", self->output,
                  "page to write: one HTML file that needs nothing else")
      ->type_name("OUT.html");
  verb.add_option("--json-file", self->json_file, "file for all numbers, as JSON")->type_name("F");
  verb.add_option("--require", self->required,
                  "scores that must be reached, else exit code 3: "
                  "dssim>=0.9995,r2>0.99999,max_abs<=0.1; 'leeway report --help' and "
                  "docs/QUALITY.md list them")
      ->type_name("LIST")
      ->expected(1)
      ->take_all();
  verb.add_option("--derive", self->derived,
                  "quantities to look at as well: --derive 'sqrt(u^2+v^2)' --derive "
                  "'vorticity(u,v)'; a lone array is x. Of components like u and v, vorticity and "
                  "divergence are shown in any case")
      ->type_name("EXPR")
      ->expected(1)
      ->take_all();
  verb.add_option("--profile", self->profile,
                  "whose features are counted: " + report::profile_names())
      ->type_name("NAME")
      ->capture_default_str();
  verb.add_option("--level", self->levels,
                  "thresholds at which features are counted, in the unit of the variable")
      ->type_name("V")
      ->delimiter(',');
  verb.add_option("--title", self->title, "title of the page")->type_name("TEXT");
  verb.add_flag("--no-rates", self->no_rates,
                "do not try other bounds and presets on a part of the field");
  self->array.add_to(verb);
  self->work.add_to(verb);
  verb.add_flag("-f,--force", self->force, "replace OUT if it exists");
  verb.add_flag("--json", self->json, "print all numbers as JSON");
  verb.callback([self] { self->run(); });
}

}  // namespace leeway::cli
