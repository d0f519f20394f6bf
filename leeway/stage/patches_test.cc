// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/stage/patches.h"

#include <gtest/gtest.h>

#include <cmath>

namespace leeway {
namespace {

TEST(Patches, RunsArePacked) {
  Patches<float> patches;
  for (const size_t position : {3, 4, 5, 9}) patches.add(position, std::nanf(""));
  Writer out;
  patches.write(out);
  const Bytes expected = {2, 1, 0, 0, 0xc0, 0x7f, 3, 2, 0, 3, 0, 0};  // as in patches.md
  EXPECT_EQ(Bytes(out.bytes().begin(), out.bytes().end()), expected);
}

TEST(Patches, ComeBack) {
  Patches<double> patches;
  std::vector<double> expected(1000, 0);
  for (size_t i = 0; i < 1000; i += 1 + i % 13) patches.add(i, expected[i] = double(i % 40));
  Writer out;
  patches.write(out);
  Reader in(out.bytes());
  std::vector<double> values(1000, 0);
  const auto read = Patches<double>::read(in, 1000);
  read.apply(values);
  EXPECT_EQ(values, expected);
  EXPECT_EQ(read.count(), patches.count());
  in.expect_end();
  Reader again(out.bytes());
  EXPECT_THROW(Patches<double>::read(again, 990), Error);  // the last lies outside
  for (size_t size = 0; size < out.size(); ++size) {
    Reader cut(out.bytes().first(size));
    EXPECT_THROW(Patches<double>::read(cut, 1000), Error);
  }
}

}  // namespace
}  // namespace leeway
