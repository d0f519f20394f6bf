// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/quality/fourier.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace leeway {
namespace {

using Complex = std::complex<double>;

// Longer prime factors are left to the chirp transform.
constexpr size_t kLongestFactor = 13;

size_t smallest_factor(size_t n) {
  for (size_t p = 2; p * p <= n; ++p)
    if (n % p == 0) return p;
  return n;
}

Complex root_of_unity(double turns) { return std::polar(1.0, -2 * std::numbers::pi * turns); }

// Without the test for NaN and infinity of std::complex.
Complex times(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

}  // namespace

Fourier::Fourier(size_t n) : n_(n), roots_(n), copy_(n), scratch_(kLongestFactor) {
  for (size_t i = 0; i < n; ++i) roots_[i] = root_of_unity(double(i) / double(n));
}

void Fourier::transform(std::span<Complex> values) {
  std::ranges::copy(values, copy_.begin());
  split(copy_.data(), values.data(), n_, 1);
}

// Of p interleaved parts, each transformed by itself [Cooley, Tukey 1965].
void Fourier::split(const Complex* in, Complex* out, size_t n, size_t stride) {
  if (n == 1) {
    out[0] = in[0];
    return;
  }
  const size_t p = n % 4 == 0 ? 2 : smallest_factor(n), m = n / p;
  if (p > kLongestFactor) return chirp(in, out, n, stride);
  for (size_t part = 0; part < p; ++part) split(in + part * stride, out + part * m, m, stride * p);
  for (size_t k = 0; k < m; ++k) {
    if (p == 2) {
      const Complex a = out[k], b = times(out[m + k], roots_[k * stride]);
      out[k] = a + b, out[m + k] = a - b;
      continue;
    }
    for (size_t part = 0; part < p; ++part)
      scratch_[part] = times(out[part * m + k], roots_[part * k * stride]);
    for (size_t q = 0; q < p; ++q) {
      Complex sum = scratch_[0];
      for (size_t part = 1; part < p; ++part)
        sum += times(scratch_[part], roots_[part * q * m * stride % n_]);
      out[q * m + k] = sum;
    }
  }
}

// As a convolution whose length is a power of two [Bluestein 1970].
void Fourier::chirp(const Complex* in, Complex* out, size_t n, size_t stride) {
  size_t length = 1;
  while (length < 2 * n) length *= 2;
  Fourier whole(length);
  std::vector<Complex> a(length), b(length), turns(n);
  for (size_t i = 0; i < n; ++i) {
    turns[i] = root_of_unity(double(i * i % (2 * n)) / double(2 * n));
    a[i] = times(in[i * stride], turns[i]);
    b[i] = b[(length - i) % length] = std::conj(turns[i]);
  }
  whole.transform(a);
  whole.transform(b);
  for (size_t i = 0; i < length; ++i) a[i] = std::conj(times(a[i], b[i]));
  whole.transform(a);
  for (size_t i = 0; i < n; ++i) out[i] = times(std::conj(a[i]), turns[i]) / double(length);
}

void Spectra::merge(const Spectra& other) {
  maps += other.maps;
  if (original.empty()) {
    *this = other;
    return;
  }
  for (size_t i = 0; i < counts.size(); ++i) {
    const u64 both = counts[i] + other.counts[i];
    if (both == 0) continue;
    const double share = double(other.counts[i]) / double(both);
    original[i] += (other.original[i] - original[i]) * share;
    decoded[i] += (other.decoded[i] - decoded[i]) * share;
    error[i] += (other.error[i] - error[i]) * share;
    counts[i] = both;
  }
}

SpectrumMaker::SpectrumMaker(size_t rows, size_t columns, size_t bins)
    : rows_(rows),
      columns_(columns),
      bins_(bins),
      along_(columns),
      across_(rows),
      values_(rows * columns),
      line_(rows) {}

// The original is the real part and the error, scaled to its size, the imaginary part of one
// transform: they are parted by the symmetry of transforms of real numbers.
Spectra SpectrumMaker::of(std::span<const double> x, std::span<const double> e,
                          std::span<const u8> valid) {
  double sum_x = 0, sum_e = 0, xx = 0, ee = 0;
  u64 n = 0;
  for (size_t i = 0; i < x.size(); ++i)
    if (valid[i]) sum_x += x[i], sum_e += e[i], ++n;
  const double mean_x = n ? sum_x / double(n) : 0, mean_e = n ? sum_e / double(n) : 0;
  for (size_t i = 0; i < x.size(); ++i) {
    if (!valid[i]) continue;
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    ee += (e[i] - mean_e) * (e[i] - mean_e);
  }
  const double scale = ee > 0 && xx > 0 ? std::exp2(std::round(std::log2(xx / ee) / 2)) : 1;
  for (size_t i = 0; i < x.size(); ++i)
    values_[i] = valid[i] ? Complex(x[i] - mean_x, (e[i] - mean_e) * scale) : Complex(0, 0);
  for (size_t row = 0; row < rows_; ++row)
    along_.transform(std::span(values_).subspan(row * columns_, columns_));
  for (size_t column = 0; column < columns_ && rows_ > 1; ++column) {
    for (size_t row = 0; row < rows_; ++row) line_[row] = values_[row * columns_ + column];
    across_.transform(line_);
    for (size_t row = 0; row < rows_; ++row) values_[row * columns_ + column] = line_[row];
  }
  Spectra result;
  result.maps = 1;
  result.original.resize(bins_), result.decoded.resize(bins_), result.error.resize(bins_);
  result.counts.resize(bins_);
  const auto frequency = [](size_t k, size_t size) {
    return double(std::min(k, size - k)) / double(size);
  };
  for (size_t row = 0; row < rows_; ++row)
    for (size_t column = 0; column < columns_; ++column) {
      if (row == 0 && column == 0) continue;
      const double f = std::hypot(frequency(row, rows_), frequency(column, columns_));
      const auto bin = size_t(f * 2 * double(bins_));
      if (bin >= bins_) continue;
      const Complex z = values_[row * columns_ + column],
                    w = std::conj(
                        values_[(rows_ - row) % rows_ * columns_ + (columns_ - column) % columns_]);
      const Complex original = (z + w) / 2.0, error = times(z - w, Complex(0, -0.5)) / scale;
      result.original[bin] += std::norm(original);
      result.decoded[bin] += std::norm(original - error);
      result.error[bin] += std::norm(error);
      ++result.counts[bin];
    }
  for (size_t bin = 0; bin < bins_; ++bin)
    for (auto* power : {&result.original, &result.decoded, &result.error})
      if (result.counts[bin]) (*power)[bin] /= double(result.counts[bin]) * double(x.size());
  return result;
}

}  // namespace leeway
