// SPDX-License-Identifier: BSD-3-Clause
// Lattice: contributions to a sum, a minimum or a maximum, each of which is quantized once, by the
// rank that has it: q = round(x / step), |x - step q| <= e. Integers are added without error and in
// any order, so a sum of P contributions is off by at most P e, and its bits depend neither on the
// order of the ranks nor on the way that partial sums take. Partial sums are compressed without
// loss.
//
// Values that the lattice does not reach (NaN, infinities, those too large for the bound) are kept
// beside it, one by one, in the order of their places and bits, and are added last, in that order.
#pragma once

#include <span>
#include <vector>

#include "leeway/base/bytes.h"
#include "leeway/base/field.h"
#include "leeway/parallel/transfer.h"

namespace leeway::parallel {

enum class Operation : u8 { sum = 0, min = 1, max = 2, mean = 3 };

class Lattice {
 public:
  // `e` is the bound of each contribution; `ranks` of them are added. e = 0: all are kept beside
  // it.
  Lattice(Operation operation, double e, int ranks);

  struct Exception {
    u64 place;
    double value;
  };
  // What some ranks have contributed to some consecutive values.
  struct Partial {
    std::vector<i64> numbers;
    std::vector<Exception> exceptions;  // by place, then by bits
  };

  Partial quantized(const View& values) const;  // f32 or f64
  void merge(Partial& into, const Partial& other) const;
  // The values, of as many contributions as there are ranks.
  void finish(const Partial& all, const MutableView& values) const;

  // As bytes to be sent, and back.
  static Parcel pack(const Partial& partial, const Execution& execution);
  static Partial unpack(const Parcel& parcel, u64 count, const Execution& execution);

 private:
  template <class T>
  void quantize(std::span<const T> values, Partial& partial) const;
  double result(i64 number, std::span<const Exception> exceptions) const;

  Operation operation_;
  double e_, step_;
  i64 most_;  // no number is larger
  int ranks_;
};

}  // namespace leeway::parallel
