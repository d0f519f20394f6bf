// SPDX-License-Identifier: BSD-3-Clause
// Fourier: discrete Fourier transforms of any length, and spectra of maps by wave number.
#pragma once

#include <complex>
#include <span>
#include <vector>

#include "leeway/base/types.h"

namespace leeway {

// A transform of a fixed length n: X(k) = sum over j of x(j) exp(-2 pi i j k / n).
class Fourier {
 public:
  explicit Fourier(size_t n);
  size_t size() const { return n_; }
  void transform(std::span<std::complex<double>> values);

 private:
  // The transform of n values of `in`, `stride` apart, into out[0 .. n).
  void split(const std::complex<double>* in, std::complex<double>* out, size_t n, size_t stride);
  void chirp(const std::complex<double>* in, std::complex<double>* out, size_t n, size_t stride);

  size_t n_;
  std::vector<std::complex<double>> roots_, copy_, scratch_;
};

// Power by wave number, in cycles per grid point: bin b of B holds frequencies from b / 2B to
// (b + 1) / 2B, up to Nyquist's 1/2; with two axes, the length of the vector of frequencies.
struct Spectra {
  std::vector<double> original, decoded, error;  // mean of |X|^2 / n over the bin, over all maps
  std::vector<u64> counts;                       // of coefficients; bins may have none
  u64 maps = 0;

  void merge(const Spectra& other);  // with the same number of bins
};

// Of maps of rows x columns values, or of lines if there is one row. Means are taken away first,
// and values that are not valid count as the mean.
class SpectrumMaker {
 public:
  SpectrumMaker(size_t rows, size_t columns, size_t bins);
  Spectra of(std::span<const double> x, std::span<const double> e, std::span<const u8> valid);

 private:
  size_t rows_, columns_, bins_;
  Fourier along_, across_;
  std::vector<std::complex<double>> values_, line_;
};

}  // namespace leeway
