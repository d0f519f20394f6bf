// SPDX-License-Identifier: BSD-3-Clause
#include "tools/sample_fields.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <thread>

#include "leeway/base/parallel.h"

namespace leeway::cli {
namespace {

constexpr double kPi = std::numbers::pi;

// SplitMix64 [Steele et al., 2014]: the i-th random number of a seed, in any order.
u64 random_bits(u64 seed, u64 i) {
  u64 z = seed * 0x9e3779b97f4a7c15u + (i + 1) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
double uniform(u64 seed, u64 i) { return double(random_bits(seed, i) >> 11) * 0x1p-53; }
// The sum of four uniform numbers is close enough to a normal one.
double normal(u64 seed, u64 i) {
  const u64 b = random_bits(seed, i);
  const double sum =
      double(b & 0xffff) + double(b >> 16 & 0xffff) + double(b >> 32 & 0xffff) + double(b >> 48);
  return (sum / 65536 - 2) * std::numbers::sqrt3;
}

using Complex = std::complex<float>;

// In-place FFT of a power-of-two number of values; the sign of the exponent does not matter here.
class Fft {
 public:
  explicit Fft(size_t n) : n_(n), roots_(n / 2) {
    for (size_t i = 0; i < n / 2; ++i)
      roots_[i] = Complex(std::polar(1.0, 2 * kPi * double(i) / double(n)));
  }
  void run(Complex* x) const {
    for (size_t i = 1, j = 0; i < n_; ++i) {
      size_t bit = n_ >> 1;
      for (; j & bit; bit >>= 1) j ^= bit;
      j ^= bit;
      if (i < j) std::swap(x[i], x[j]);
    }
    for (size_t length = 2; length <= n_; length *= 2)
      for (size_t start = 0; start < n_; start += length)
        for (size_t k = 0; k < length / 2; ++k) {
          const Complex u = x[start + k], r = roots_[k * (n_ / length)],
                        w = x[start + k + length / 2];
          const Complex v(w.real() * r.real() - w.imag() * r.imag(),
                          w.real() * r.imag() + w.imag() * r.real());
          x[start + k] = u + v;
          x[start + k + length / 2] = u - v;
        }
  }

 private:
  size_t n_;
  std::vector<Complex> roots_;
};

// Two independent periodic random fields (real and imaginary part) whose energy falls as k^-slope.
class SpectralBox {
 public:
  SpectralBox(std::span<const u64> extents, double slope, u64 seed) {
    const u64 cap = extents.size() == 1 ? 1 << 20 : extents.size() == 2 ? 4096 : 256;
    size_t total = 1;
    for (const u64 extent : extents) {
      box_.push_back(size_t(std::min(cap, std::bit_ceil(std::max<u64>(extent, 2)))));
      total *= box_.back();
    }
    modes_.resize(total);
    const double power = -(slope + double(box_.size()) - 1) / 2;
    const size_t row = box_.back();
    parallel(total / row, [&](u64 r) {
      double k2_outer = 0;
      for (size_t axis = box_.size() - 1, rest = size_t(r); axis-- > 0; rest /= box_[axis])
        k2_outer += std::pow(frequency(rest % box_[axis], axis), 2);
      for (size_t i = 0; i < row; ++i) {
        const double k2 = k2_outer + std::pow(frequency(i, box_.size() - 1), 2);
        const double amplitude = k2 > 0 ? std::pow(k2, power / 2) : 0;
        const u64 id = u64(r) * row + i;
        modes_[id] = Complex(float(amplitude * normal(seed, 2 * id)),
                             float(amplitude * normal(seed, 2 * id + 1)));
      }
    });
    size_t stride = 1;
    for (size_t axis = box_.size(); axis-- > 0; stride *= box_[axis]) transform(axis, stride);
    double squares = 0;
    for (const Complex& mode : modes_) squares += std::norm(mode);
    scale_ = 1 / std::sqrt(squares / 2 / double(total));
  }

  // Standard deviation 1. Coordinates beyond the box wrap around.
  Complex at(std::span<const u64> index) const {
    size_t offset = 0;
    for (size_t axis = 0; axis < box_.size(); ++axis)
      offset = offset * box_[axis] + size_t(index[axis]) % box_[axis];
    return modes_[offset] * float(scale_);
  }

 private:
  double frequency(size_t i, size_t axis) const {
    const double n = double(box_[axis]);
    return double(i) <= n / 2 ? double(i) : double(i) - n;
  }
  static void parallel(u64 count, const std::function<void(u64)>& f) {
    const u64 pieces = std::min<u64>(count, 64);
    for_each_index(pieces, std::max(1u, std::thread::hardware_concurrency()), nullptr,
                   [&](u64 piece) {
                     for (u64 i = count * piece / pieces; i < count * (piece + 1) / pieces; ++i)
                       f(i);
                   });
  }
  void transform(size_t axis, size_t stride) {
    const size_t n = box_[axis];
    const Fft fft(n);
    // Lines are handled in groups of neighbours, so that memory is read in whole cache lines.
    const size_t group = std::min<size_t>(stride, 16);
    parallel(modes_.size() / n / group, [&](u64 g) {
      const size_t first = size_t(g) * group, base = first / stride * stride * n + first % stride;
      std::vector<Complex> lines(n * group);
      for (size_t i = 0; i < n; ++i)
        for (size_t l = 0; l < group; ++l) lines[l * n + i] = modes_[base + i * stride + l];
      for (size_t l = 0; l < group; ++l) fft.run(lines.data() + l * n);
      for (size_t i = 0; i < n; ++i)
        for (size_t l = 0; l < group; ++l) modes_[base + i * stride + l] = lines[l * n + i];
    });
  }

  std::vector<size_t> box_;
  std::vector<Complex> modes_;
  double scale_ = 1;
};

// A random field over the last `axes` axes; earlier axes are time, in which it turns slowly.
void add_spectral(const Shape& shape, size_t axes, double slope, u64 seed, double weight,
                  std::span<double> values) {
  const size_t used = std::max<size_t>(1, std::min(axes, shape.rank()));
  const std::vector<u64> inner =
      shape.rank() == 0
          ? std::vector<u64>{1}
          : std::vector<u64>(shape.extents().end() - std::ptrdiff_t(used), shape.extents().end());
  const SpectralBox box(inner, slope, seed);
  const Shape part{std::span<const u64>(inner)};
  const size_t size = size_t(part.size());
  for (size_t t = 0; size > 0 && t < values.size() / size; ++t) {
    const double phase = 0.07 * double(t);
    const float c = float(std::cos(phase) * weight), s = float(std::sin(phase) * weight);
    size_t i = t * size;
    for_each_outer(part, 0, [&](const Index& index) {
      const Complex z = box.at(index);
      values[i++] += double(c * z.real() - s * z.imag());
    });
  }
}

u64 extent_from_end(const Shape& shape, size_t k) {
  return shape.rank() > k ? shape[shape.rank() - 1 - k] : 1;
}

void make_turbulence(const Shape& shape, u64 seed, std::span<double> values) {
  std::ranges::fill(values, 0.0);
  add_spectral(shape, 3, 5.0 / 3, seed, 1, values);
}

void make_climate(const Shape& shape, u64 seed, std::span<double> values) {
  std::ranges::fill(values, 0.0);
  std::vector<double> land(values.size());
  add_spectral(shape, 2, 2.2, seed, 2.5, values);
  const u64 nx = extent_from_end(shape, 0), ny = extent_from_end(shape, 1), slice = nx * ny;
  add_spectral(Shape{ny, nx}, 2, 3, seed + 1, 1,
               std::span(land).first(size_t(std::min<u64>(slice, land.size()))));
  for (u64 i = 0; i < values.size(); ++i) {
    const double latitude = ((double(i / nx % ny) + 0.5) / double(ny) - 0.5) * kPi;
    values[i] =
        land[i % slice] > 0.6 ? 1e20 : values[i] + 302 * std::sqrt(std::cos(latitude)) * 0.1 + 272;
  }
}

void make_particles(const Shape& shape, u64 seed, std::span<double> values) {
  const u64 atoms = extent_from_end(shape, 0);
  const auto side = u64(std::ceil(std::cbrt(double(atoms))));
  for (u64 i = 0; i < values.size(); ++i) {
    const u64 atom = i % atoms, frame = i / atoms;
    double x = 3.6 * (double(atom / side % side) + 0.5 * double(atom % 2));
    for (u64 mode = 0; mode < 3; ++mode) {
      const u64 id = atom * 8 + mode;
      const double frequency = 0.15 + 0.5 * uniform(seed, 2 * id),
                   phase = 2 * kPi * uniform(seed, 2 * id + 1);
      x += 0.08 * std::cos(frequency * double(frame) + phase);
    }
    values[i] = x;
  }
}

void make_wave(const Shape& shape, u64 seed, std::span<double> values) {
  const size_t rank = std::max<size_t>(1, std::min<size_t>(shape.rank(), 3));
  const u64 nx = extent_from_end(shape, 0), ny = rank > 1 ? extent_from_end(shape, 1) : 1,
            nz = rank > 2 ? extent_from_end(shape, 2) : 1;
  const double longest = double(std::max({nx, ny, nz}));
  for (u64 i = 0; i < values.size(); ++i) {
    const double x = double(i % nx), y = double(i / nx % ny), z = double(i / nx / ny % nz);
    const double t = 0.6 * longest + 4 * double(i / nx / ny / nz);
    double sum = 0;
    for (u64 source = 0; source < 5; ++source) {  // the first is real, the others are reflections
      const double sx = double(nx) * (uniform(seed, 8 * source) * 1.6 - 0.3),
                   sy = double(ny) * uniform(seed, 8 * source + 1),
                   sz = double(nz) * (uniform(seed, 8 * source + 2) * 1.6 - 0.3);
      const double r = std::sqrt((x - sx) * (x - sx) + (y - sy) * (y - sy) + (z - sz) * (z - sz));
      const double delay = (r - t * (0.7 + 0.3 * uniform(seed, 8 * source + 3))) / (longest * 0.03);
      if (std::abs(delay) > 5) continue;  // nothing has arrived yet, or all has passed
      const double a = kPi * kPi * delay * delay / 4;
      sum += (1 - 2 * a) * std::exp(-a) / (1 + r / longest * 8) / double(1 + source);
    }
    values[i] = sum;
  }
}

double poisson(double mean, u64 seed, u64 i) {
  if (mean > 40) return std::max(0.0, std::round(mean + std::sqrt(mean) * normal(seed, i)));
  double product = 1, limit = std::exp(-mean), count = -1;
  for (u64 k = 0; product > limit; ++k, ++count) product *= uniform(seed + 77 * (k + 1), i);
  return count;
}

void make_counts(const Shape& shape, u64 seed, std::span<double> values) {
  const u64 nx = extent_from_end(shape, 0), ny = extent_from_end(shape, 1);
  for (u64 i = 0; i < values.size(); ++i) {
    const u64 x = i % nx, y = i / nx % ny;
    const double dx = double(x) - double(nx) / 2, dy = double(y) - double(ny) / 2;
    const double r = std::sqrt(dx * dx + dy * dy) / double(std::max(nx, ny));
    double mean = 12 * std::exp(-6 * r) + 3 * std::exp(-std::pow((r - 0.22) / 0.03, 2)) + 0.4;
    const u64 cell = x / 32 + 4096 * (y / 32);  // one cell in nine has a Bragg peak
    if (uniform(seed + 1, cell) < 0.11) {
      const double px = 6 + 20 * uniform(seed + 2, cell), py = 6 + 20 * uniform(seed + 3, cell);
      const double d2 = std::pow(double(x % 32) - px, 2) + std::pow(double(y % 32) - py, 2);
      mean += 4000 * std::pow(uniform(seed + 4, cell), 6) * std::exp(-d2 / 2);
    }
    values[i] = poisson(mean, seed, i);
    if (x % 494 >= 487 || y % 212 >= 195)
      values[i] = -1;  // gap between modules
    else if (uniform(seed + 5, y * nx + x) < 2e-5)
      values[i] = -2;  // dead pixel
  }
}

void make_integrals(const Shape&, u64 seed, std::span<double> values) {
  constexpr u64 kSide = 36, kBlock = kSide * kSide, kRank = 6;  // (dd|dd)
  for (u64 i = 0; i < values.size(); ++i) {
    const u64 block = i / kBlock, row = i % kBlock / kSide, column = i % kSide;
    double sum = 0;
    for (u64 term = 0; term < kRank; ++term) {
      const u64 id = (block * kRank + term) * 256;
      const double size = std::pow(10.0, -1 - 8 * uniform(seed, block) - 1.3 * double(term));
      const auto entry = [&](u64 k) {  // some entries vanish by symmetry
        return uniform(seed + 1, block % 7 * 64 + k) < 0.05 ? 0.0 : normal(seed + 2, id + k);
      };
      sum += size * entry(row) * entry(64 + column);
    }
    values[i] = sum;
  }
}

constexpr SampleKind kKinds[] = {
    {"turbulence", "velocity with a k^-5/3 spectrum, 1-D to 3-D (earlier axes: time)",
     "128x128x128", DType::f32, make_turbulence},
    {"climate", "sea surface temperature, latitude x longitude; land is 1e20", "360x720",
     DType::f32, make_climate},
    {"particles", "positions of vibrating atoms, frame x atom", "50x32000", DType::f32,
     make_particles},
    {"wave", "seismic wavefield, exact zeros ahead of the front", "64x256x256", DType::f32,
     make_wave},
    {"counts", "photon counts of a detector; -1 gaps, -2 dead pixels", "1024x1024", DType::i32,
     make_counts},
    {"integrals", "two-electron integrals in blocks of 36x36", "1296000", DType::f64,
     make_integrals},
};

}  // namespace

std::span<const SampleKind> sample_kinds() { return kKinds; }

}  // namespace leeway::cli
