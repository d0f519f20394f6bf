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
  double squares = 0;    // the sum of squared errors, each scaled before it is squared
  double max_error = 0;  // not scaled
  u64 values = 0;        // how many are not special
};

// What is tried: a bound, or the step of a transform under a bound.
struct Try {
  double bound = 0;
  Aim aim{};
};

template <class T>
Measured measure_chunk(const Job& job, u64 ordinal, const Try& tried, double scale) {
  const Box box = job.header.chunk_box(ordinal);
  Buffer<T> original(size_t(box.shape.size())), decoded(original.size());
  gather(job.chunk(ordinal), original.data());
  std::ranges::copy(original, decoded.data());
  with_chunk_bound(job, ordinal, tried.bound, tried.aim, [&](const ChunkBound& own) {
    if (own.most > 0) job.codec.measure(decoded.data(), box.shape.squeezed(), own, job.mask);
  });
  Measured measured;
  for (size_t i = 0; i < original.size(); ++i) {
    if (job.mask.is_special(original[i])) continue;
    const double error = error_between(original[i], decoded[i]);
    measured.squares += error * scale * (error * scale);
    measured.max_error = std::max(measured.max_error, error);
    ++measured.values;
  }
  return measured;
}

// What each process has measured becomes known to all.
void share(const Job& job, std::vector<Measured>& parts) {
  std::vector<u64> numbers;
  for (const Measured& part : parts) {
    numbers.push_back(std::bit_cast<u64>(part.squares));
    numbers.push_back(std::bit_cast<u64>(part.max_error));
    numbers.push_back(part.values);
  }
  job.share(numbers);
  for (size_t i = 0; i < parts.size(); ++i)
    parts[i] = {std::bit_cast<double>(numbers[3 * i]), std::bit_cast<double>(numbers[3 * i + 1]),
                numbers[3 * i + 2]};
}

Measured measure(const Job& job, const Try& tried, double scale) {
  std::vector<Measured> parts(static_cast<size_t>(job.chunks));
  for_each_index(job.chunks, job.threads, job.options.execution.executor, [&](u64 i) {
    if (!job.holds(i)) return;
    visit_dtype(job.view.dtype, [&]<class T>(std::type_identity<T>) {
      parts[size_t(i)] = measure_chunk<T>(job, i, tried, scale);
    });
    job.pause();
  });
  if (job.part) share(job, parts);
  Measured sum;  // in the order of the chunks, so that it does not depend on who measured
  for (const Measured& part : parts) {
    sum.squares += part.squares;
    sum.max_error = std::max(sum.max_error, part.max_error);
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

// Finds the largest bound, or step, at which the squared error is at most `target`, to within
// kClose: the logarithms of the two are nearly on a line. The settings that codecs choose by trial
// are those of the first good guess from then on, because others would bend the line.
class Search {
 public:
  Search(Job& job, double cap, double scale, double target)
      : job_(job), cap_(cap), scale_(scale), target_(target) {}

  // From a first guess; 0 if no loss is allowed.
  double run(double guess) {
    constexpr int kPasses = 16;
    double x = limited(guess);
    for (int pass = 0; pass < kPasses && is_usable_bound(x); ++pass) {
      x = limited(shortened(x));
      if (!is_settled_) job_.aim.trial = x;
      const double squares = squares_at(x);
      if (squares <= target_ && (x >= limited(shortened(cap_)) || squares > kClose * target_)) {
        good_ = x;
        break;
      }
      const double next = next_guess(x, squares);
      if (!is_settled_ && pass < 2 && (next < x / kFar || next > x * kFar)) {
        x = limited(next);
        continue;
      }
      is_settled_ = true;
      note(x, squares);
      if (good_ > 0 && bad_ / good_ < 1 + 0x1p-12) break;
      x = limited(next);
      if (!(x > good_ && x < bad_)) x = bad_ < kInfinity ? std::sqrt(good_ * bad_) : limited(4 * x);
      if (good_ == 0 && pass > 6) x = bad_ / 4;
    }
    if (good_ == 0) return 0;
    if (job_.codec.is_transform()) job_.aim.step = good_;
    return job_.codec.is_transform() ? bound_of_steps() : good_;
  }

 private:
  // Squared errors from here up to the target are close enough: 0.02 dB.
  static constexpr double kClose = 0.9955, kAimed = 0.998;
  // Settings chosen at one bound serve for another that is not farther than this.
  static constexpr double kFar = 1.25;

  // A transform may take any step.
  double limited(double x) const { return job_.codec.is_transform() ? x : std::min(x, cap_); }
  double squares_at(double x) {
    Try tried{x, job_.aim};
    if (job_.codec.is_transform()) tried = {cap_, {job_.aim.trial, x}};
    const Measured found = measure(job_, tried, scale_);
    if (found.squares <= target_) max_error_ = found.max_error;
    return found.squares;
  }
  // Along the line through the last two, or one that rises with the power kUsual.
  double next_guess(double x, double squares) const {
    constexpr double kUsual = 1.8;
    double power = kUsual;
    if (squares > 0 && last_squares_ > 0 && x != last_)
      power = std::clamp(std::log(squares / last_squares_) / std::log(x / last_), 0.4, 4.0);
    return squares > 0
               ? std::clamp(x * std::pow(kAimed * target_ / squares, 1 / power), x / 8, 8 * x)
               : 8 * x;
  }
  void note(double x, double squares) {
    if (squares <= target_)
      good_ = std::max(good_, x);
    else
      bad_ = std::min(bad_, x);
    last_ = x;
    last_squares_ = squares;
  }
  // The bound that a stream states if its step was found: the largest error met.
  double bound_of_steps() {
    return std::min(cap_, max_error_ > 0 ? max_error_ : std::numeric_limits<double>::min());
  }

  Job& job_;
  double cap_, scale_, target_;
  double good_ = 0, bad_ = kInfinity;
  double last_ = 0, last_squares_ = 0;
  double max_error_ = 0;  // at the last x that was good
  bool is_settled_ = false;
};

}  // namespace

double bound_for_squared_error(Job& job, double cap) {
  const double allowed = smallest_error(job);
  if (!(allowed > 0)) return 0;
  // Errors are measured in units of about the error allowed, so that squares neither overflow nor
  // vanish.
  const double scale = std::ldexp(1.0, std::clamp(-std::ilogb(allowed), -1000, 1000));
  const u64 values = measure(job, {}, scale).values;
  const double target = most_squares(job, values, scale);
  if (values == 0 || !(target > 0)) return 0;
  const double rms = std::sqrt(target / double(values)) / scale;
  // Errors spread evenly over [-e, e] have the mean square e^2 / 3. Transforms leave most of their
  // coefficients out.
  return Search(job, cap, scale, target).run((job.codec.is_transform() ? 6 : std::sqrt(3.0)) * rms);
}

}  // namespace leeway
