// SPDX-License-Identifier: BSD-3-Clause
// Bounds of single variables, as text.
#include "leeway/stage/params.h"
#include "tools/variable_bounds.h"

namespace leeway::cli {

bool parse_bound(std::string_view text, OwnBound& own) {
  for (bool is_last = false; !is_last;) {
    const std::string_view item = text.substr(0, text.find(','));
    const size_t colon = item.find(':');
    double value = 0;
    if (item == "lossless")
      own.bound.add(BoundKind::lossless, 0);
    else if (colon == item.npos)
      return false;
    else if (!own.rules.take(item.substr(0, colon), item.substr(colon + 1))) {
      if (!detail::parse_number(item.substr(colon + 1), value)) return false;
      own.bound.add(parse_bound_kind(item.substr(0, colon)), value);
    }
    is_last = item.size() == text.size();
    if (!is_last) text.remove_prefix(item.size() + 1);
  }
  return !own.bound.limits().empty();
}

OwnBound parse_own_bound(const std::string& text) {
  const size_t equals = text.rfind('=');
  OwnBound own{text.substr(0, equals), {}, {}, {}};
  if (equals == text.npos || !parse_bound(std::string_view(text).substr(equals + 1), own))
    fail_argument("'" + text +
                  "' is not a bound of a variable; write it like t=abs:0.01, t=rel:1e-4, "
                  "t=abs:5,psnr:60, t=lossless or pr=abs:1e-6,keep:zeros,min:0");
  return own;
}

}  // namespace leeway::cli
