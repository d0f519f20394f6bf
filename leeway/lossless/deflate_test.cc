// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/lossless/deflate.h"

#include "leeway/lossless/lossless_test.h"

namespace leeway::test {
namespace {

TEST(Deflate, RoundTripsAndSurvivesDamage) {
  check_lossless(Deflate());
  check_lossless(Deflate{.params = {.level = 1}});
  check_lossless(Deflate{.params = {.level = 12}});
}

TEST(Deflate, RefusesMoreThanTheLimit) {
  const Bytes zeros(100000);
  Writer out;
  Deflate().compress(zeros, out);
  Writer back;
  EXPECT_THROW(Deflate().decompress(out.bytes(), 99999, back), Error);
}

}  // namespace
}  // namespace leeway::test
