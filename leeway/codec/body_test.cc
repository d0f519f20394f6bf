// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/codec/body.h"

#include "tests/support.h"

namespace leeway::test {
namespace {

constexpr size_t kSize = 1000;

Body<float> make_body() {
  Body<float> body(2);
  body.special.add(3, std::nanf("1"));
  body.special.add(4, std::nanf("1"));
  body.special.add(999, INFINITY);
  body.sides[0].put(u32(7));
  for (int i = 0; i < 50; ++i) body.notes.put(u8(i));
  body.exact.add(0, 1e30f);
  return body;
}

Bytes bytes_of_body(const Body<float>& body) {
  Writer out;
  body.write(out);
  return {out.bytes().begin(), out.bytes().end()};
}

std::vector<u32> applied(const Patches<float>& patches) {
  std::vector<float> values(kSize);
  patches.apply(values);
  std::vector<u32> bits;
  for (const float value : values) bits.push_back(bits_of(value));
  return bits;
}

TEST(Body, ComesBackSectionBySection) {
  const Body<float> body = make_body();
  const Bytes bytes = bytes_of_body(body);
  Reader in(bytes);
  Body<float> back(2);
  back.read(in, kSize);
  in.expect_end();
  EXPECT_EQ(applied(back.special), applied(body.special));
  EXPECT_EQ(applied(back.exact), applied(body.exact));
  EXPECT_EQ(back.special.count(), 3u);
  EXPECT_EQ(back.exact.count(), 1u);
  EXPECT_TRUE(std::ranges::equal(back.sides[0].bytes(), body.sides[0].bytes()));
  EXPECT_EQ(back.sides[1].size(), 0u);
  EXPECT_TRUE(std::ranges::equal(back.notes.bytes(), body.notes.bytes()));
}

// The order of the sections is that of FORMAT.md, and what is empty takes a byte.
TEST(Body, HasTheSectionsOfTheFormat) {
  EXPECT_EQ(bytes_of_body(Body<float>(0)), Bytes(Body<float>::kEmpty));
  EXPECT_EQ(bytes_of_body(Body<float>(3)), Bytes(Body<float>::kEmpty + 3));
  const Bytes bytes = bytes_of_body(make_body());
  Reader in(bytes);
  const auto unpacked = [](ByteView packed) {
    Writer plain;
    Zstd().decompress(packed, 10000, plain);
    return plain;
  };
  const Writer special = unpacked(in.take_section());
  Writer expected;
  make_body().special.write(expected);
  EXPECT_TRUE(std::ranges::equal(special.bytes(), expected.bytes()));
  EXPECT_EQ(in.take_section().size(), 4u);
  EXPECT_EQ(in.take_section().size(), 0u);
  EXPECT_EQ(unpacked(in.take_section()).size(), 50u);
  const Writer patches = unpacked(in.take_section());
  Reader exact(patches.bytes());
  EXPECT_EQ(Patches<float>::read(exact, kSize).count(), 1u);
  in.expect_end();
}

TEST(Body, RefusesWhatIsDamaged) {
  const Bytes bytes = bytes_of_body(make_body());
  for (size_t size = 0; size < bytes.size(); ++size) {
    Reader in(ByteView(bytes).first(size));
    Body<float> body(2);
    EXPECT_THROW(body.read(in, kSize), Error) << size;
  }
  // Of a chunk that is smaller than the patches say.
  Reader in(bytes);
  Body<float> body(2);
  EXPECT_THROW(body.read(in, 999), Error);
  // More notes than decoders take.
  Body<float> large(0);
  for (size_t i = 0; i <= Body<float>::most_bytes(10); ++i) large.notes.put(u8(0));
  const Bytes too_many = bytes_of_body(large);
  Reader other(too_many);
  Body<float> back(0);
  EXPECT_THROW(back.read(other, 10), Error);
  // A section of patches with something after them.
  Writer plain, out;
  make_body().special.write(plain);
  plain.put(u8(0));
  put_packed(plain, out, false);
  out.extend(2);
  Reader trailing(out.bytes());
  Body<float> wrong(0);
  EXPECT_THROW(wrong.read(trailing, kSize), Error);
}

}  // namespace
}  // namespace leeway::test
