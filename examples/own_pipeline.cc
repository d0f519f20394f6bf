// SPDX-License-Identifier: BSD-3-Clause
// Pipelines at compile time, with a preprocessor and a predictor of your own.
#include <cmath>
#include <cstdio>
#include <vector>

#include "leeway/compressor.h"
#include "leeway/encode/huffman.h"
#include "leeway/leeway.hpp"
#include "leeway/lossless/zstd.h"

// A preprocessor: subtracts the mean, as a whole number, so that decoded values have the same. It
// rounds, so the engine checks every value behind it against the bound, and that decoded values
// would stay the same; it keeps a chunk without loss if one does not.
struct Center {
  static constexpr std::string_view kName = "center";
  static constexpr std::string_view kAbout = "subtracts the mean";
  static constexpr leeway::Kind kKind = leeway::Kind::preprocessor;
  static constexpr leeway::Traits kTraits{};
  leeway::NoParams params;

  void forward(leeway::Field<double> field, leeway::Writer& side) const {
    double mean = 0;
    for (const double value : field.values()) mean += value / double(field.size());
    mean = std::round(mean);
    for (double& value : field.values()) value -= mean;
    side.put(mean);
  }
  void backward(leeway::Field<double> field, leeway::Reader& side) const {
    const auto mean = side.get<double>();
    for (double& value : field.values()) value += mean;
  }
};

// A predictor: the value before. walk() hands every value with its prediction to a coder. It serves
// both directions, and both orders: before the quantizer the coder takes values, after it integers.
struct Previous {
  static constexpr std::string_view kName = "previous";
  static constexpr std::string_view kAbout = "the value before";
  static constexpr leeway::Kind kKind = leeway::Kind::predictor;
  static constexpr leeway::Traits kTraits{};
  leeway::NoParams params;

  template <class T>
  void walk(leeway::Field<T> field, auto& coder) const {
    leeway::Predicted<T> before{};
    for (T& value : field.values()) {
      coder.point(value, before);  // leaves in `value` what the decoder will have
      before = leeway::Predicted<T>(value);
    }
  }
};

int main() {
  const leeway::Shape shape{100000};
  std::vector<double> series(shape.size());
  for (size_t i = 0; i < series.size(); ++i) series[i] = 1e4 + std::sin(0.01 * double(i));

  // The quantizer comes first: a preprocessor that computes may not come before a predictor of
  // values, or data compressed again might change.
  const leeway::Compressor<double, Center, leeway::Linear, Previous, leeway::Huffman, leeway::Zstd>
      compressor;
  const leeway::Bytes stream = compressor.compress(series.data(), shape, leeway::Bound::abs(1e-6));
  const leeway::Array decoded = compressor.decompress(stream);
  std::printf("%s: ratio %.1f\n", compressor.recipe().c_str(),
              double(series.size() * 8) / double(stream.size()));
  for (size_t i = 0; i < series.size(); ++i)
    if (!(std::abs(series[i] - decoded.as<double>()[i]) <= 1e-6)) return 1;
  return 0;
}
