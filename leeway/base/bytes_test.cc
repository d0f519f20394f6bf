// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/base/bytes.h"

#include <gtest/gtest.h>

namespace leeway {
namespace {

TEST(Bytes, WhatIsPutIsGot) {
  Writer out;
  out.put(u16(0x1234));
  out.put(-2.5);
  for (const u64 value : {u64(0), u64(127), u64(128), u64(1) << 40, ~u64(0)}) out.put_varint(value);
  EXPECT_EQ(out.bytes()[0], 0x34);  // little-endian
  Reader in(out.bytes());
  EXPECT_EQ(in.get<u16>(), 0x1234);
  EXPECT_EQ(in.get<double>(), -2.5);
  for (const u64 value : {u64(0), u64(127), u64(128), u64(1) << 40, ~u64(0)})
    EXPECT_EQ(in.get_varint(), value);
  in.expect_end();
}

TEST(Bytes, ReadingTooFarThrows) {
  const u8 bytes[] = {1, 2, 3};
  EXPECT_THROW(Reader(bytes).get<u32>(), Error);
  EXPECT_THROW(Reader(bytes).take(4), Error);
  EXPECT_THROW(Reader(bytes).take(~u64(0)), Error);
  EXPECT_THROW(Reader(bytes).expect_end(), Error);
  EXPECT_THROW(Reader(bytes).get_varint(0, "too large"), Error);
}

TEST(Bytes, OverlongVarintsThrow) {
  Bytes endless(11, 0x80);
  EXPECT_THROW(Reader(endless).get_varint(), Error);
  Bytes large(9, 0xff);
  large.push_back(2);  // bit 64
  EXPECT_THROW(Reader(large).get_varint(), Error);
}

TEST(Bytes, WriterGrows) {
  Writer out;
  for (u32 i = 0; i < 100000; ++i) out.put(i);
  Reader in(out.bytes());
  for (u32 i = 0; i < 100000; ++i) ASSERT_EQ(in.get<u32>(), i);
  out.truncate(4);
  EXPECT_EQ(out.size(), 4u);
}

}  // namespace
}  // namespace leeway
