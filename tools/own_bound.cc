// SPDX-License-Identifier: BSD-3-Clause
// Bounds of single variables, as text.
#include "leeway/stage/params.h"
#include "tools/variable_bounds.h"

namespace leeway::cli {

std::optional<Bound> parse_bound(std::string_view text) {
  Bound bound;
  while (true) {
    const std::string_view item = text.substr(0, text.find(','));
    const size_t colon = item.find(':');
    double value = 0;
    if (item == "lossless")
      bound.add(BoundKind::lossless, 0);
    else if (colon == item.npos || !detail::parse_number(item.substr(colon + 1), value))
      return std::nullopt;
    else
      bound.add(parse_bound_kind(item.substr(0, colon)), value);
    if (item.size() == text.size()) return bound;
    text.remove_prefix(item.size() + 1);
  }
}

OwnBound parse_own_bound(const std::string& text) {
  const size_t equals = text.rfind('=');
  const auto bound =
      equals == text.npos ? std::nullopt : parse_bound(std::string_view(text).substr(equals + 1));
  if (!bound)
    fail_argument("'" + text +
                  "' is not a bound of a variable; write it like t=abs:0.01, t=rel:1e-4, "
                  "t=abs:5,psnr:60 or t=lossless");
  return {text.substr(0, equals), *bound, {}};
}

}  // namespace leeway::cli
