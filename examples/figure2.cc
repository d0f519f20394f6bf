// SPDX-License-Identifier: BSD-3-Clause
// The six compressors of Figure 2 of the SZ3 paper [Liang et al., 2021], composed as there: of
// stages, in C++, without a change in the library. What the paper calls bypass is left out here.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <vector>

#include "leeway/compressor.h"
#include "leeway/encode/arithmetic.h"
#include "leeway/encode/huffman.h"
#include "leeway/leeway.hpp"
#include "leeway/lossless/zstd.h"
#include "leeway/predict/composite.h"
#include "leeway/predict/interp.h"
#include "leeway/preprocess/log.h"

using namespace leeway;

// The transform of (f), a stage of our own: cosines of every eight values in a row. An error of a
// coefficient spreads over eight values and adds up with the others, so coefficients are made three
// times as large: more than the square root of eight.
struct Cosines {
  static constexpr std::string_view kName = "cosines";
  static constexpr std::string_view kAbout = "cosine transform of eight values in a row";
  static constexpr Kind kKind = Kind::preprocessor;
  static constexpr Traits kTraits{};
  NoParams params;

  void forward(Field<double> field, Writer&) const { transform(field, true, 3); }
  void backward(Field<double> field, Reader&) const { transform(field, false, 1.0 / 3); }

 private:
  static constexpr size_t kBlock = 8;
  static double weight(size_t k, size_t i) {
    return std::sqrt((k == 0 ? 1.0 : 2.0) / kBlock) *
           std::cos(std::numbers::pi * double(k) * (double(i) + 0.5) / kBlock);
  }
  static void transform(Field<double> field, bool forward, double scale) {
    for (size_t first = 0; first + kBlock <= field.size(); first += kBlock) {
      std::array<double, kBlock> out{};
      for (size_t k = 0; k < kBlock; ++k)
        for (size_t i = 0; i < kBlock; ++i)
          out[forward ? k : i] += scale * weight(k, i) * field.data[first + (forward ? i : k)];
      std::copy(out.begin(), out.end(), field.data + first);
    }
  }
};

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
  good &= show<double>("(f)", Compressor<double, Cosines, Linear, Arithmetic, Zstd>(), {40, 50, 60},
                       Bound::abs(1e-2));
  return good ? 0 : 1;
}
