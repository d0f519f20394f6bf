// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/preprocess/reshape.h"

#include "tests/support.h"

namespace leeway::test {
namespace {

Reshape stage_of(i32 axes, Merge merge) { return {.params = {.axes = axes, .merge = merge}}; }

TEST(Reshape, MergesAxesAndGivesThemBack) {
  const Shape shape{2, 3, 4, 5};
  const struct {
    Reshape stage;
    Shape inner;
  } cases[] = {{stage_of(1, Merge::last), {120}},       {stage_of(2, Merge::last), {2, 60}},
               {stage_of(3, Merge::last), {2, 3, 20}},  {stage_of(2, Merge::first), {24, 5}},
               {stage_of(3, Merge::first), {6, 4, 5}},  {stage_of(4, Merge::last), {2, 3, 4, 5}},
               {stage_of(7, Merge::first), {2, 3, 4, 5}}};
  for (const auto& [stage, inner] : cases) {
    std::vector<float> values(120);
    Field<float> field{values.data(), shape};
    std::vector<u8> special;
    Writer side;
    stage.forward(field, special, side);
    EXPECT_EQ(field.shape, inner);
    Reader again(side.bytes()), in(side.bytes());
    EXPECT_EQ(stage.inner_shape(shape, again), inner);
    stage.backward(field, in);
    in.expect_end();
    EXPECT_EQ(field.shape, shape);
  }
}

TEST(Reshape, RefusesOtherShapes) {
  for (const Bytes& side : {Bytes{}, Bytes{9}, Bytes{3, 2, 3}, Bytes{2, 3, 20}, Bytes{2, 2, 31},
                            Bytes{3, 2, 3, 20}, Bytes{2, 0, 0}}) {
    std::vector<float> values(120);
    Field<float> field{values.data(), {2, 60}};
    Reader in(side);
    if (side == Bytes{3, 2, 3, 20}) {
      EXPECT_NO_THROW(stage_of(2, Merge::last).backward(field, in));
      continue;
    }
    EXPECT_THROW(stage_of(2, Merge::last).backward(field, in), Error);
  }
}

// What is predicted along one axis is what an array of one axis has.
TEST(Reshape, CodesTheArrayAsItsShapeSays) {
  const Shape shape{16, 20, 24};
  const auto values = make_field<float>(shape, Texture::smooth);
  const auto bytes = [&](const Shape& as, const std::string& recipe) {
    return compress(values.data(), as, options_for<float>(Bound::abs(1e-3), recipe)).size();
  };
  for (const std::string recipe : {"lorenzo+linear+huffman", "linear+lorenzo+huffman",
                                   "pyramid+linear+rans", "wavesz-huffman"}) {
    const std::string full = to_string(parse_recipe(recipe));
    const auto close = [](size_t a, size_t b) { return a <= b + 80 && b <= a + 80; };
    EXPECT_TRUE(close(bytes(shape, "reshape:axes=1+" + full), bytes({16 * 20 * 24}, recipe)));
    EXPECT_TRUE(close(bytes(shape, "reshape+" + full), bytes({16, 20 * 24}, recipe)));
    EXPECT_TRUE(close(bytes(shape, "reshape:merge=first+" + full), bytes({16 * 20, 24}, recipe)));
    check_round_trip(values, shape, options_for<float>(Bound::abs(1e-3), "reshape+" + full));
  }
}

}  // namespace
}  // namespace leeway::test
