// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/encode/raw.h"

#include "leeway/encode/encoder_test.h"

namespace leeway::test {
namespace {

TEST(Raw, RoundTripsAndSurvivesDamage) { check_encoder(Raw()); }

TEST(Raw, TakesTheFewestBytes) {
  const auto bytes = [](std::vector<i64> codes) {
    Writer out;
    Raw().encode(std::span<const i64>(codes), out);
    return out.size() - 1;
  };
  EXPECT_EQ(bytes({-127, 127}), 2u);
  EXPECT_EQ(bytes({-129, 127}), 4u);
  EXPECT_EQ(bytes({32768}), 4u);
  EXPECT_EQ(bytes({i64(1) << 31}), 8u);
}

}  // namespace
}  // namespace leeway::test
