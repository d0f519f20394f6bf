// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/neighbours.h"

#include "leeway/compressor.h"
#include "leeway/encode/huffman.h"
#include "leeway/predict/lorenzo.h"
#include "tests/support.h"

namespace leeway::test {
namespace {

TEST(Neighbours, GivesNeighboursAndNothingOutside) {
  std::vector<float> values(2 * 3 * 4);
  for (size_t i = 0; i < values.size(); ++i) values[i] = float(i + 1);
  Neighbours<float> at(Field<float>{values.data(), {2, 3, 4}});
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k, at.next()) {
        const auto expected = [&](int di, int dj, int dk) {
          const int a = i + di, b = j + dj, c = k + dk, place = (a * 3 + b) * 4 + c;
          if (a < 0 || a > 1 || b < 0 || b > 2 || c < 0 || c > 3) return 0.0f;
          return place < (i * 3 + j) * 4 + k ? values[size_t(place)] : 0.0f;
        };
        EXPECT_EQ(at.value(), values[size_t((i * 3 + j) * 4 + k)]);
        for (int di = -2; di <= 0; ++di)
          for (int dj = -2; dj <= 2; ++dj)
            for (int dk = -4; dk <= 4; ++dk) EXPECT_EQ(at(di, dj, dk), expected(di, dj, dk));
        EXPECT_EQ(at(-1), expected(0, 0, -1));
        EXPECT_EQ(at(-1, 1), expected(0, -1, 1));
        EXPECT_EQ(at(-1, 0, 0, 0), 0);  // there is no such axis
        EXPECT_EQ(at(0, 0, 0, -1), expected(0, 0, -1));
        EXPECT_EQ(at.back(0), expected(-1, 0, 0));
        EXPECT_EQ(at.back(1, 2), expected(0, -2, 0));
        EXPECT_EQ(at.back(3), 0);
      }
}

// Lorenzo's rule for up to three axes, by neighbours.
struct Corner {
  static constexpr std::string_view kName = "corner";
  static constexpr std::string_view kAbout = "Lorenzo's rule by neighbours";
  static constexpr Kind kKind = Kind::predictor;
  static constexpr Traits kTraits{};
  NoParams params;
  template <class T>
  void walk(Field<T> field, auto& coder) const {
    walk_neighbours(field, coder, [](const Neighbours<T>& at) {
      return at(-1) + at(-1, 0) + at(-1, 0, 0) - at(-1, -1) - at(-1, 0, -1) - at(-1, -1, 0) +
             at(-1, -1, -1);
    });
  }
};

TEST(Neighbours, MakesLorenzo) {
  for (const Shape& shape : {Shape{500}, Shape{20, 30}, Shape{9, 10, 11}}) {
    const auto values = make_field<i32>(shape, Texture::smooth);
    const auto size = [&](const auto& compressor) {
      return compressor.compress(values.data(), shape, Bound::abs(3)).size();
    };
    // After the quantizer both work on the same integers.
    const Compressor<i32, Linear, Corner, Huffman> own;
    const Compressor<i32, Linear, Lorenzo, Huffman> library;
    EXPECT_LE(size(own), size(library) + 16);  // the names differ in length
    EXPECT_LE(size(library), size(own) + 16);
    const Bytes stream = own.compress(values.data(), shape, Bound::abs(3));
    const Array back = own.decompress(stream);
    for (size_t i = 0; i < values.size(); ++i)
      EXPECT_LE(std::abs(i64(values[i]) - i64(back.as<i32>()[i])), 3);
  }
}

}  // namespace
}  // namespace leeway::test
