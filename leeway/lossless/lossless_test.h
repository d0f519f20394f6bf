// SPDX-License-Identifier: BSD-3-Clause
// What every lossless stage must do.
#pragma once

#include <algorithm>

#include "tests/support.h"

namespace leeway::test {

template <class S>
void check_lossless(const S& stage, size_t frame = 1) {
  std::mt19937 random(14);
  for (const size_t size : {0, 1, 5, 100, 4000, 300000})
    for (const u32 alphabet : {1u, 3u, 256u}) {
      Bytes bytes(size);
      for (u8& byte : bytes) byte = u8(random() % alphabet);
      Writer out;
      stage.compress(bytes, out);
      Writer back;
      stage.decompress(out.bytes(), size, back);
      ASSERT_TRUE(std::ranges::equal(back.bytes(), bytes));
      EXPECT_LE(out.size(), size + frame + (frame > 1 ? size / 1000 : 0));
      if (out.size() > 2000) continue;
      for (int trial = 0; trial < 200; ++trial) {
        Bytes damaged(out.bytes().begin(), out.bytes().end());
        if (damaged.empty()) break;
        damaged[random() % damaged.size()] ^= u8(1 << random() % 8);
        const size_t kept = trial % 2 ? random() % damaged.size() : damaged.size();
        try {
          Writer ignored;
          stage.decompress(ByteView(damaged).first(kept), size + 100, ignored);
        } catch (const Error& error) {
          ASSERT_EQ(error.code(), Errc::corrupt);
        }
      }
    }
}

template <class S>
void check_limit(const S& stage) {
  const Bytes zeros(100000);
  Writer out;
  stage.compress(zeros, out);
  Writer back;
  EXPECT_THROW(stage.decompress(out.bytes(), 99999, back), Error);
}

}  // namespace leeway::test
