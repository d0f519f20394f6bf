// SPDX-License-Identifier: BSD-3-Clause
// A predictor of your own for arrays of any rank, without index arithmetic: the library gives the
// neighbours, and 0 outside the array.
#include <cmath>
#include <cstdio>
#include <vector>

#include "leeway/compressor.h"
#include "leeway/encode/huffman.h"
#include "leeway/leeway.hpp"
#include "leeway/predict/neighbours.h"

// Volumes whose slices are alike: the same place in the slice before, corrected by what the value
// to the left was off there.
struct Alike {
  static constexpr std::string_view kName = "alike";
  static constexpr std::string_view kAbout = "the slice before, corrected by the left neighbour";
  static constexpr leeway::Kind kKind = leeway::Kind::predictor;
  static constexpr leeway::Traits kTraits{};
  leeway::NoParams params;

  template <class T>
  void walk(leeway::Field<T> field, auto& coder) const {
    leeway::walk_neighbours(field, coder, [](const auto& at) {
      return at(-1, 0, 0) + (at(0, 0, -1) - at(-1, 0, -1));
    });
  }
};

// Before the quantizer it predicts values, after it integers; the same walk serves both.
using Values = leeway::Compressor<float, Alike, leeway::Linear, leeway::Huffman>;
using Integers = leeway::Compressor<float, leeway::Linear, Alike, leeway::Huffman>;

int main() {
  const leeway::Shape shape{20, 60, 80};
  std::vector<float> volume(shape.size());
  for (size_t i = 0; i < volume.size(); ++i) {
    const double x = double(i % 80), y = double(i / 80 % 60), z = double(i / 4800);
    volume[i] = float(std::sin(0.3 * x) * std::cos(0.5 * y) + 0.1 * z + 0.02 * x);
  }
  const auto check = [&](const auto& compressor) {
    const leeway::Bytes stream = compressor.compress(volume.data(), shape, leeway::Bound::abs(1e-3));
    try {  // the library alone does not know the stage, and names it
      leeway::decompress(stream);
      return false;
    } catch (const leeway::Error& error) {
      std::printf("%s\n", error.what());
    }
    const auto known = compressor.known();  // now all of its readers do
    const leeway::Array decoded = leeway::decompress(stream);
    for (size_t i = 0; i < volume.size(); ++i)
      if (!(std::abs(volume[i] - decoded.as<float>()[i]) <= 1e-3f)) return false;
    return true;
  };
  return check(Values()) && check(Integers()) ? 0 : 1;
}
