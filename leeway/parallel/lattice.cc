// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/parallel/lattice.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "leeway/leeway.hpp"

namespace leeway::parallel {
namespace {

// Numbers of contributions, and their sums, are at most this.
constexpr i64 kMost = i64(1) << 52;

// What a number is where nobody has contributed one to a minimum or maximum.
constexpr i64 nothing(Operation operation) {
  return operation == Operation::min ? 2 * kMost : operation == Operation::max ? -2 * kMost : 0;
}

bool comes_before(const Lattice::Exception& a, const Lattice::Exception& b) {
  return std::pair(a.place, std::bit_cast<u64>(a.value)) <
         std::pair(b.place, std::bit_cast<u64>(b.value));
}

// A sum with what rounding has taken off, carried along.
struct Exactly {
  double sum = 0, rest = 0;
  void add(double x) {
    const double total = sum + x;
    if (std::isfinite(total)) {
      const double of_x = total - sum;
      rest += (sum - (total - of_x)) + (x - of_x);
    } else {
      rest = 0;
    }
    sum = total;
  }
  double value() const { return sum + rest; }
};

// Integers as a stream of floating-point numbers that hold them exactly. Decoded ones are off by
// less than a half, so that rounding gives the integers back.
template <class T>
Bytes packed(std::span<const i64> numbers, const Execution& execution) {
  std::vector<T> narrow(numbers.begin(), numbers.end());
  CompressOptions options;
  options.bound = Bound::abs(0.49);
  options.recipe = "fast";
  options.detect_fills = false;
  options.brief = true;
  options.execution = execution;
  return compress(view_of(narrow.data(), {narrow.size()}), options);
}

bool are_short(std::span<const i64> numbers) {
  constexpr i64 kMostShort = i64(1) << 24;
  return std::ranges::all_of(numbers, [](i64 n) { return std::abs(n) <= kMostShort; });
}

template <class T>
std::vector<i64> rounded(std::span<const T> values) {
  std::vector<i64> numbers;
  numbers.reserve(values.size());
  for (const T value : values) {
    if (!(std::abs(double(value)) <= 2 * double(kMost))) fail_corrupt("a message that is none");
    numbers.push_back(i64(std::nearbyint(double(value))));
  }
  return numbers;
}

}  // namespace

Lattice::Lattice(Operation operation, double e, int ranks)
    : operation_(operation),
      e_(usable_bound(e)),
      step_(shortened(2 * e_ * (1 - 0x1p-9))),
      most_(kMost / ranks),
      ranks_(ranks) {}

template <class T>
void Lattice::quantize(std::span<const T> values, Partial& partial) const {
  // The largest number below e: subtraction rounds, but never to less than it.
  const double limit = std::nextafter(e_, 0.0), inverse = step_ > 0 ? 1 / step_ : 0;
  for (const T value : values) {
    const auto x = double(value), q = std::nearbyint(x * inverse);
    const bool is_reached =
        e_ > 0 && std::abs(q) <= double(most_) && std::abs(x - q * step_) <= limit;
    if (!is_reached) partial.exceptions.push_back({partial.numbers.size(), x});
    partial.numbers.push_back(is_reached ? i64(q) : nothing(operation_));
  }
}

Lattice::Partial Lattice::quantized(const View& values) const {
  Partial partial;
  const auto size = size_t(values.shape.size());
  partial.numbers.reserve(size);
  const auto take = [&]<class T>(std::type_identity<T>) {
    std::vector<T> row(size);
    gather(values, row.data());
    quantize<T>(row, partial);
  };
  if (values.dtype == DType::f32)
    take(std::type_identity<float>());
  else if (values.dtype == DType::f64)
    take(std::type_identity<double>());
  else
    fail_argument("arrays of " + std::string(name_of(values.dtype)) +
                  " cannot be reduced; f32 and f64 can");
  return partial;
}

void Lattice::merge(Partial& into, const Partial& other) const {
  for (size_t i = 0; i < into.numbers.size(); ++i) {
    i64& number = into.numbers[i];
    const i64 with = other.numbers[i];
    number = operation_ == Operation::min   ? std::min(number, with)
             : operation_ == Operation::max ? std::max(number, with)
                                            : number + with;
  }
  if (other.exceptions.empty()) return;
  std::vector<Exception> both;
  both.reserve(into.exceptions.size() + other.exceptions.size());
  std::ranges::merge(into.exceptions, other.exceptions, std::back_inserter(both), comes_before);
  into.exceptions = std::move(both);
}

double Lattice::result(i64 number, std::span<const Exception> exceptions) const {
  const double on_lattice = double(number) * step_;
  if (operation_ == Operation::sum || operation_ == Operation::mean) {
    double sum = on_lattice;
    if (!exceptions.empty()) {
      Exactly exact;
      exact.add(on_lattice);
      for (const Exception& exception : exceptions) exact.add(exception.value);
      sum = exact.value();
    }
    return operation_ == Operation::sum ? sum : sum / ranks_;
  }
  bool has_any = number != nothing(operation_);
  double best = on_lattice;
  for (const Exception& exception : exceptions) {
    if (std::isnan(exception.value)) return exception.value;
    if (!has_any ||
        (operation_ == Operation::min ? exception.value < best : exception.value > best))
      best = exception.value;
    has_any = true;
  }
  return best;
}

void Lattice::finish(const Partial& all, const MutableView& values) const {
  size_t place = 0, exception = 0;
  const auto fill = [&]<class T>(std::type_identity<T>) {
    for_each_row(values, [&](std::byte* row, size_t count, std::ptrdiff_t stride) {
      for (size_t i = 0; i < count; ++i, ++place, row += stride) {
        const size_t first = exception;
        while (exception < all.exceptions.size() && all.exceptions[exception].place == place)
          ++exception;
        double x =
            result(all.numbers[place], std::span(all.exceptions).subspan(first, exception - first));
        if (std::isnan(x)) x = std::numeric_limits<double>::quiet_NaN();  // of one kind everywhere
        const T value = T(x);
        std::memcpy(row, &value, sizeof value);
      }
    });
  };
  if (values.dtype == DType::f32)
    fill(std::type_identity<float>());
  else
    fill(std::type_identity<double>());
}

Parcel Lattice::pack(const Partial& partial, const Execution& execution) {
  Writer out;
  out.put(u64(partial.exceptions.size()));
  for (const Exception& exception : partial.exceptions) {
    out.put(exception.place);
    out.put(exception.value);
  }
  out.put_bytes(are_short(partial.numbers) ? packed<float>(partial.numbers, execution)
                                           : packed<double>(partial.numbers, execution));
  return {Parcel::stream, {out.bytes().begin(), out.bytes().end()}};
}

Lattice::Partial Lattice::unpack(const Parcel& parcel, u64 count, const Execution& execution) {
  Partial partial;
  Reader in(parcel.bytes);
  const u64 exceptions = in.get<u64>();
  if (exceptions > in.remaining() / 16) fail_corrupt("a message that is none");
  for (u64 i = 0; i < exceptions; ++i) {
    const u64 place = in.get<u64>();
    partial.exceptions.push_back({place, in.get<double>()});
  }
  DecompressOptions options;
  options.execution = execution;
  const Array array = decompress(in.rest(), options);
  if (array.shape().size() != count) fail_argument("the ranks reduce arrays of different sizes");
  partial.numbers =
      array.dtype() == DType::f32 ? rounded(array.as<float>()) : rounded(array.as<double>());
  return partial;
}

}  // namespace leeway::parallel
