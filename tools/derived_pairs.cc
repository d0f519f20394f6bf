// SPDX-License-Identifier: BSD-3-Clause
#include "tools/derived_pairs.h"

#include <algorithm>

#include "leeway/report/derived_side.h"

namespace leeway::cli {
namespace {

std::vector<std::string> names_of(const std::vector<OpenPair>& pairs) {
  // A lone array has no name that a user would have given it.
  if (pairs.size() == 1 && pairs[0].original.axes.empty()) return {"x"};
  std::vector<std::string> names;
  for (const OpenPair& pair : pairs) names.push_back(pair.original.name);
  return names;
}

bool have_one_shape(const std::vector<OpenPair>& pairs, const std::vector<size_t>& parts) {
  return std::ranges::all_of(parts, [&](size_t i) {
    return pairs[i].original.shape == pairs[parts[0]].original.shape &&
           pairs[i].decoded.shape == pairs[i].original.shape;
  });
}

OpenPair derived_pair(const std::string& text, const std::vector<OpenPair>& pairs,
                      const std::vector<size_t>& parts, unsigned threads) {
  std::vector<PairSide> before, after;
  for (const size_t i : parts)
    before.push_back(pairs[i].original.side), after.push_back(pairs[i].decoded.side);
  const OpenSide& first = pairs[parts[0]].original;
  OpenPair made;
  made.original.name = text;
  made.original.axes = first.axes;
  made.original.shape = made.decoded.shape = first.shape;
  made.original.side = report::derived_side(text, before, first.shape, threads);
  made.decoded.side = report::derived_side(text, after, first.shape, threads);
  return made;
}

}  // namespace

std::vector<OpenPair> derived_pairs(const std::vector<OpenPair>& pairs,
                                    const std::vector<std::string>& asked, unsigned threads) {
  constexpr u64 kLarge = u64(1) << 24;
  const std::vector<std::string> names = names_of(pairs);
  std::vector<OpenPair> made;
  for (const std::string& text : asked) {
    const std::vector<size_t> parts = report::variables_in(text, names);
    if (parts.empty()) fail_argument("'" + text + "' is a number, not a quantity of variables");
    if (!have_one_shape(pairs, parts)) fail_argument("'" + text + "' needs variables of one shape");
    made.push_back(derived_pair(text, pairs, parts, threads));
  }
  if (!asked.empty()) return made;
  for (const std::string& text : report::customary_quantities(names)) {
    const std::vector<size_t> parts = report::variables_in(text, names);
    const Shape& shape = pairs[parts[0]].original.shape;
    if (have_one_shape(pairs, parts) && shape.rank() >= 2 && shape.size() <= kLarge)
      made.push_back(derived_pair(text, pairs, parts, threads));
  }
  return made;
}

}  // namespace leeway::cli
