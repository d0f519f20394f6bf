// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/report/suggest.h"

#include <algorithm>
#include <cmath>

#include "leeway/choose/advise.h"
#include "leeway/leeway.hpp"
#include "leeway/report/text.h"

namespace leeway::report {
namespace {

constexpr u64 kTrialValues = u64(1) << 18, kCheckedValues = u64(1) << 24;

// Whole maps, if they are not too large, spread over the other axes; else a part of the middle.
View trial_part(const View& array, u64 most) {
  const View all = array.squeezed();
  const size_t rank = all.shape.rank();
  if (all.shape.size() <= most || rank < 3) return all.part(middle_box(all.shape, most));
  std::array<u64, kMaxRank> extents;
  std::ranges::copy(all.shape.extents(), extents.begin());
  const u64 map = extents[rank - 1] * extents[rank - 2];
  if (map > most) return all.part(middle_box(all.shape, most));
  Strides strides = all.strides;
  u64 others = all.shape.size() / map;
  for (size_t axis = 0; axis + 2 < rank; ++axis) {
    // As many indices of this axis as there is room for, evenly spread.
    const u64 room =
        std::max<u64>(1, u64(double(extents[axis]) * double(most / map) / double(others)));
    const u64 kept = std::min(extents[axis], room), step = extents[axis] / kept;
    others = others / extents[axis] * kept;
    extents[axis] = kept, strides[axis] *= std::ptrdiff_t(step);
  }
  return {all.data, all.dtype, Shape(std::span<const u64>(extents).first(rank)), strides};
}

// Compressed, decoded and judged.
class Trial {
 public:
  Trial(const View& array, const std::vector<u64>& fills, std::string recipe,
        const Execution& execution, u64 most)
      : part_(trial_part(array, most)) {
    options_.fill_bits = fills;
    options_.detect_fills = false;
    options_.recipe = std::move(recipe);
    options_.execution.threads = execution.threads;
    judging_.picture_side = 1, judging_.slices = 0;
    judging_.execution.threads = execution.threads;
  }
  const View& part() const { return part_; }

  std::vector<Score> scores(const Bound& bound) {
    options_.bound = bound;
    const Bytes stream = compress(part_, options_);
    const Array decoded = decompress(stream, reading());
    const View view(decoded.data(), decoded.dtype(), decoded.shape());
    Facts facts;
    facts.original_bytes = part_.shape.size() * size_of(part_.dtype);
    facts.compressed_bytes = stream.size();
    return scores_of(assess(pair_of(part_, view, options_.fill_bits), judging_), facts);
  }

 private:
  DecompressOptions reading() const {
    DecompressOptions options;
    options.execution = options_.execution;
    return options;
  }
  View part_;
  CompressOptions options_;
  AssessOptions judging_;
};

double value_of(const std::vector<Score>& scores, std::string_view name) {
  return std::ranges::find(scores, name, &Score::name)->value;
}

// Two digits, never more than the number: a bound that people can read.
double readable(double bound) {
  if (!(bound > 0)) return 0;
  const double power = std::pow(10.0, std::floor(std::log10(bound)) - 1);
  return std::stod(number(std::floor(bound / power + 1e-9) * power, 2));
}

// The largest of a row of bounds, each 2^(1/3) of the next smaller one, that is fine; 0: none is.
template <class IsFine>
double largest_fine(double low, double high, const IsFine& is_fine) {
  if (!(high > low) || !(low > 0)) return 0;
  int good = -1, bad = int(std::ceil(3 * std::log2(high / low))) + 1;
  const auto at = [&](int k) { return low * std::exp2(double(k) / 3); };
  if (!is_fine(at(0))) return 0;
  good = 0;
  while (bad - good > 1) {
    const int middle = (good + bad) / 2;
    (is_fine(at(middle)) ? good : bad) = middle;
  }
  return at(good);
}

bool keeps_quality(const std::vector<Score>& scores) {
  const double dssim = value_of(scores, "dssim");
  return value_of(scores, "pearson_gap") <= 1e-5 && (std::isnan(dssim) || dssim >= 0.9995);
}

void expect(Suggestion& s, Trial& trial) {
  const std::vector<Score> scores = trial.scores(s.bound);
  s.ratio = value_of(scores, "ratio"), s.psnr = value_of(scores, "psnr");
  s.dssim = value_of(scores, "dssim"), s.pearson_gap = value_of(scores, "pearson_gap");
}

}  // namespace

Advised suggest(const View& array, const std::vector<u64>& fills, const std::string& recipe,
                const Execution& execution, bool may_be_pointwise) {
  Advised result;
  Precision& p = result.precision = precision_of(array, fills);
  p.wants_pointwise &= may_be_pointwise;
  const double range = p.max - p.min;
  if (p.values == 0 || !(range > 0)) {
    result.suggestions.push_back({"quality", "there is nothing but a constant", Bound::lossless()});
    return result;
  }
  Trial trial(array, fills, recipe, execution, kTrialValues);
  // Smaller bounds would only store digits that the numbers do not have.
  const double floor = p.step / 2;
  const double quality =
      std::max(readable(largest_fine(
                   range * 1e-9, range / 4,
                   [&](double bound) { return keeps_quality(trial.scores(Bound::abs(bound))); })),
               floor);
  const auto add = [&](const char* by, const std::string& why, const Bound& bound) {
    result.suggestions.push_back({by, why, bound});
    expect(result.suggestions.back(), trial);
  };
  if (quality > 0)
    add("quality", "the largest bound with data SSIM >= 0.9995 and 1 - r <= 1e-5",
        Bound::abs(quality));
  if (p.mantissa_bits > 0) {
    const double relative = readable(std::exp2(-double(p.informative_bits) - 1));
    const std::string why = "the first " + std::to_string(p.informative_bits) +
                            " mantissa bits hold 99 % of what neighbours share";
    if (p.wants_pointwise)
      add("information", why, Bound::pointwise(std::max(relative, 1e-7)));
    else
      add("information", why + ", at the median size of the values",
          Bound::abs(std::max(readable(relative * p.median_size), floor > 0 ? floor : 1e-290)));
  }
  if (p.noise > 0)
    add("noise", "a tenth of the noise, whose standard deviation is " + number(p.noise, 3),
        Bound::abs(std::max(readable(p.noise / 10), floor)));
  if (result.suggestions.empty())
    result.suggestions.push_back({"quality", "no bound keeps the quality", Bound::lossless()});
  // The tightest absolute one that has a reason in the data: quality and noise.
  for (size_t i = 0; i < result.suggestions.size(); ++i) {
    const Suggestion &s = result.suggestions[i], &best = result.suggestions[result.best];
    if (p.wants_pointwise
            ? s.by == "information"
            : s.by == "noise" && s.bound.limits()[0].value < best.bound.limits()[0].value)
      result.best = i;
  }
  return result;
}

Requirement parse_want(std::string_view text) {
  const auto percent_of = [&](std::string_view value) {
    Requirement r =
        parse_requirements("gradient<=" + std::string(value.substr(0, value.find('%'))))[0];
    if (value.find('%') == value.npos)
      fail_argument("'" + std::string(text) + "' needs a percentage, like gradient=1%");
    return r;
  };
  Requirement wanted;
  if (text.starts_with("gradient=")) {
    wanted = percent_of(text.substr(9));
  } else if (text.starts_with("spectrum=")) {
    std::string_view rest = text.substr(9);
    if (!rest.starts_with("1%@") || !rest.ends_with("nyquist"))
      fail_argument("'" + std::string(text) +
                    "' is not known; write it like spectrum=1%@0.5nyquist");
    rest = rest.substr(3, rest.size() - 3 - 7);
    wanted = parse_requirements("spectrum>=" + std::string(rest))[0];
  } else if (const size_t equals = text.find('=');
             equals != text.npos && text.find_first_of("<>") == text.npos) {
    const std::string name(text.substr(0, equals)), value(text.substr(equals + 1));
    const bool is_gap = name.ends_with("gap") || name == "max_abs" || name == "rmse" ||
                        name == "nrmse" || name == "sre" || name == "ks" || name == "wasserstein";
    wanted = parse_requirements(name + (is_gap ? "<=" : ">=") + value)[0];
  } else {
    wanted = parse_requirements(text)[0];
  }
  wanted.text = text;
  return wanted;
}

std::optional<Suggestion> bound_for(const View& array, const std::vector<u64>& fills,
                                    const std::vector<Requirement>& wants,
                                    const std::string& recipe, const Execution& execution) {
  const Precision p = precision_of(array, fills);
  const double range = p.max - p.min;
  if (p.values == 0 || !(range > 0)) return std::nullopt;
  const auto fine = [&](Trial& trial, double bound) {
    const std::vector<Score> scores = trial.scores(Bound::abs(bound));
    return std::ranges::all_of(wants, [&](const Requirement& r) { return meets(r, scores); });
  };
  // A ratio is reached from some bound on, all else up to some bound.
  const bool wants_size =
      std::ranges::any_of(wants, [](const Requirement& r) { return r.name == "ratio"; });
  Trial trial(array, fills, recipe, execution, wants_size ? kTrialValues * 4 : kTrialValues);
  double bound = 0;
  if (wants_size) {
    const auto too_small = [&](double b) {
      const std::vector<Score> scores = trial.scores(Bound::abs(b));
      return std::ranges::any_of(
          wants, [&](const Requirement& r) { return r.name == "ratio" && !meets(r, scores); });
    };
    const double below = largest_fine(range * 1e-9, range / 2, too_small);
    bound = below > 0 ? below * std::exp2(1.0 / 3) : range * 1e-9;
    if (!fine(trial, bound)) return std::nullopt;
  } else {
    bound =
        readable(largest_fine(range * 1e-9, range / 2, [&](double b) { return fine(trial, b); }));
  }
  if (!(bound > 0)) return std::nullopt;
  if (array.shape.size() <= kCheckedValues && !wants_size) {
    Trial whole(array, fills, recipe, execution, kCheckedValues);
    while (bound > range * 1e-9 && !fine(whole, bound)) bound = readable(bound / 1.2);
    if (!(bound > range * 1e-9)) return std::nullopt;
  }
  Suggestion found{"requirement", "the largest bound that meets what is wanted", Bound::abs(bound)};
  expect(found, trial);
  return found;
}

}  // namespace leeway::report
