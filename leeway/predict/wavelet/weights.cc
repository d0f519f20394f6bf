// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/wavelet/weights.h"

#include <algorithm>
#include <cmath>

namespace leeway::wavelet {

const Weights& BandWeights::of(const Band& band) const {
  for (size_t level = band.level; level <= 2; ++level)
    if (const Weights* found = sets_.find(level, band.high)) return *found;
  return kUsualWeights;
}

void BandWeights::write(const Bands& bands, Writer& out) const {
  WeightSets<bool> done;
  for (const Band& band : bands.all) {
    if (band.high == 0 || std::exchange(done.at(band), true)) continue;
    const auto* found = sets_.find(band);
    out.put(u8(found != nullptr));
    if (found) out.put_array(std::span<const i8>(*found));
  }
}

BandWeights BandWeights::read(const Bands& bands, Reader& in) {
  BandWeights weights;
  WeightSets<bool> done;
  for (const Band& band : bands.all) {
    if (band.high == 0 || std::exchange(done.at(band), true)) continue;
    const u8 sent = in.get<u8>();
    if (sent > 1) fail_corrupt("weights of a wavelet");
    if (sent) in.get_array(std::span<i8>(weights.sets_.at(band)));
  }
  return weights;
}

// Sizes spread the more the larger they are: each sample counts by what it may be off.
void Learner::add(const Features& features, const u8* sizes, size_t count) {
  for (size_t x = 0; x < count; ++x) {
    std::array<double, kKnown> known{};
    known[kKnown - 1] = double(kConstant) / 8;
    double expected = known[kKnown - 1] * double(kUsualWeights[kKnown - 1]) / 64;
    for (size_t k = 0; k < kRows; ++k)
      if (features.present >> k & 1) {
        known[k] = double(features.rows[k][x]) / 8;
        expected += known[k] * double(kUsualWeights[k]) / 64;
      }
    const double size = sizes[x], off = size - expected;
    const double weight = 1 / (0.5 * off * off + 4 * expected * expected + 0.25);
    for (size_t i = 0; i < kKnown; ++i) {
      const double weighted = weight * known[i];
      for (size_t j = 0; j <= i; ++j) sums_[i][j] += weighted * known[j];
      sums_[i][kKnown] += weighted * size;
    }
  }
}

// Cholesky's decomposition.
Weights Learner::solved() const {
  auto a = sums_;
  const double total = a[kKnown - 1][kKnown - 1] / (kConstant / 8) / (kConstant / 8);
  std::array<double, kKnown> x{};
  for (size_t i = 0; i < kKnown; ++i) {
    a[i][i] += 1e-4 * a[i][i] + 1e-5 * total;
    for (size_t j = 0; j <= i; ++j) {
      double s = a[i][j];
      for (size_t k = 0; k < j; ++k) s -= a[i][k] * a[j][k];
      if (i != j)
        a[i][j] = s / a[j][j];
      else if (s > 0)
        a[i][i] = std::sqrt(s);
      else
        return kUsualWeights;
    }
  }
  for (size_t i = 0; i < kKnown; ++i) {
    double s = a[i][kKnown];
    for (size_t k = 0; k < i; ++k) s -= a[i][k] * x[k];
    x[i] = s / a[i][i];
  }
  for (size_t i = kKnown; i-- > 0;) {
    double s = x[i];
    for (size_t k = i + 1; k < kKnown; ++k) s -= a[k][i] * x[k];
    x[i] = s / a[i][i];
  }
  Weights weights;
  for (size_t k = 0; k < kKnown; ++k)
    weights[k] = i8(std::clamp(std::floor(x[k] * 64 + 0.5), -127.0, 127.0));
  return weights;
}

}  // namespace leeway::wavelet
