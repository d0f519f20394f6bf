// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/base/copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace leeway {
namespace {

TEST(Copy, PastCachesIsACopyAtAnyPlaceAndSize) {
  std::vector<u8> from(700);
  std::iota(from.begin(), from.end(), u8(1));
  for (size_t offset = 0; offset < 70; offset += 3)
    for (const size_t bytes : {0, 1, 5, 63, 64, 65, 127, 128, 300, 512, 600}) {
      std::vector<u8> to(800, 0), expected(800, 0);
      std::copy_n(from.begin() + 7, bytes, expected.begin() + std::ptrdiff_t(offset));
      copy_past_caches(to.data() + offset, from.data() + 7, bytes);
      finish_copies();
      EXPECT_EQ(to, expected) << offset << " " << bytes;
    }
}

}  // namespace
}  // namespace leeway
