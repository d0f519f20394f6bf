// SPDX-License-Identifier: BSD-3-Clause
// The six compressors of Figure 2 of the SZ3 paper [Liang et al., 2021], composed as there: of
// stages, in C++, without a change in the library. What the paper calls bypass is left out here.
#include <cmath>
#include <cstdio>
#include <vector>

#include "leeway/compressor.h"
#include "leeway/encode/arithmetic.h"
#include "leeway/encode/huffman.h"
#include "leeway/leeway.hpp"
#include "leeway/lossless/zstd.h"
#include "leeway/predict/composite.h"
#include "leeway/predict/interp.h"
#include "leeway/preprocess/dft.h"
#include "leeway/preprocess/log.h"

using namespace leeway;

// Compresses a field of smooth waves and says whether the bound held.
template <class T, class Compressor>
bool show(const char* what, const Compressor& compressor, const Shape& shape, const Bound& bound) {
  std::vector<T> values(shape.size());
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = T(1000 + 300 * std::sin(0.011 * double(i)) * std::cos(0.0007 * double(i)));
  const Bytes stream = compressor.compress(values.data(), shape, bound);
  const Array decoded = compressor.decompress(stream);
  std::printf("%s %-45s ratio %5.1f\n", what, compressor.recipe().c_str(),
              double(values.size() * sizeof(T)) / double(stream.size()));
  const Limit limit = bound.limits()[0];
  for (size_t i = 0; i < values.size(); ++i) {
    const double x = double(values[i]), error = std::abs(x - double(decoded.as<T>()[i]));
    if (!(error <= limit.value * (limit.kind == BoundKind::pointwise ? std::abs(x) : 1)))
      return false;
  }
  return true;
}

int main() {
  bool good = true;
  // SZ-pwr for 1-D floats: bounds relative to each value, by logarithms.
  good &= show<float>("(a)", Compressor<float, Log, Lorenzo, Linear, Huffman, Zstd>(), {100000},
                      Bound::pointwise(1e-3));
  // SZ-2.1 for 2-D integers: the better of two predictors for every block.
  good &= show<int>("(b)", Compressor<int, Composite, Linear, Huffman, Zstd>(), {300, 400},
                    Bound::abs(3));
  // SZ-interp for 3-D doubles.
  good &= show<double>("(c)", Compressor<double, Interp, Linear, Huffman, Zstd>(), {40, 50, 60},
                       Bound::abs(1e-2));
  // No prediction and no lossless stage, for speed.
  good &= show<float>("(d)", Compressor<float, Linear, Arithmetic>(), {100000}, Bound::abs(1e-2));
  // Lorenzo of order 2, for tight bounds.
  good &= show<int>("(e)",
                    Compressor<int, Lorenzo, Linear, Huffman>(Lorenzo{.params = {.order = 2}},
                                                              Linear(), Huffman()),
                    {300, 400}, Bound::abs(1));
  // A transform instead of prediction.
  const Dft fourier{.params = {.waves = Waves::fourier}};
  good &= show<double>(
      "(f)",
      Compressor<double, Dft, Linear, Arithmetic, Zstd>(fourier, Linear(), Arithmetic(), Zstd()),
      {40, 50, 60}, Bound::abs(1e-2));
  return good ? 0 : 1;
}
