// SPDX-License-Identifier: BSD-3-Clause
// A quantizer with a grid of its own: what comes back are decimals with as few places as the bound
// allows, as an instrument with a coarser scale would have written them.
//
// at<T>(bound) gives the grid of one bound. Its first two functions are what a quantizer is about;
// the other two do the same for many values, with predictions of 0, and leave it to the library to
// do one after the other.
#include <cmath>
#include <cstdio>
#include <vector>

#include "leeway/compressor.h"
#include "leeway/encode/huffman.h"
#include "leeway/leeway.hpp"
#include "leeway/lossless/zstd.h"
#include "leeway/predict/lorenzo.h"
#include "leeway/quantize/one_by_one.h"

template <class T>
struct DecimalGrid {
  double scale;  // a power of ten: values are whole numbers divided by it
  double bound;

  // The code of a value. Puts into the value what recover() will make of the code; returns false if
  // no code keeps the bound: then the library keeps the value itself.
  bool quantize(T& value, leeway::Predicted<T>, leeway::Code<T>& code) const {
    const double number = std::nearbyint(double(value) * scale);
    if (!(std::abs(number) < 0x1p30)) return false;  // NaN and infinities, too
    const T decimal = recover(0, leeway::Code<T>(number));
    if (!(std::abs(double(decimal) - double(value)) <= bound)) return false;
    code = leeway::Code<T>(number);
    value = decimal;
    return true;
  }
  T recover(leeway::Predicted<T>, leeway::Code<T> code) const { return T(double(code) / scale); }

  double quantize(std::span<T> values, std::span<leeway::Code<T>> codes, leeway::Patches<T>& exact,
                  size_t first, leeway::Code<T> before) const {
    return leeway::quantize_one_by_one(*this, values, codes, exact, first, before);
  }
  void recover(std::span<const leeway::Code<T>> codes, std::span<T> values) const {
    leeway::recover_one_by_one(*this, codes, values);
  }
};

struct Decimal {
  static constexpr std::string_view kName = "decimal";
  static constexpr std::string_view kAbout = "decimals with as few places as the bound allows";
  static constexpr leeway::Kind kKind = leeway::Kind::quantizer;
  // Codes do not depend on predictions, so a predictor can only come after it.
  static constexpr leeway::Traits kTraits{.floating_only = true, .ignores_prediction = true};
  leeway::NoParams params;

  // The decoder computes this again, so it must be the same everywhere: products of doubles are,
  // what std::pow() gives is not.
  template <class T>
  DecimalGrid<T> at(double bound) const {
    double scale = 1;
    while (0.5 / scale > bound && scale < 1e22) scale *= 10;
    return {scale, bound};
  }
};

int main() {
  const leeway::Shape shape{200, 300};
  std::vector<double> field(shape.size());
  for (size_t i = 0; i < field.size(); ++i)
    field[i] = 280 + 10 * std::sin(0.01 * double(i % 300)) * std::cos(0.02 * double(i / 300));

  const leeway::Compressor<double, Decimal, leeway::Lorenzo, leeway::Huffman, leeway::Zstd>
      compressor;
  const leeway::Bytes stream = compressor.compress(field.data(), shape, leeway::Bound::abs(0.05));
  const leeway::Array decoded = compressor.decompress(stream);
  std::printf("%s: ratio %.0f, %.4f became %g\n", compressor.recipe().c_str(),
              double(field.size() * 8) / double(stream.size()), field[7], decoded.as<double>()[7]);

  for (size_t i = 0; i < field.size(); ++i) {
    const double value = decoded.as<double>()[i];
    if (!(std::abs(field[i] - value) <= 0.05)) return 1;
    if (value != std::nearbyint(value * 10) / 10) return 1;  // one place, as asked
  }
  return 0;
}
