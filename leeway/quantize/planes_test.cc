// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/quantize/planes.h"

#include "tests/support.h"

namespace leeway::test {
namespace {

template <class I>
void check_planes(const std::vector<I>& codes, I radius) {
  Writer out;
  write_planes(std::span<const I>(codes), radius, out);
  Reader in(out.bytes());
  EXPECT_EQ(read_planes(in, radius, codes.size()), codes);
  in.expect_end();
  for (size_t size = 0; size < out.size(); ++size) {
    Reader part(out.bytes().first(size));
    EXPECT_THROW(read_planes(part, radius, codes.size()), Error);
  }
  if (codes.empty()) return;
  Reader again(out.bytes());
  EXPECT_THROW(read_planes(again, radius, codes.size() - 1), Error);
}

TEST(Planes, AreAsThePageSays) {
  Writer out;
  write_planes(std::span<const i32>(std::vector<i32>{64, -67}), 64, out);
  EXPECT_EQ(std::vector<u8>(out.bytes().begin(), out.bytes().end()),
            (std::vector<u8>{2, 2, 2, 2, 2}));
}

TEST(Planes, RoundTrip) {
  check_planes<i32>({}, 64);
  check_planes<i32>({64}, 64);
  check_planes<i32>({1, -1, std::numeric_limits<i32>::max(), -std::numeric_limits<i32>::max()}, 1);
  check_planes<i64>({64, -65, 1000, std::numeric_limits<i64>::max(), i64(-1) << 62}, 64);
  std::vector<i32> many;
  for (i32 i = 0; i < 1000; ++i) many.push_back((i % 3 ? -1 : 1) * (64 + i * i));
  check_planes<i32>(many, 64);
  Writer bad;
  bad.put_varint(1);
  bad.put(u8(32));
  bad.extend(40);
  Reader in(bad.bytes());
  EXPECT_THROW(read_planes<i32>(in, 64, 9), Error);
}

// The same values as with other limits, for all orders of stages; the larger codes cost less than
// values kept exactly.
TEST(Planes, WholeStreams) {
  for (const Shape& shape : {Shape{500}, Shape{30, 40}, Shape{5, 6, 7}})
    for (const std::string stages :
         {"lorenzo+linear:bins=16,beyond=planes+huffman",
          "linear:bins=2,beyond=planes+lorenzo+pack",
          "linear:bins=64,beyond=planes+interp+arithmetic", "linear:bins=100,beyond=planes+rans",
          "pyramid+linear:bins=8,beyond=planes+rans", "composite+linear:bins=4,beyond=planes+raw"})
      for (const Texture texture : kTextures)
        for (const double bound : {1e-7, 1e-2, 3.0}) {
          check_round_trip(make_field<float>(shape, texture), shape,
                           options_for<float>(Bound::abs(bound), stages));
          check_round_trip(make_field<double>(shape, texture), shape,
                           options_for<double>(Bound::abs(bound), stages));
          check_round_trip(make_field<i32>(shape, texture), shape,
                           options_for<i32>(Bound::abs(bound), stages));
        }
  const Shape shape{40, 50, 60};
  const auto noise = make_field<float>(shape, Texture::noise);
  const auto size = [&](const std::string& recipe) {
    return check_round_trip(noise, shape, options_for<float>(Bound::abs(1e-3), recipe)).size();
  };
  EXPECT_LT(size("lorenzo+linear:bins=128,beyond=planes+huffman+zstd"),
            0.8 * double(size("lorenzo+linear:bins=128+huffman+zstd")));
  EXPECT_THROW(size("lorenzo+linear:beyond=planes+huffman"), Error);
}

}  // namespace
}  // namespace leeway::test
