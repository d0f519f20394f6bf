// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/report/panels.h"

#include <algorithm>
#include <cmath>

#include "leeway/report/colors.h"
#include "leeway/report/plot.h"
#include "leeway/report/text.h"

namespace leeway::report {
namespace {

double limit_of(const Section& s) {
  return s.facts.bound > 0 ? s.facts.bound : s.assessment.max_error;
}
std::string unit_of(const Section& s) {
  return s.facts.units.empty() ? "" : " (" + s.facts.units + ")";
}

struct Ends {
  double low = 0, high = 0;
};

Ends ends_of(const std::vector<float>& values) {
  Ends ends{INFINITY, -INFINITY};
  for (const float v : values)
    if (!std::isnan(v))
      ends.low = std::min(ends.low, double(v)), ends.high = std::max(ends.high, double(v));
  return ends.low <= ends.high ? ends : Ends{};
}

std::string figure(const std::string& what, const std::string& kind,
                   const std::vector<float>& values, const Picture& p, Ends ends, Palette palette) {
  return "<figure class=" + kind + "><img width=" + std::to_string(p.columns) +
         " height=" + std::to_string(p.rows) + " alt=\"" + escaped(what) + "\" src=\"" +
         picture_uri(values, p.rows, p.columns, ends.low, ends.high, palette) + "\"><figcaption>" +
         escaped(what) + "<div class=bar style=\"background:" + gradient_of(palette) +
         "\"></div><span class=ends><span>" + number(ends.low, 4) + "</span><span>" +
         number(ends.high, 4) + "</span></span></figcaption></figure>";
}

// Original, decoded and their difference; original and decoded in the same colors.
std::string trio(const Section& s, const Picture& p, const std::string& title,
                 const std::string& id) {
  if (p.rows == 0 || p.columns == 0) return "";
  const Ends values = ends_of(p.original), errors{-limit_of(s), limit_of(s)};
  std::string out =
      "<div><p>" + escaped(title) + " <span class=soft>from " +
      escaped(place_text(s.facts, s.assessment.shape, p.first)) +
      (p.step > 1 ? ", one value in " + std::to_string(p.step) + " along each axis" : "") +
      "</span></p>";
  if (!id.empty())
    out += "<input type=checkbox class=flicker id=" + id + "><label for=" + id +
           ">Flicker: show the decoded map in the place of the original, once a second</label>";
  const bool is_window = p.rows == p.columns && p.rows <= 64;
  return out + "<div class=\"trio" + (is_window ? " window" : "") + "\">" +
         figure("Original", "original", p.original, p, values, Palette::values) +
         figure("Decoded", "decoded", p.decoded, p, values, Palette::values) +
         figure("Original less decoded", "difference", p.error, p, errors, Palette::differences) +
         "</div></div>";
}

std::vector<double> numbers_to(size_t n, double step, double first) {
  std::vector<double> result;
  for (size_t i = 0; i < n; ++i) result.push_back(first + double(i) * step);
  return result;
}

// Of particles: how many pairs are how far apart, and how far they have come.
std::string particle_plots(const Assessment& a) {
  std::string out;
  const PairDistances& d = a.distances;
  if (const size_t n = d.original.size(); n > 0) {
    Plot plot("Distances of pairs of particles, first step", {"distance"}, {"pairs"});
    const double width = d.largest / double(n);
    const std::vector<double> x = numbers_to(n, width, width / 2),
                              before(d.original.begin(), d.original.end()),
                              after(d.decoded.begin(), d.decoded.end());
    plot.line(x, before, 1, "original");
    plot.line(x, after, 2, "decoded");
    out += plot.svg();
  }
  if (a.particles && !a.time.displacement_original.empty()) {
    Plot plot("Mean square displacement since the first step", {"step"}, {"per coordinate"});
    const std::vector<double> x = numbers_to(a.time.displacement_original.size(), 1, 0);
    plot.line(x, a.time.displacement_original, 1, "original");
    plot.line(x, a.time.displacement_decoded, 2, "decoded");
    out += plot.svg();
  }
  return out;
}

// Where errors are large, over all maps.
std::string error_map(const Section& s) {
  const ErrorMap& map = s.assessment.error_map;
  if (map.rows < 2 || map.columns < 2) return "";
  std::vector<float> values;
  double most = 0;
  for (size_t i = 0; i < map.squares.size(); ++i) {
    const double rms = std::sqrt(map.squares[i] / map.counts[i]);  // NaN where nothing is ordinary
    values.push_back(float(rms));
    if (rms > most) most = rms;
  }
  Picture p;
  p.rows = map.rows, p.columns = map.columns;
  return figure("RMS of the errors by place, over all maps" +
                    (map.step > 1 ? ", in cells of " + std::to_string(map.step) + " x " +
                                        std::to_string(map.step)
                                  : std::string()),
                "rms", values, p, {0, most}, Palette::counts);
}

}  // namespace

std::string pictures(const Section& s, const std::string& id) {
  const Assessment& a = s.assessment;
  if (a.worst.rows < 2) {  // a line
    Plot plot("Values", {"index from " + place_text({}, a.shape, a.worst.first)},
              {"value" + unit_of(s)});
    const std::vector<double> x = numbers_to(a.worst.columns, double(a.worst.step), 0),
                              before(a.worst.original.begin(), a.worst.original.end()),
                              after(a.worst.decoded.begin(), a.worst.decoded.end());
    plot.line(x, before, 1, "original");
    plot.line(x, after, 2, "decoded");
    return "<div class=plots>" + plot.svg() + "</div>";
  }
  std::string out = trio(s, a.worst, "The map with the largest RMS error", id + "f");
  out += trio(s, a.around_error, "Around the largest error", id + "e");
  out += trio(s, a.around_gradient, "Around the steepest gradient of that map", id + "g");
  if (a.slices.empty()) return out;
  out +=
      "<p>Other maps: original, and original less decoded</p><div class=slices tabindex=0 "
      "role=region aria-label=\"Other maps\">";
  for (const Picture& p : a.slices) {
    const double limit = limit_of(s);
    out += "<div>" +
           figure("Original " + place_text(s.facts, a.shape, p.first), "original", p.original, p,
                  ends_of(p.original), Palette::values) +
           figure("Difference", "difference", p.error, p, {-limit, limit}, Palette::differences) +
           "</div>";
  }
  return out + "</div>";
}

std::string error_plots(const Section& s) {
  const Assessment& a = s.assessment;
  const Distribution& d = a.distribution;
  const double limit = d.limit, bins = double(d.histogram.size());
  if (!(limit > 0)) return "<p>No value differs.</p>";
  Plot histogram("Errors, with the bound", {"original less decoded" + unit_of(s)},
                 {"values", true});
  std::vector<double> counts(d.histogram.begin(), d.histogram.end());
  histogram.bars(numbers_to(counts.size(), 2 * limit / bins, -limit + limit / bins), counts, 1);
  histogram.vertical(-limit), histogram.vertical(limit);
  histogram.y_range(0.5, 1);
  Plot quantiles("Quantiles of errors against a uniform distribution", {"uniform" + unit_of(s)},
                 {"errors" + unit_of(s)});
  const size_t n = d.error_quantiles.size();
  const std::vector<double> uniform =
      numbers_to(n, 2 * limit / double(n), -limit + limit / double(n));
  quantiles.line(uniform, uniform, 5, "uniform");
  quantiles.line(uniform, d.error_quantiles, 1, "errors");
  return histogram.svg() + quantiles.svg();
}

std::string structure_plots(const Section& s) {
  const Assessment& a = s.assessment;
  Plot lags("Correlation of errors with those further along", {"grid points"}, {"correlation"});
  const std::vector<double> x = numbers_to(kLags, 1, 1);
  lags.band(-0.1, 0.1);
  lags.y_range(-0.3, 0.3);
  lags.line(x, a.along_rows, 1, "along rows", true);
  if (!std::isnan(a.along_columns[0])) lags.line(x, a.along_columns, 2, "along columns", true);
  std::vector<float> counts;
  double most = 0;
  constexpr size_t kX = Assessment::kScatterColumns, kY = Assessment::kScatterRows;
  for (size_t row = kY; row-- > 0;)
    for (size_t column = 0; column < kX; ++column) {
      const double v = std::log10(1 + double(a.scatter[row * kX + column]));
      most = std::max(most, v);
      counts.push_back(v > 0 ? float(v) : 0);
    }
  Picture p;
  p.rows = kY, p.columns = kX;
  return lags.svg() +
         figure("Values (across, " + number(a.moments.min_x()) + " to " +
                    number(a.moments.max_x()) + ") and their errors (up, " +
                    number(-a.distribution.limit) + " to " + number(a.distribution.limit) +
                    "); the colors are log10(1 + count)",
                "counts", counts, p, {0, most}, Palette::counts) +
         error_map(s);
}

std::string spectrum_plots(const Section& s) {
  const Spectra& p = s.assessment.spectra;
  const size_t n = p.original.size();
  const std::vector<double> k = numbers_to(n, 1 / double(n), 0.5 / double(n));
  std::vector<double> ratio;
  for (size_t i = 0; i < n; ++i)
    ratio.push_back(p.original[i] > 0 ? std::clamp(p.decoded[i] / p.original[i], 0.9, 1.1) : NAN);
  Plot power("Power spectra", {"wave number, of Nyquist's", true}, {"power", true});
  power.line(k, p.original, 1, "original");
  power.line(k, p.decoded, 2, "decoded");
  power.line(k, p.error, 5, "error");
  Plot relation("Power, decoded over original, and 1 %", {"wave number, of Nyquist's"},
                {"ratio, cut at 0.9 and 1.1"});
  relation.band(0.99, 1.01);
  relation.y_range(0.98, 1.02);
  relation.line(k, ratio, 1);
  return power.svg() + relation.svg();
}

std::string statistics_table(const Section& s) {
  const Assessment& a = s.assessment;
  std::string out =
      "<div class=wide><table><tr><th></th><th class=n>Original</th><th class=n>Decoded</th><th "
      "class=n>Change</th></tr>";
  const auto line = [&](const std::string& name, double before, double after, double change) {
    out += "<tr><th scope=row>" + name + "</th><td class=n>" + number(before, 8) +
           "</td><td class=n>" + number(after, 8) + "</td><td class=n>" + number(change, 3) +
           "</td></tr>";
  };
  const PairMoments& m = a.moments;
  const double n = double(m.count());
  line("Mean", m.mean_x(), m.mean_y(), -m.mean_e());
  if (!std::isnan(a.weighted_mean))
    line("Mean, weighted by area", a.weighted_mean, a.weighted_mean - a.weighted_error,
         -a.weighted_error);
  line("Sum", m.mean_x() * n, m.mean_y() * n, -m.mean_e() * n);
  line("Standard deviation", std::sqrt(m.variance_x()), std::sqrt(m.variance_y()),
       std::sqrt(m.variance_y()) - std::sqrt(m.variance_x()));
  line("Minimum", m.min_x(), m.min_y(), m.min_y() - m.min_x());
  for (size_t i = 0; i < kQuantiles.size(); ++i)
    line("Quantile " + percent(kQuantiles[i]), a.distribution.original[i],
         a.distribution.decoded[i], a.distribution.decoded[i] - a.distribution.original[i]);
  line("Maximum", m.max_x(), m.max_y(), m.max_y() - m.max_x());
  return out + "</table></div>";
}

std::string slice_plots(const Section& s) {
  const Assessment& a = s.assessment;
  const std::vector<double> x = numbers_to(a.slice_means_original.size(), 1, 0);
  Plot means("Means of slices along the first axis", {"slice"}, {"mean" + unit_of(s)});
  means.line(x, a.slice_means_original, 1, "original");
  means.line(x, a.slice_means_decoded, 2, "decoded");
  std::vector<double> change;
  for (size_t i = 0; i < x.size(); ++i)
    change.push_back(a.slice_means_decoded[i] - a.slice_means_original[i]);
  Plot changes("Change of the means", {"slice"}, {"decoded less original" + unit_of(s)});
  changes.line(x, change, 1);
  return means.svg() + changes.svg();
}

std::string feature_table(const Section& s) {
  const Assessment& a = s.assessment;
  std::string out =
      "<div class=wide><table><tr><th></th><th class=n>Original</th><th class=n>Decoded</th><th "
      "class=n>Change</th></tr>";
  const auto line = [&](const std::string& what, double before, double after) {
    const bool is_count = before == std::floor(before) && after == std::floor(after);
    const auto text = [&](double v) {
      return is_count && v >= 0 && v < 0x1p63 ? count(u64(v)) : number(v, 6);
    };
    out += "<tr><th scope=row>" + escaped(what) + "</th><td class=n>" + text(before) +
           "</td><td class=n>" + text(after) + "</td><td class=n>" +
           (before != 0 ? percent(after / before - 1) : "") + "</td></tr>";
  };
  for (const Feature& f : a.features)
    line(f.what + (std::isnan(f.level) ? ""
                                       : " " + number(f.level, 6) +
                                             (s.facts.units.empty() ? "" : " " + s.facts.units)),
         f.original, f.decoded);
  line("Local extrema", double(a.differences.extrema_before), double(a.differences.extrema_after));
  out += "</table></div>";
  if (a.deep_step > 1)
    out += "<p class=soft>Contours, peaks, differences and extrema: of one map in " +
           std::to_string(a.deep_step) + ".</p>";
  const std::string plots = particle_plots(a);
  return plots.empty() ? out : out + "<div class=plots>" + plots + "</div>";
}

std::string rate_plots(const Section& s) {
  Plot psnr("Rate and distortion, tried on a part", {"bits per value"}, {"PSNR (dB)"}),
      gain("Accuracy gain, tried on a part", {"bits per value"}, {"bits"});
  int color = 0;
  for (size_t i = 0; i < s.rates.size();) {
    const std::string& preset = s.rates[i].preset;
    std::vector<double> bits, decibel, gains;
    for (; i < s.rates.size() && s.rates[i].preset == preset; ++i)
      bits.push_back(s.rates[i].bits), decibel.push_back(s.rates[i].psnr),
          gains.push_back(s.rates[i].accuracy_gain);
    ++color;
    psnr.line(bits, decibel, color, preset, true);
    gain.line(bits, gains, color, preset, true);
  }
  return psnr.svg() + gain.svg();
}

std::string rate_table(const Section& s) {
  std::string out =
      "<div class=wide><table><caption>What a looser or a tighter bound would "
      "cost</caption><tr><th class=n>Bound</th><th>Preset</th><th class=n>Bits per value</th><th "
      "class=n>PSNR (dB)</th></tr>";
  for (const RatePoint& p : s.rates)
    if (p.preset == "small" || p.preset == "fast")
      out += "<tr><td class=n>" + number(p.bound, 4) + "</td><td>" + p.preset +
             "</td><td class=n>" + number(p.bits, 4) + "</td><td class=n>" + number(p.psnr, 4) +
             "</td></tr>";
  return out + "</table></div>";
}

}  // namespace leeway::report
