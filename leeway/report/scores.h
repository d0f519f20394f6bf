// SPDX-License-Identifier: BSD-3-Clause
// Scores: the numbers of an assessment by name, what they mean, and whether they pass; and
// requirements that a user has (docs/QUALITY.md says whose thresholds these are).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leeway/base/export.h"
#include "leeway/quality/assess.h"
#include "leeway/report/facts.h"

namespace leeway::report {

enum class Verdict { none, good, doubtful, bad };

struct Score {
  std::string name;  // short, for --require: "dssim"
  std::string key;   // in JSON; that of libpressio where it has one
  std::string label;
  double value = 0;
  Verdict verdict = Verdict::none;
  std::string chip{};   // what a chip says; empty: no chip
  std::string unit{};   // "%", "dB", "units" for those of the variable
  std::string limit{};  // from where on it is good, and who says so
};

std::vector<Score> scores_of(const Assessment& assessment, const Facts& facts);
// The worst verdict of all chips.
Verdict worst_of(const std::vector<Score>& scores);

struct Requirement {
  std::string name, op;  // ">=", ">", "<=", "<"
  double value = 0;
  std::string text;
};
// "dssim>=0.9995,r2>0.99999"; throws if there is no such score.
std::vector<Requirement> parse_requirements(std::string_view text);
// A score that is not defined meets no requirement.
bool meets(const Requirement& requirement, const std::vector<Score>& scores);

}  // namespace leeway::report
