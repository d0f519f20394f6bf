// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/preprocess/linearize.h"

#include "tests/support.h"

namespace leeway::test {
namespace {

TEST(Linearize, SortsPointsAlongTheCurve) {
  // The corners of a square, in a bad order; then two in the middle of its lower left quarter.
  std::vector<double> values{9, 9, 0, 0, 9, 0, 0, 9, 2, 2, 2, 2};
  const auto before = values;
  const Field<double> field{values.data(), Shape{6, 2}};
  std::vector<u8> special;
  Writer side;
  const Linearize stage;
  stage.forward(field, special, side);
  EXPECT_EQ(values, (std::vector<double>{0, 0, 2, 2, 2, 2, 9, 0, 0, 9, 9, 9}));
  Reader in(side.bytes());
  stage.backward(field, in);
  in.expect_end();
  EXPECT_EQ(values, before);
}

TEST(Linearize, ValuesWithoutColumnsAreSorted) {
  std::vector<float> values{3, 1, 2, -5, 7, 1};
  std::vector<u8> special{0, 0, 0, 0, 1, 0};
  Writer side;
  Linearize().forward(Field<float>{values.data(), Shape{6}}, special, side);
  EXPECT_EQ(values, (std::vector<float>{-5, 7, 1, 1, 2, 3}));  // a special value counts as 0
  EXPECT_EQ(special[1], 1);
}

TEST(Linearize, RefusesWhatIsNoOrder) {
  std::vector<float> values(3);
  for (const u8 wrong : {0b000000, 0b111001, 0b100100}) {  // twice the same, beyond, right
    Reader side({&wrong, 1});
    const auto decode = [&] { Linearize().backward(Field<float>{values.data(), Shape{3}}, side); };
    if (wrong == 0b100100)
      EXPECT_NO_THROW(decode());
    else
      EXPECT_THROW(decode(), Error);
  }
  EXPECT_THROW(parse_recipe("linearize+lorenzo+linear"), Error);  // may decide otherwise
}

TEST(Linearize, WholeStreams) {
  for (const std::string recipe : {"linearize+linear+lorenzo:axes=1+huffman+zstd",
                                   "linearize+linear+lorenzo+rans", "reshape:axes=1+linearize+raw"})
    for (const Shape& shape :
         {Shape{500, 3}, Shape{40, 50}, Shape{700}, Shape{1, 1}, Shape{0, 3}}) {
      check_round_trip(make_field<float>(shape, Texture::hostile), shape,
                       options_for<float>(Bound::abs(0.01), recipe));
      check_round_trip(make_field<i16>(shape, Texture::smooth), shape,
                       options_for<i16>(Bound::abs(2), recipe));
    }
}

// Points of a few clusters, in random order, with bits to spare.
TEST(Linearize, PaysWhereCoordinatesHaveMoreBitsThanTheOrder) {
  const Shape shape{5000, 3};
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  std::vector<double> values;
  for (size_t i = 0; i < 5000; ++i) {
    const auto cluster = double(random() % 10);
    for (const double center : {10 * cluster, 7 * cluster, -3 * cluster})
      values.push_back(center + 1e-4 * normal(random));
  }
  const auto bytes = [&](const std::string& recipe) {
    return check_round_trip(values, shape, options_for<double>(Bound::abs(1e-6), recipe)).size();
  };
  const std::string rest = "transpose:order=21+linear+lorenzo:axes=1+huffman+zstd";
  EXPECT_LT(bytes("linearize+" + rest), bytes(rest));
}

}  // namespace
}  // namespace leeway::test
