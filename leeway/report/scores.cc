// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/report/scores.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "leeway/report/text.h"

namespace leeway::report {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// Good from one threshold on, doubtful from another.
Verdict at_least(double value, double good, double doubtful) {
  if (std::isnan(value)) return Verdict::none;
  return value >= good ? Verdict::good : value >= doubtful ? Verdict::doubtful : Verdict::bad;
}
Verdict below(double value, double good, double doubtful) {
  if (std::isnan(value)) return Verdict::none;
  return value < good ? Verdict::good : value < doubtful ? Verdict::doubtful : Verdict::bad;
}

// As many values as would be independent, if errors hang together with their neighbours.
double effective_count(const Assessment& a) {
  double count = double(a.moments.count());
  for (const double rho : {a.along_rows[0], a.along_columns[0]})
    if (!std::isnan(rho)) count *= std::clamp((1 - rho) / (1 + rho), 1e-6, 1.0);
  return std::max(count, 1.0);
}

Verdict bias_verdict(const Assessment& a) {
  if (a.moments.count() == 0) return Verdict::none;
  const double allowed = 3 * std::sqrt(a.moments.variance_e() / effective_count(a));
  // A hundredth of the largest error is no bias that matters, however sure it is.
  return std::abs(a.moments.mean_e()) <= std::max(allowed, 0.01 * a.max_error) ? Verdict::good
                                                                               : Verdict::doubtful;
}

double larger_first_lag(const Assessment& a) {
  double largest = kNone;
  for (const double rho : {a.along_rows[0], a.along_columns[0]})
    if (!std::isnan(rho))
      largest = std::isnan(largest) ? std::abs(rho) : std::max(largest, std::abs(rho));
  return largest;
}

double gradient_error(const Assessment& a) {
  const PairMoments& g = a.differences.gradient;
  return g.count() > 0 && g.mean_square_x() > 0 ? std::sqrt(g.mean_square_e() / g.mean_square_x())
                                                : kNone;
}

double part_of(u64 some, u64 all) { return all ? double(some) / double(all) : 0; }

void add_values(std::vector<Score>& out, const Assessment& a, const Facts& facts) {
  const PairMoments& m = a.moments;
  const double bytes = double(std::max<u64>(facts.compressed_bytes, 1));
  const bool has_size = facts.original_bytes > 0 && facts.compressed_bytes > 0;
  out.push_back({"ratio", "size:compression_ratio", "Compression ratio",
                 has_size ? double(facts.original_bytes) / bytes : kNone});
  out.push_back({"bits", "size:bit_rate", "Bits per value",
                 has_size && a.values ? 8 * bytes / double(a.values) : kNone});
  const double pass = facts.bound > 0 ? (a.max_error <= facts.bound ? 1 : 0) : kNone;
  out.push_back({"max_abs", "error_stat:max_error", "Largest error", a.max_error,
                 std::isnan(pass) ? Verdict::none
                 : pass > 0       ? Verdict::good
                                  : Verdict::bad,
                 std::isnan(pass) ? ""
                 : pass > 0       ? "bound kept"
                                  : "bound broken",
                 "units"});
  out.push_back({"special_mismatches", "leeway:special_mismatches", "Special values that differ",
                 double(a.mismatches), a.mismatches == 0 ? Verdict::good : Verdict::bad,
                 a.mismatches == 0 ? "special values" : "special values differ"});
  const bool has_minimum = m.count() > 0 && m.min_x() >= 0;
  out.push_back({"new_negative", "leeway:new_negative", "Values below zero that were not",
                 double(a.new_negative),
                 !has_minimum          ? Verdict::none
                 : a.new_negative == 0 ? Verdict::good
                                       : Verdict::doubtful,
                 !has_minimum          ? ""
                 : a.new_negative == 0 ? "none below zero"
                                       : "new values below zero"});
  out.push_back(
      {"lost_zeros", "leeway:lost_zeros", "Zeros that are zeros no more", double(a.lost_zeros)});
  out.push_back({"max_rel", "error_stat:max_rel_error", "Largest error, of the range",
                 a.range() > 0 ? a.max_error / a.range() : 0});
  out.push_back({"max_pointwise", "error_stat:max_pw_rel_error",
                 "Largest error, of the value itself", a.max_pointwise});
  out.push_back({"values", "error_stat:n", "Values", double(a.values)});
  out.push_back({"min", "error_stat:value_min", "Minimum", m.min_x(), Verdict::none, "", "units"});
  out.push_back({"max", "error_stat:value_max", "Maximum", m.max_x(), Verdict::none, "", "units"});
  out.push_back({"mean", "error_stat:value_mean", "Mean", m.mean_x(), Verdict::none, "", "units"});
  out.push_back({"std", "error_stat:value_std", "Standard deviation", std::sqrt(m.variance_x()),
                 Verdict::none, "", "units"});
}

void add_standard(std::vector<Score>& out, const Assessment& a) {
  const PairMoments& m = a.moments;
  out.push_back({"area_mean", "leeway:area_mean", "Mean, weighted by area", a.weighted_mean,
                 Verdict::none, "", "units"});
  out.push_back({"area_bias", "leeway:area_bias", "Mean error, weighted by area", a.weighted_error,
                 Verdict::none, "", "units"});
  out.push_back({"bias", "error_stat:average_difference", "Mean error (bias)", m.mean_e(),
                 bias_verdict(a), "bias", "units", "within 3 standard errors"});
  out.push_back({"rmse", "error_stat:rmse", "RMSE", a.rmse(), Verdict::none, "", "units"});
  out.push_back(
      {"nrmse", "leeway:nrmse", "RMSE, of the range", a.range() > 0 ? a.rmse() / a.range() : 0});
  out.push_back({"psnr", "error_stat:psnr", "PSNR", a.psnr(), Verdict::none, "", "dB"});
  out.push_back({"pearson_gap", "leeway:one_minus_pearson", "1 - Pearson's r",
                 m.one_minus_correlation(), below(m.one_minus_correlation(), 1e-5, 1e-3),
                 "correlation", "", "below 1e-5, enstools"});
  out.push_back({"pearson", "pearson:r", "Pearson's r", 1 - m.one_minus_correlation()});
  out.push_back(
      {"r2_gap", "leeway:one_minus_r2", "1 - R^2 of a linear regression", a.r_squared_gap()});
  out.push_back({"r2", "pearson:r2", "R^2 of a linear regression", 1 - a.r_squared_gap(),
                 at_least(1 - a.r_squared_gap(), 0.99999, 0.999), "R^2", "",
                 "above 0.99999, Baker et al."});
  out.push_back({"sre", "spatial_error:percent", "Values off by more than 1e-4 of themselves",
                 100 * a.relative_beyond_part(), below(100 * a.relative_beyond_part(), 5, 20),
                 "spatial relative error", "%", "below 5 %, Baker et al."});
  out.push_back({"dssim", "leeway:dssim", "Data SSIM, worst map", a.dssim,
                 at_least(a.dssim, 0.9995, 0.99), std::isnan(a.dssim) ? "" : "data SSIM", "",
                 "from 0.9995 on, ldcpy"});
  out.push_back({"dssim_mean", "leeway:dssim_mean", "Data SSIM, mean of maps", a.dssim_mean});
  const Distribution& d = a.distribution;
  out.push_back({"ks", "ks_test:d", "K-S distance", d.ks_distance,
                 below(d.ks_distance, 0.001, 0.01), "distribution", "", "below 0.001"});
  out.push_back({"ks_p", "ks_test:pvalue", "K-S probability", d.ks_probability});
  out.push_back({"wasserstein", "leeway:wasserstein", "Wasserstein distance", d.wasserstein,
                 Verdict::none, "", "units"});
}

void add_structure(std::vector<Score>& out, const Assessment& a) {
  const double rho = larger_first_lag(a),
               limit = a.spectra.original.empty() ? kNone : a.spectrum_limit();
  out.push_back({"error_std", "leeway:error_std", "Standard deviation of the error",
                 std::sqrt(a.moments.variance_e()), Verdict::none, "", "units"});
  out.push_back(
      {"skewness", "leeway:error_skewness", "Skewness of the error", a.moments.skewness_e()});
  out.push_back(
      {"kurtosis", "leeway:error_kurtosis", "Kurtosis of the error", a.moments.kurtosis_e()});
  out.push_back({"error_rho1", "leeway:error_autocorrelation", "Correlation of neighbouring errors",
                 rho, below(rho, 0.1, 0.3), std::isnan(rho) ? "" : "error structure", "",
                 "below 0.1"});
  out.push_back({"spectrum", "leeway:spectrum_limit", "Spectrum within 1 % up to (of Nyquist)",
                 limit, at_least(limit, 0.5, 0.25), std::isnan(limit) ? "" : "spectrum", "",
                 "from 0.5 on"});
  const double gradient = gradient_error(a);
  out.push_back({"gradient", "leeway:gradient_error", "Error of gradients, of their RMS",
                 100 * gradient, below(gradient, 0.01, 0.1),
                 std::isnan(gradient) ? "" : "gradients", "%", "below 1 %"});
  out.push_back({"gradient_gap", "leeway:one_minus_gradient_pearson", "1 - r of gradients",
                 a.differences.gradient.one_minus_correlation()});
  out.push_back({"flipped", "leeway:flipped_differences", "Differences whose sign has changed",
                 100 * part_of(a.differences.flipped, a.differences.pairs), Verdict::none, "",
                 "%"});
  out.push_back({"flattened", "leeway:flattened_differences", "Differences that became zero",
                 100 * part_of(a.differences.flattened, a.differences.pairs), Verdict::none, "",
                 "%"});
  out.push_back({"extrema", "leeway:local_extrema", "Local extrema, decoded over original",
                 a.differences.extrema_before
                     ? double(a.differences.extrema_after) / double(a.differences.extrema_before)
                     : kNone});
  if (a.time.points > 0) {
    out.push_back({"lag1_change", "leeway:lag1_change",
                   "Largest change of lag-1 correlation in time", a.time.lag1_change});
    out.push_back({"time_variance", "leeway:time_change_variance",
                   "Variance of changes in time, decoded over original",
                   a.time.change_variance_ratio});
  }
}

}  // namespace

std::vector<Score> scores_of(const Assessment& assessment, const Facts& facts) {
  std::vector<Score> scores;
  add_values(scores, assessment, facts);
  add_standard(scores, assessment);
  add_structure(scores, assessment);
  return scores;
}

Verdict worst_of(const std::vector<Score>& scores) {
  Verdict worst = Verdict::none;
  for (const Score& score : scores) worst = std::max(worst, score.verdict);
  return worst;
}

std::vector<Requirement> parse_requirements(std::string_view text) {
  // The names of all scores, whatever the data is.
  Assessment any;
  any.time.points = 1;
  const std::vector<Score> known = scores_of(any, {});
  std::vector<Requirement> result;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    const size_t at = item.find_first_of("<>");
    const size_t value_at = at == item.npos ? at : item.find_first_not_of("<>=", at);
    Requirement r;
    r.text = item;
    bool fine = value_at != item.npos;
    if (fine) {
      r.name = item.substr(0, at), r.op = item.substr(at, value_at - at);
      const auto end = std::from_chars(item.data() + value_at, item.data() + item.size(), r.value);
      fine = end.ec == std::errc() && end.ptr == item.data() + item.size() &&
             (r.op == ">=" || r.op == ">" || r.op == "<=" || r.op == "<");
    }
    if (!fine)
      fail_argument("'" + std::string(item) + "' is no requirement; write it like dssim>=0.9995");
    if (std::ranges::find(known, r.name, &Score::name) == known.end()) {
      std::string names;
      for (const Score& score : known) names += (names.empty() ? "" : ", ") + score.name;
      fail_argument("there is no score '" + r.name + "'; there are " + names);
    }
    result.push_back(r);
  }
  return result;
}

bool meets(const Requirement& r, const std::vector<Score>& scores) {
  const auto score = std::ranges::find(scores, r.name, &Score::name);
  if (score == scores.end()) return false;
  const double v = score->value;
  return r.op == ">="   ? v >= r.value
         : r.op == ">"  ? v > r.value
         : r.op == "<=" ? v <= r.value
                        : v < r.value;
}

}  // namespace leeway::report
