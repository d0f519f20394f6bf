// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/report/profile.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "leeway/choose/advise.h"
#include "leeway/quality/distribution.h"
#include "leeway/quality/moments.h"
#include "leeway/stage/fills.h"

namespace leeway::report {
namespace {

constexpr const char* kProfiles[] = {"generic",   "climate",   "turbulence",
                                     "cosmology", "particles", "image"};
constexpr u64 kLookedAt = u64(1) << 18;

// The ordinary values of a part of the original.
std::vector<double> some_values(const Pair& pair) {
  std::vector<double> values;
  if (pair.shape.size() == 0) return values;
  const Part part = pair.original.read(middle_box(pair.shape, kLookedAt));
  visit_dtype(part.view.dtype, [&]<class T>(std::type_identity<T>) {
    const Fills<T> fills(pair.original.fills);
    for_each_outer(part.view.shape, 0, [&](const Index& index) {
      T value;
      std::memcpy(&value, part.view.at(index), sizeof value);
      if (!fills.has(value) && std::isfinite(double(value))) values.push_back(double(value));
    });
  });
  return values;
}

std::vector<double> ends_of_type(DType dtype) {
  return visit_dtype(dtype, []<class T>(std::type_identity<T>) -> std::vector<double> {
    if constexpr (std::is_integral_v<T>)
      return {double(std::numeric_limits<T>::min()), double(std::numeric_limits<T>::max())};
    else
      return {0, 1};
  });
}

// Wet and very wet days (1 and 20 mm), frost and summer (0 and 25 degrees Celsius).
std::vector<double> climate_levels(const Facts& facts) {
  const auto has = [&](const std::string& text, const char* word) {
    return text.find(word) != text.npos;
  };
  const bool is_rain =
      facts.name.starts_with("pr") || facts.name == "tp" ||
      std::ranges::any_of(std::array{facts.standard_name, facts.long_name}, [&](const auto& text) {
        return has(text, "precipitation") || has(text, "rainfall");
      });
  const std::string& units = facts.units;
  if (is_rain && (units.starts_with("kg m") || units.starts_with("kg/m")) && has(units, "s"))
    return {1.0 / 86400, 20.0 / 86400};
  if (is_rain && units.starts_with("mm")) return {1, 20};
  if (is_rain && units == "m") return {1e-3, 20e-3};
  if (units == "K" && has(facts.standard_name + facts.long_name, "emperature"))
    return {273.15, 298.15};
  return {};
}

}  // namespace

std::string profile_names() {
  std::string names;
  for (const char* name : kProfiles) names += (names.empty() ? "" : ", ") + std::string(name);
  return names;
}

Profile parse_profile(std::string_view name) {
  const auto found = std::ranges::find(kProfiles, name);
  if (found == std::end(kProfiles))
    fail_argument("there is no profile '" + std::string(name) + "'; there are " + profile_names());
  return Profile(found - std::begin(kProfiles));
}

FeatureAim feature_aim(Profile profile, const std::vector<double>& levels, const Facts& facts,
                       const Pair& pair) {
  FeatureAim aim{profile, levels};
  if (profile == Profile::climate && levels.empty()) aim.levels = climate_levels(facts);
  if (!aim.levels.empty()) return aim;
  if (aim.profile == Profile::image) {
    aim.levels = ends_of_type(pair.original.dtype);
    return aim;
  }
  std::vector<double> values = some_values(pair);
  if (values.empty()) return aim;
  if (aim.profile == Profile::cosmology) {
    CompensatedSum sum;
    for (const double v : values) sum.add(v);
    // Particles of a halo lie where the density is some 80 times the mean [Davis et al. 1985].
    for (const double factor : {1.0, 10.0, 81.66})
      aim.levels.push_back(factor * sum.value() / double(values.size()));
    return aim;
  }
  std::ranges::sort(values);
  for (const double part : {0.5, 0.9, 0.99}) aim.levels.push_back(quantile(values, part));
  aim.levels.erase(std::unique(aim.levels.begin(), aim.levels.end()), aim.levels.end());
  return aim;
}

}  // namespace leeway::report
