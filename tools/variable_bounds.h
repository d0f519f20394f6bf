// SPDX-License-Identifier: BSD-3-Clause
// Which variables of a file are compressed, and how much error each may have.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "leeway/derived/part_rules.h"
#include "leeway/stage/bound.h"

namespace leeway::cli::h5 {
class File;
}

namespace leeway::cli {

// What is asked of a variable, or of all whose names match a pattern.
struct OwnBound {
  std::string name;
  Bound bound;
  std::string recipe;  // empty: that of all
  derived::PartRules rules{};
};

// "abs:0.01", "abs:5,psnr:60", "lossless", "abs:1e-6,keep:zeros,min:0"; says whether it is one.
bool parse_bound(std::string_view text, OwnBound& own);
// "t=abs:0.01", "q=rel:1e-4", "z=abs:5,psnr:60", "mask=lossless", "tas*=pointwise:1e-3"
OwnBound parse_own_bound(const std::string& text);

// What a bounds file says (docs/CLIMATE.md).
struct BoundsFile {
  Bound general;       // of the floating-point variables that are not named; none: they stay
  std::string recipe;  // of all that have none of their own; may be empty
  std::vector<std::string> excluded;
  std::vector<OwnBound> own;  // in the order of the file
};
BoundsFile read_bounds_file(const std::string& path);

bool is_pattern(const std::string& name);
// Whether one of the names and patterns means the variable.
bool means(const std::vector<std::string>& patterns, const std::string& name);

// The variables that a pattern or a bound for all variables applies to, and the variables that only
// their own name selects, with the reason.
struct Candidates {
  Candidates(const h5::File& file, const std::vector<std::string>& excluded);
  bool has(const std::string& pattern) const;  // a variable that the pattern matches
  std::vector<std::string> names;
  std::vector<std::pair<std::string, std::string>> left_alone;
};

// In the place of every pattern, the names that it means; names that are given come last, since of
// several that mean a variable the last one counts.
std::vector<OwnBound> expanded(const std::vector<OwnBound>& bounds, const Candidates& candidates);

}  // namespace leeway::cli
