// SPDX-License-Identifier: BSD-3-Clause
// PartRules: promises of single values, for arrays that a host hands over in parts, as HDF5 and
// Zarr do. What every value keeps by itself needs no other part.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leeway/base/export.h"
#include "leeway/engine/engine.h"

namespace leeway::derived {

struct PartRules {
  bool zeros = false, sign = false;  // what is 0, or below, at or above 0, stays so
  std::optional<double> min, max;    // no value passes them that has not done so before

  bool empty() const { return !zeros && !sign && !min && !max; }
  // "keep=zeros,sign min=0 max=1"; "" if there are none.
  std::string text() const;
  // The other way round.
  static PartRules of(std::string_view text);
  // As promises of an array of this name: "zeros({pr})", "{pr}>=0".
  std::vector<std::string> promises(const std::string& name) const;
  // Takes one of these words; says whether it is one. Throws if its value makes no sense.
  bool take(std::string_view key, std::string_view value);
  // The same for numbers that represent scale * stored + offset.
  PartRules packed(double scale, double offset) const;
  friend bool operator==(const PartRules&, const PartRules&) = default;
};

// Compresses into memory.
using PartCoder =
    std::function<CompressReport(const CompressOptions& options, std::span<u8> memory)>;

// How many bytes compress_part() needs at most.
u64 most_bytes_of_part(const View& part, const CompressOptions& options,
                                     const PartRules& rules);
// Compresses a part, looks at what it decodes to, and compresses it again if a rule is broken: with
// bounds value by value, or without loss.
CompressReport compress_part(const View& part, const CompressOptions& options,
                                           const PartRules& rules, std::span<u8> memory,
                                           const PartCoder& coder);
// How many values of a part break the rules; `fills` are bits of its type.
u64 broken_by(const View& original, const View& decoded,
                            const std::vector<u64>& fills, const PartRules& rules);

}  // namespace leeway::derived
