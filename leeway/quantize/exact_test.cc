// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/quantize/exact.h"

#include "tests/support.h"

namespace leeway::test {
namespace {

TEST(Exact, OrderOfCodesIsOrderOfValues) {
  for_each_type([]<class T>(std::type_identity<T>) {
    std::mt19937_64 random(8);
    for (int i = 0; i < 10000; ++i) {
      const T a = from_bits<T>(random()), b = from_bits<T>(random());
      EXPECT_EQ(bits_of(ExactGrid<T>::value_of(ExactGrid<T>::order_of(a))), bits_of(a));
      if constexpr (is_floating<T>)
        if (double(a) < double(b)) EXPECT_LT(ExactGrid<T>::order_of(a), ExactGrid<T>::order_of(b));
    }
  });
}

TEST(Exact, AnyPredictionIsUndone) {
  for_each_type([]<class T>(std::type_identity<T>) {
    std::mt19937_64 random(9);
    const ExactGrid<T> grid;
    for (int i = 0; i < 10000; ++i) {
      T value = from_bits<T>(random());
      const T original = value;
      const auto predicted = Predicted<T>(from_bits<T>(random()));
      Code<T> code;
      if (grid.quantize(value, predicted, code)) {
        ASSERT_EQ(bits_of(grid.recover(predicted, code)), bits_of(original));
      }
    }
  });
}

}  // namespace
}  // namespace leeway::test
