// SPDX-License-Identifier: BSD-3-Clause
// Golden streams that state promises: two components of a wind, one of them coded towards targets.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "leeway/derived/together.h"
#include "leeway/leeway.hpp"

namespace leeway::test {

template <class F>
void for_each_promised(F&& take) {
  const Shape shape{20, 30};
  std::vector<float> u, v;
  for (int i = 0; i < 20; ++i)
    for (int j = 0; j < 30; ++j) {
      u.push_back(float(8 + i * 0.5 + (i * 7 + j * 3) % 11 * 0.01));
      v.push_back(float(j * 0.25 - 3 + (i * 5 + j * 2) % 13 * 0.01));
    }
  u[31] = std::nanf("");
  std::vector<derived::Member> members{{"u", view_of(u.data(), shape), {}},
                                       {"v", view_of(v.data(), shape), {}}};
  for (derived::Member& member : members) member.options.bound = Bound::abs(0.4);
  const derived::Together made = derived::compress_together(
      members, {"sqrt(u^2+v^2)=abs:0.1", "mean(u,axis=0)=abs:0.01", "sign(v)"}, {});
  for (size_t m = 0; m < 2; ++m)
    take("promised_" + members[m].name + "_f32_20x30", made.streams[m]);
}

}  // namespace leeway::test
