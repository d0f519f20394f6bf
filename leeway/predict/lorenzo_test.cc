// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/lorenzo.h"

#include "tests/support.h"

namespace leeway::test {
namespace {

// The definition: the product of differences over all corners, by inclusion and exclusion.
template <class U>
U residual_at(const std::vector<U>& values, const Shape& shape, const Index& at, int order) {
  static constexpr int kWeights[5][5] = {
      {}, {1, -1}, {1, -2, 1}, {1, -3, 3, -1}, {1, -4, 6, -4, 1}};
  U sum = 0;
  std::array<u64, kMaxRank> extents;
  for (size_t axis = 0; axis < shape.rank(); ++axis)
    extents[axis] = std::min<u64>(u64(order), at[axis]) + 1;
  for_each_outer(Shape(std::span<const u64>(extents).first(shape.rank())), 0,
                 [&](const Index& shift) {
                   int weight = 1;
                   size_t position = 0;
                   for (size_t axis = 0; axis < shape.rank(); ++axis) {
                     weight *= kWeights[order][shift[axis]];
                     position = position * size_t(shape[axis]) + size_t(at[axis] - shift[axis]);
                   }
                   sum += U(weight) * values[position];
                 });
  return sum;
}

template <class U>
void forward(const Lorenzo& lorenzo, Field<U> field) {
  Writer side;
  lorenzo.forward(field, side);
  EXPECT_EQ(side.size(), 0u);
}
template <class U>
void backward(const Lorenzo& lorenzo, Field<U> field) {
  Reader side({});
  lorenzo.backward(field, side);
}

TEST(Lorenzo, EqualsInclusionAndExclusion) {
  for (const Shape& full : shapes())
    for (const int order : {1, 2, 3, 4}) {
      const Shape shape = full.squeezed();
      std::mt19937_64 random(1);
      std::vector<u64> values(size_t(shape.size()));
      for (u64& value : values) value = random();
      auto transformed = values;
      Lorenzo lorenzo;
      lorenzo.params.order = order;
      forward(lorenzo, Field<u64>{transformed.data(), shape});
      size_t i = 0;
      for_each_outer(shape, 0, [&](const Index& at) {
        ASSERT_EQ(transformed[i++], residual_at(values, shape, at, order)) << to_string(shape);
      });
      backward(lorenzo, Field<u64>{transformed.data(), shape});
      ASSERT_EQ(transformed, values) << to_string(shape);
    }
}

// Piece by piece, modulo 2^16, as with wider integers.
TEST(Lorenzo, NarrowIntegersAreTheLowBitsOfOthers) {
  for (const Shape& full : shapes()) {
    const Shape shape = full.squeezed();
    const auto size = size_t(shape.size());
    for (const i32 axes : {1, 2, 3}) {
      const Lorenzo lorenzo{.params = {.order = 1, .axes = axes}};
      std::mt19937 random(7);
      std::vector<u16> values(size), differences(size);
      for (u16& value : values) value = u16(random());
      std::vector<u32> wide(values.begin(), values.end()), expected(size);
      const size_t pieces = 3;
      for (size_t k = 0; k < pieces; ++k) {
        const size_t first = size * k / pieces, count = size * (k + 1) / pieces - first;
        lorenzo.forward_piece(shape, size_t(axes), first, count, values.data() + first,
                              differences.data() + first);
        lorenzo.forward_piece(shape, size_t(axes), first, count, wide.data() + first,
                              expected.data() + first);
      }
      for (size_t i = 0; i < size; ++i) ASSERT_EQ(differences[i], u16(expected[i]));
      for (size_t k = 0; k < pieces; ++k) {
        const size_t first = size * k / pieces, count = size * (k + 1) / pieces - first;
        lorenzo.backward_piece(shape, size_t(axes), first, count, differences.data() + first);
      }
      ASSERT_EQ(differences, values) << to_string(shape) << " axes " << axes;
    }
  }
}

// Values that do not matter get none.
TEST(Lorenzo, MarkedValuesHaveNoDifference) {
  for (const Shape& full : shapes()) {
    const Shape shape = full.squeezed();
    const auto size = size_t(shape.size());
    for (const i32 axes : {1, 2, 3}) {
      const Lorenzo lorenzo{.params = {.order = 1, .axes = axes}};
      std::mt19937 random(8);
      std::vector<u32> values(size), differences(size);
      std::vector<u8> marks(size);
      for (u32& value : values) value = random();
      for (u8& mark : marks) mark = random() % 3 == 0;
      const auto given = values;
      const size_t half = size / 2;
      for (const auto& [first, count] : {std::pair(size_t(0), half), std::pair(half, size - half)})
        lorenzo.bridge_piece(shape, size_t(axes), first, count, marks.data() + first,
                             values.data() + first);
      lorenzo.forward_piece(shape, size_t(axes), 0, size, values.data(), differences.data());
      for (size_t i = 0; i < size; ++i) {
        ASSERT_TRUE(marks[i] || values[i] == given[i]);
        ASSERT_TRUE(!marks[i] || differences[i] == 0) << to_string(shape) << " axes " << axes;
      }
    }
  }
}

TEST(Lorenzo, LongRowsAreCutInPieces) {
  for (const Shape& shape : {Shape{10000}, Shape{3, 5000}, Shape{2, 3, 4097}}) {
    std::vector<u32> values(size_t(shape.size()));
    std::mt19937 random(2);
    for (u32& value : values) value = u32(random());
    auto transformed = values;
    const Lorenzo lorenzo;
    forward(lorenzo, Field<u32>{transformed.data(), shape});
    size_t i = 0;
    for_each_outer(shape, 0, [&](const Index& at) {
      ASSERT_EQ(transformed[i++], residual_at(values, shape, at, 1));
    });
    backward(lorenzo, Field<u32>{transformed.data(), shape});
    EXPECT_EQ(transformed, values);
  }
}

// Ramps along the last axes, up and down in turn along the others.
TEST(Lorenzo, ChoosesTheAxesThatPay) {
  for (const Shape& shape : {Shape{4000}, Shape{40, 100}, Shape{20, 20, 30}, Shape{3, 9, 10, 50}})
    for (size_t axes = 0; axes <= std::min<size_t>(3, shape.rank()); ++axes) {
      std::vector<u32> values;
      for_each_outer(shape, 0, [&](const Index& at) {
        u32 value = 1000;
        u64 turn = 0;
        for (size_t axis = 0; axis < shape.rank(); ++axis)
          if (axis + axes < shape.rank())
            turn += at[axis];
          else
            value *= u32(at[axis] + axis + 1);
        values.push_back(turn % 2 ? u32(0) - value : value);
      });
      auto transformed = values;
      Lorenzo lorenzo;
      lorenzo.params.axes = 0;
      Writer side;
      lorenzo.forward(Field<u32>{transformed.data(), shape}, side);
      ASSERT_EQ(side.size(), 1u);
      EXPECT_EQ(side.bytes()[0], axes) << to_string(shape);
      Reader in(side.bytes());
      lorenzo.backward(Field<u32>{transformed.data(), shape}, in);
      EXPECT_EQ(transformed, values);
    }
  const u8 four = 4;
  Reader in({&four, 1});
  Lorenzo lorenzo;
  lorenzo.params.axes = 0;
  std::vector<u32> values(100);
  EXPECT_THROW(lorenzo.backward(Field<u32>{values.data(), {100}}, in), Error);
}

// Takes values as they are and records the predictions.
struct Recorder {
  std::vector<u64> predictions{};
  void point(i32&, u64 predicted) { predictions.push_back(predicted); }
};

TEST(Lorenzo, WalkPredictsTheSame) {
  for (const Shape& full : shapes())
    for (const int order : {1, 2, 3, 4})
      for (const int axes : {1, 2, 8}) {
        const Shape shape = full.squeezed();
        std::vector<i32> values(size_t(shape.size()));
        std::mt19937 random(4);
        for (i32& value : values) value = i32(random());
        Lorenzo lorenzo;
        lorenzo.params.order = order;
        lorenzo.params.axes = axes;
        Recorder recorder;
        lorenzo.walk(Field<i32>{values.data(), shape}, recorder);
        std::vector<u64> integers;
        for (const i32 value : values) integers.push_back(u64(i64(value)));
        auto residuals = integers;
        forward(lorenzo, Field<u64>{residuals.data(), shape});
        for (size_t i = 0; i < values.size(); ++i)
          ASSERT_EQ(recorder.predictions[i] + residuals[i], integers[i])
              << to_string(shape) << " at " << i;
      }
}

// Of a cubic, three layers leave a constant, and four nothing but its first values.
TEST(Lorenzo, LayersFollowPolynomials) {
  for (const i32 order : {1, 2, 3, 4}) {
    std::vector<u64> values;
    for (u64 i = 0; i < 100; ++i) values.push_back(i * (i - 20) * (i - 70));
    Lorenzo lorenzo;
    lorenzo.params.order = order;
    forward(lorenzo, Field<u64>{values.data(), {values.size()}});
    for (size_t i = 10; i < values.size(); ++i) {
      if (order == 3) EXPECT_EQ(values[i], 6u);
      if (order == 4) EXPECT_EQ(values[i], 0u);
    }
  }
  const Shape shape{4000};
  std::vector<double> values;
  for (double i = 0; i < 4000; ++i) values.push_back(1e-6 * i * (i - 1000) * (i - 3500));
  const auto bytes = [&](const std::string& order) {
    const std::string recipe = "lorenzo:order=" + order + "+exact+huffman";
    return check_round_trip(values, shape, options_for<double>(Bound::abs(1e-2), recipe)).size();
  };
  EXPECT_LT(bytes("2"), bytes("1"));
  EXPECT_LT(std::min(bytes("3"), bytes("4")), bytes("2"));
}

TEST(Lorenzo, LayersInWholeStreams) {
  for (const Shape& shape : some_shapes())
    for (const std::string order : {"3", "4"})
      for (const std::string recipe : {"lorenzo:order=" + order + "+linear+huffman",
                                       "linear+lorenzo:axes=2,order=" + order + "+huffman"})
        for (const Texture texture : {Texture::smooth, Texture::hostile, Texture::huge}) {
          check_round_trip(make_field<float>(shape, texture), shape,
                           options_for<float>(Bound::abs(1e-3), recipe));
          check_round_trip(make_field<i16>(shape, texture), shape,
                           options_for<i16>(Bound::abs(2), recipe));
        }
}

}  // namespace
}  // namespace leeway::test
