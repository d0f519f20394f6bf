// SPDX-License-Identifier: BSD-3-Clause
#include "tests/compose_pairs.h"

namespace leeway::test {
namespace {

TEST(Compose, QuantizersBeforePredictors) {
  EXPECT_GT((check_pairs<float, Order::quantize_first>(Predictors{}, Quantizers{})), 30u);
}

template <class... E, class... L>
void check_encoders(List<E...>, List<L...>) {
  const auto check = [&]<class Encoding>() {
    (check_composed(Compressor<float, Linear, Lorenzo, Encoding, L>()), ...);
  };
  (check.template operator()<E>(), ...);
}

TEST(Compose, EncodersBeforeLosslessStages) { check_encoders(Encoders{}, LosslessStages{}); }

TEST(Compose, PreprocessorsBeforeAll) {
  check_composed(Compressor<float, Dft, Linear, Huffman>());
  check_composed(Compressor<float, Transpose, Dft, Linear, Lorenzo, Huffman>());
  check_composed(Compressor<float, Transpose, Lorenzo, Linear, Huffman>(
      Transpose{.params = {.order = 21}}, Lorenzo(), Linear(), Huffman()));
}

TEST(Compose, AKindMayBeLeftOut) {
  check_composed(Compressor<float, Zstd>());
  check_composed(Compressor<double, Lorenzo>());
  check_composed(Compressor<double, Linear, Huffman>());
}

}  // namespace
}  // namespace leeway::test
