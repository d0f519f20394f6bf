// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/engine/squared_error.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "leeway/base/buffer.h"
#include "leeway/base/distance.h"
#include "leeway/engine/make_frame.h"

namespace leeway {
namespace {

// More decibels are kept without loss: squares would overflow.
constexpr double kMostPsnr = 2000;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Measured {
  double squares = 0;  // the sum of squared errors, each scaled before it is squared
  u64 values = 0;      // how many are not special
};

template <class T>
Measured measure_chunk(const Job& job, u64 ordinal, double bound, double scale) {
  const Box box = job.header.chunk_box(ordinal);
  Buffer<T> original(size_t(box.shape.size())), decoded(original.size());
  gather(job.chunk(ordinal), original.data());
  std::ranges::copy(original, decoded.data());
  with_chunk_bound(job, ordinal, bound, [&](const ChunkBound& own) {
    if (own.most > 0) job.codec.measure(decoded.data(), box.shape.squeezed(), own, job.mask);
  });
  Measured measured;
  for (size_t i = 0; i < original.size(); ++i) {
    if (job.mask.is_special(original[i])) continue;
    const double error = error_between(original[i], decoded[i]) * scale;
    measured.squares += error * error;
    ++measured.values;
  }
  return measured;
}

// What each process has measured becomes known to all.
void share(const Job& job, std::vector<Measured>& parts) {
  std::vector<u64> numbers;
  for (const Measured& part : parts) {
    numbers.push_back(std::bit_cast<u64>(part.squares));
    numbers.push_back(part.values);
  }
  job.share(numbers);
  for (size_t i = 0; i < parts.size(); ++i)
    parts[i] = {std::bit_cast<double>(numbers[2 * i]), numbers[2 * i + 1]};
}

Measured measure(const Job& job, double bound, double scale) {
  std::vector<Measured> parts(static_cast<size_t>(job.chunks));
  for_each_index(job.chunks, job.threads, job.options.execution.executor, [&](u64 i) {
    if (!job.holds(i)) return;
    visit_dtype(job.view.dtype, [&]<class T>(std::type_identity<T>) {
      parts[size_t(i)] = measure_chunk<T>(job, i, bound, scale);
    });
    job.pause();
  });
  if (job.part) share(job, parts);
  Measured sum;  // in the order of the chunks, so that it does not depend on who measured
  for (const Measured& part : parts) {
    sum.squares += part.squares;
    sum.values += part.values;
  }
  return sum;
}

// The smallest error that a limit speaks of: the norm of an l2 limit, the root mean square of a
// psnr limit.
double smallest_error(const Job& job) {
  double smallest = std::numeric_limits<double>::max();
  for (const Limit& limit : job.header.bound.limits()) {
    if (limit.kind == BoundKind::l2) smallest = std::min(smallest, limit.value);
    if (limit.kind == BoundKind::psnr)
      smallest = limit.value > kMostPsnr
                     ? 0
                     : std::min(smallest, job.range.size() * std::pow(10, -limit.value / 20));
  }
  return smallest;
}

// The most that the sum of scaled squared errors may be.
double most_squares(const Job& job, u64 values, double scale) {
  const double range = job.range.size() * scale;
  double most = std::numeric_limits<double>::max();
  for (const Limit& limit : job.header.bound.limits()) {
    const double l2 = limit.value * scale;
    if (limit.kind == BoundKind::l2) most = std::min(most, l2 * l2);
    if (limit.kind == BoundKind::psnr)
      most = std::min(most, double(values) * range * range * std::pow(10, -limit.value / 10));
  }
  return most * (1 - 1e-9);  // the comparison of sums must not be spoiled by their rounding
}

}  // namespace

double bound_for_squared_error(const Job& job, double cap) {
  const double allowed = smallest_error(job);
  if (!(allowed > 0)) return 0;
  // Errors are measured in units of about the error allowed, so that squares neither overflow nor
  // vanish.
  const double scale = std::ldexp(1.0, std::clamp(-std::ilogb(allowed), -1000, 1000));
  const u64 values = measure(job, 0, scale).values;
  const double target = most_squares(job, values, scale);
  if (values == 0 || !(target > 0)) return 0;
  // Errors spread evenly over [-e, e] have the mean square e^2 / 3.
  double e = std::min(cap, std::sqrt(3 * target / double(values)) / scale);
  double good = 0, bad = kInfinity;
  for (int pass = 0; pass < 12 && is_usable_bound(e); ++pass) {
    e = shortened(e);
    const double squares = measure(job, e, scale).squares;
    if (squares <= target) {
      good = std::max(good, e);
      if (e >= shortened(cap) || squares > 0.96 * target) break;
    } else {
      bad = std::min(bad, e);
    }
    const double guess = squares > 0 ? e * std::sqrt(0.985 * target / squares) : 4 * e;
    e = std::clamp(guess, e / 4, std::min(4 * e, cap));
    if (good > 0 && bad < kInfinity) {
      if (bad / good < 1.03) break;
      if (!(e > good && e < bad)) e = std::sqrt(good * bad);
    }
  }
  return good;
}

}  // namespace leeway
