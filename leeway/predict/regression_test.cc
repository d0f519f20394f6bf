// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/regression.h"

#include "tests/support.h"

namespace leeway::test {
namespace {

// A plane costs its coefficients and nothing else.
TEST(Regression, PlanesAreNearlyFree) {
  const Shape shape{48, 60, 54};
  std::vector<float> values;
  for_each_outer(shape, 0, [&](const Index& i) {
    values.push_back(0.5f * float(i[0]) - 0.25f * float(i[1]) + float(i[2]));
  });
  for (const std::string recipe :
       {"regression+linear+huffman+zstd", "regression:degree=2,block=12+linear+huffman+zstd"}) {
    const Bytes stream =
        check_round_trip(values, shape, options_for<float>(Bound::abs(0.1), recipe));
    EXPECT_GT(double(values.size() * 4) / double(stream.size()), 100) << recipe;
  }
}

}  // namespace
}  // namespace leeway::test
