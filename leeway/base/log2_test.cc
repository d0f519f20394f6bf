// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/base/log2.h"

#include <gtest/gtest.h>

#include <cmath>

namespace leeway::test {
namespace {

TEST(Log2, IsCloseAndNeverTooLarge) {
  for (u64 v = 1; v < u64(1) << 62; v += v / 8 + 1) {
    const double exact = std::log2(double(v)) * 65536, found = double(log2_of(v));
    ASSERT_LE(found, exact + 1e-6) << v;
    ASSERT_GE(found, exact - 65536 * 0.00075) << v;
  }
}

}  // namespace
}  // namespace leeway::test
