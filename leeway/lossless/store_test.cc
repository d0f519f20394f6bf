// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/lossless/store.h"

#include "leeway/lossless/lossless_test.h"

namespace leeway::test {
namespace {

TEST(Store, RoundTrips) { check_lossless(Store()); }

}  // namespace
}  // namespace leeway::test
