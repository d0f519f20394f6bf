// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/report/page.h"

#include <algorithm>
#include <cmath>

#include "leeway/report/panels.h"
#include "leeway/report/style.h"
#include "leeway/report/text.h"

namespace leeway::report {
namespace {

const char* class_of(Verdict verdict) {
  constexpr const char* kClasses[] = {"", "good", "doubtful", "bad"};
  return kClasses[size_t(verdict)];
}
// What the color says, for whoever does not see it.
const char* sign_of(Verdict verdict) {
  constexpr const char* kSigns[] = {"", "&#10003;", "&#9888;", "&#10007;"};
  return kSigns[size_t(verdict)];
}
const char* word_of(Verdict verdict) {
  constexpr const char* kWords[] = {"not judged", "good", "look closer", "not good"};
  return kWords[size_t(verdict)];
}

Verdict verdict_of(const Section& s) {
  return s.failed.empty() ? worst_of(s.scores) : Verdict::bad;
}

std::string anchor(size_t i) { return "v" + std::to_string(i + 1); }

std::string name_of_section(const Section& s) {
  return s.facts.name.empty() ? "array" : s.facts.name;
}

// What a chip says, with the value where there is one to be judged.
std::string chip_text(const Score& score) {
  if (score.limit.empty()) return escaped(score.chip);
  const bool is_near_1 = score.name == "dssim" || score.name == "r2";
  const std::string unit = score.unit == "%" ? " %" : "";
  return escaped(score.chip) + " <span class=n>" + number(score.value, is_near_1 ? 6 : 3) + unit +
         "</span>";
}

std::string chips(const Section& s) {
  std::string out = "<ul class=chips aria-label=Verdicts>";
  for (const std::string& text : s.failed)
    out += "<li class=bad>" + std::string(sign_of(Verdict::bad)) + " required: " + escaped(text) +
           "</li>";
  for (const Score& score : s.scores)
    if (!score.chip.empty() && score.verdict != Verdict::none)
      out += "<li class=" + std::string(class_of(score.verdict)) + " title=\"" +
             escaped(score.label + ": " + number(score.value, 9) +
                     (score.limit.empty() ? "" : "; good " + score.limit)) +
             "\">" + sign_of(score.verdict) + " " + chip_text(score) + "</li>";
  return out + "</ul>";
}

std::string verdict_line(const Section& s) {
  const Facts& f = s.facts;
  const Assessment& a = s.assessment;
  const std::string unit = f.units.empty() ? "" : " " + escaped(f.units);
  std::string out = "<p>" + escaped(f.long_name.empty() ? "" : f.long_name + ", ") +
                    to_string(a.shape) + ", " + count(a.values) + " values";
  if (f.compressed_bytes > 0 && f.original_bytes > 0)
    out += ". Ratio <b>" + number(double(f.original_bytes) / double(f.compressed_bytes), 4) +
           "</b>, " +
           number(8 * double(f.compressed_bytes) / double(std::max<u64>(a.values, 1)), 3) +
           " bits per value";
  out += ".</p><p>";
  if (f.bound > 0)
    out += "Bound <b>" + number(f.bound, 9) + unit + "</b>" +
           (f.bound_asked.empty() ? "" : " (asked: " + escaped(f.bound_asked) + ")") + ". ";
  out += "Largest error <b>" + number(a.max_error, 9) + unit + "</b>";
  if (a.max_error > 0)
    out += " at " + escaped(place_text(f, a.shape, a.max_at)) + ": " + number(a.max_original, 9) +
           " became " + number(a.max_decoded, 9);
  return out + ".</p>";
}

std::string score_table(const Section& s, std::span<const char* const> names) {
  std::string rows;
  for (const char* name : names) {
    const auto score = std::ranges::find(s.scores, name, &Score::name);
    if (score == s.scores.end() || (std::isnan(score->value) && score->name.starts_with("area")))
      continue;
    const std::string unit = score->unit == "units" ? escaped(s.facts.units) : score->unit;
    rows += "<tr><th scope=row>" + escaped(score->label) + "</th><td class=n>" +
            number(score->value, 8) + "</td><td>" + unit + "</td><td class=" +
            (score->verdict == Verdict::none ? "soft" : class_of(score->verdict)) + ">" +
            sign_of(score->verdict) + "</td><td class=soft>" + escaped(score->limit) + "</td></tr>";
  }
  return rows.empty() ? "" : "<div class=wide><table>" + rows + "</table></div>";
}

std::string specials(const Assessment& a) {
  struct Line {
    const char* name;
    u64 SpecialCounts::*count;
  };
  constexpr Line kLines[] = {{"NaN", &SpecialCounts::nan},
                             {"Infinite", &SpecialCounts::infinite},
                             {"Fill values", &SpecialCounts::fill},
                             {"Zeros", &SpecialCounts::zero},
                             {"Negative", &SpecialCounts::negative}};
  std::string out =
      "<div class=wide><table><tr><th></th><th class=n>Original</th><th class=n>Decoded</th></tr>";
  for (const Line& line : kLines)
    out += "<tr><th scope=row>" + std::string(line.name) + "</th><td class=n>" +
           count(a.before.*line.count) + "</td><td class=n>" + count(a.after.*line.count) +
           "</td></tr>";
  return out + "</table></div>";
}

std::string provenance(const Section& s) {
  std::string out = "<div class=wide><table>";
  for (const auto& [name, value] : s.facts.provenance)
    out += "<tr><th scope=row>" + escaped(name) + "</th><td><code>" + escaped(value) +
           "</code></td></tr>";
  return out + "</table></div>";
}

std::string sampling(const Assessment& a) {
  std::string out;
  if (a.deep_step > 1)
    out += "<p class=soft>Of one map in " + std::to_string(a.deep_step) + ".</p>";
  return out;
}

std::string side_by_side(const std::string& left, const std::string& right) {
  return "<div class=tables>" + left + right + "</div>";
}

std::string error_panels(const Section& s) {
  constexpr const char* kErrors[] = {"bias", "area_bias", "error_std", "skewness", "kurtosis"};
  constexpr const char* kStructure[] = {"error_rho1"};
  constexpr const char* kSpectra[] = {"spectrum"};
  const Assessment& a = s.assessment;
  std::string out = "<h3>Distribution of errors</h3><div class=plots>" + error_plots(s) + "</div>" +
                    score_table(s, kErrors);
  out += "<h3>Structure of errors</h3>" + sampling(a) + "<div class=plots>" + structure_plots(s) +
         "</div>" + score_table(s, kStructure);
  if (!a.spectra.original.empty())
    out += "<h3>Spectra</h3>" + sampling(a) + "<div class=plots>" + spectrum_plots(s) + "</div>" +
           score_table(s, kSpectra);
  return out;
}

std::string panels_of_values(const Section& s, size_t i) {
  constexpr const char* kGradients[] = {"gradient", "gradient_gap", "flipped", "flattened",
                                        "extrema"};
  constexpr const char* kStatistics[] = {"ks", "ks_p", "wasserstein"};
  constexpr const char* kSizes[] = {"max_abs", "max_rel", "max_pointwise", "rmse", "nrmse", "psnr"};
  constexpr const char* kStandard[] = {"pearson_gap", "r2", "sre", "dssim", "dssim_mean"};
  constexpr const char* kTime[] = {"lag1_change", "time_variance"};
  const Assessment& a = s.assessment;
  std::string out = "<h3>Pictures</h3>" + pictures(s, anchor(i)) + error_panels(s);
  out += "<h3>Differences between neighbours</h3>" + sampling(a) + score_table(s, kGradients);
  out += "<h3>Statistics that must not move</h3>" +
         side_by_side(statistics_table(s), score_table(s, kStatistics));
  if (a.sample_step > 1)
    out += "<p class=soft>Quantiles and distributions: of one value in " +
           std::to_string(a.sample_step) + ".</p>";
  out +=
      "<h3>Standard scores</h3>" + side_by_side(score_table(s, kSizes), score_table(s, kStandard));
  if (a.slice_means_original.size() > 1)
    out += "<h3>Slices and time</h3><div class=plots>" + slice_plots(s) + "</div>" +
           score_table(s, kTime);
  out += "<h3>Features</h3>" + feature_table(s);
  if (!s.rates.empty())
    out +=
        "<h3>Rate and distortion</h3><div class=plots>" + rate_plots(s) + "</div>" + rate_table(s);
  return out;
}

std::string section(const Section& s, size_t i) {
  constexpr const char* kSpecial[] = {"special_mismatches", "new_negative", "lost_zeros"};
  const Assessment& a = s.assessment;
  std::string out = "<section aria-labelledby=" + anchor(i) + "><h2 id=" + anchor(i) + ">" +
                    escaped(name_of_section(s)) + "</h2>";
  out += verdict_line(s) + chips(s);
  out += "<h3>Special values</h3>" + side_by_side(specials(a), score_table(s, kSpecial));
  if (a.moments.count() > 0) out += panels_of_values(s, i);
  return out + "<h3>Provenance</h3>" + provenance(s) + "</section>";
}

}  // namespace

std::string html_page(const std::string& title, std::span<const Section> sections) {
  std::vector<size_t> order(sections.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(
      order, [&](size_t a, size_t b) { return verdict_of(sections[a]) > verdict_of(sections[b]); });
  std::string out =
      "<!doctype html><html lang=en><head><meta charset=utf-8><meta name=viewport "
      "content=\"width=device-width,initial-scale=1\"><title>" +
      escaped(title) + "</title><style>" + kStyle + "</style></head><body><main><h1>" +
      escaped(title) + "</h1>";
  out +=
      "<div class=wide><table><tr><th>Variable</th><th>Verdict</th><th class=n>Ratio</th><th "
      "class=n>Largest error</th><th class=n>PSNR (dB)</th><th class=n>Data SSIM</th></tr>";
  for (const size_t i : order) {
    const Section& s = sections[i];
    const Verdict verdict = verdict_of(s);
    const Facts& f = s.facts;
    out += "<tr><td><a href=#" + anchor(i) + ">" + escaped(name_of_section(s)) +
           "</a></td><td class=" + (verdict == Verdict::none ? "soft" : class_of(verdict)) + ">" +
           sign_of(verdict) + " " + word_of(verdict) + "</td><td class=n>" +
           (f.compressed_bytes && f.original_bytes
                ? number(double(f.original_bytes) / double(f.compressed_bytes), 4)
                : "") +
           "</td><td class=n>" + number(s.assessment.max_error, 4) + " " + escaped(f.units) +
           "</td><td class=n>" + number(s.assessment.psnr(), 4) + "</td><td class=n>" +
           number(s.assessment.dssim, 7) + "</td></tr>";
  }
  out +=
      "</table></div><p class=soft>&#10003; good, &#9888; look closer, &#10007; not good. "
      "docs/QUALITY.md of leeway says what each number means and whose thresholds these are.</p>";
  for (const size_t i : order) out += section(sections[i], i);
  return out + "</main></body></html>\n";
}

}  // namespace leeway::report
