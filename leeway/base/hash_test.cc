// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/base/hash.h"

#include <gtest/gtest.h>

#include <numeric>

namespace leeway {
namespace {

TEST(Hash, PiecesGiveTheSameAsTheWhole) {
  Bytes bytes(100000);
  std::iota(bytes.begin(), bytes.end(), u8(3));
  for (const size_t size : {0, 1, 16, 240, 241, 1024, 8192, 99999})
    for (const size_t piece : {1, 7, 256, 1000, 8192}) {
      const ByteView all = ByteView(bytes).first(size);
      Hasher hasher;
      for (size_t first = 0; first < size; first += piece)
        hasher.add(all.subspan(first, std::min(piece, size - first)));
      EXPECT_EQ(hasher.value(), hash_of(all)) << size << " in pieces of " << piece;
    }
}

}  // namespace
}  // namespace leeway
