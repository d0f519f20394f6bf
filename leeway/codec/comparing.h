// SPDX-License-Identifier: BSD-3-Clause
// Comparing: codes a chunk after preprocessors. There the quantizer's check says nothing about the
// original values: decoded ones are compared with them, and the bound is tightened until it holds.
#pragma once

#include <algorithm>
#include <cmath>

#include "leeway/codec/pipeline.h"

namespace leeway {

template <class T>
struct ChunkToCode {
  View values;  // without axes of extent 1
  const ChunkBound& bound;
  const Mask& mask;
  size_t size() const { return size_t(values.shape.size()); }
  bool is_special(T value) const { return mask.is_special(value); }
};

// A payload that was written, and whether it keeps the bound.
struct Attempt {
  ChunkReport report;
  bool holds = false;
};

// Returns whether special values are the same, and holds(given, found, error, place) for each other
// value that has changed. Finds the largest error.
template <class T, class Holds>
bool is_within(const ChunkToCode<T>& job, const T* given, const T* found, ChunkReport& report,
               Holds&& holds) {
  report.max_error = 0;
  for (size_t i = 0; i < job.size(); ++i) {
    if (bits_of(given[i]) == bits_of(found[i])) continue;
    const double error = error_between(given[i], found[i]);
    if (job.is_special(given[i]) || job.is_special(found[i]) ||
        !holds(given[i], found[i], error, i))
      return false;
    report.max_error = std::max(report.max_error, error);
  }
  return std::isfinite(report.max_error);
}

template <class T>
class Comparing {
 public:
  static constexpr int kMostHalvings = 3;

  Comparing(const Pipeline<T>& recipe, const ChunkToCode<T>& job)
      : recipe_(recipe),
        job_(job),
        originals_(job.size()),
        decoded_(job.size()),
        given_{originals_.data(), job.values.shape},
        found_{decoded_.data(), job.values.shape},
        must_stay_(!recipe.bound_changer() && recipe.computes()) {
    gather(job.values, originals_.data());
  }

  Attempt put(Writer& out) const {
    const size_t start = out.size();
    const auto attempt_with = [&](int halvings) {
      out.truncate(start);
      return put_halved(halvings, out);
    };
    Attempt attempt = attempt_with(0);
    if (must_stay_ && !(attempt.holds && attempt.report.max_error == 0)) {
      // What a smaller bound has made must stay.
      int made = 1;
      while (made <= kMostHalvings && !stays(given_, halved(made))) ++made;
      if (made <= kMostHalvings)
        attempt = attempt_with(made);
      else
        for (int halvings = 1; !attempt.holds && halvings <= kMostHalvings; ++halvings)
          attempt = attempt_with(halvings);
    }
    attempt.report.decoded_hash = hash_of(bytes_of(found_.values()));
    return attempt;
  }

 private:
  // With the bound halved that often. Leaves the decoded values in `found_`.
  Attempt put_halved(int halvings, Writer& out) const {
    out.put(halvings > 0 ? Payload::tightened : Payload::coded);
    if (halvings > 0) out.put(u8(halvings));
    const ChunkBound inner(halved(halvings), job_.bound.each);
    KeptValues kept(found_.data);
    Attempt attempt{*recipe_.encode(job_.values, inner, job_.mask, Pipeline<T>::kWidth, kept, out)};
    attempt.holds = attempt.report.fits && keeps_bound(attempt.report) &&
                    (!must_stay_ || stays(found_, inner.most));
    return attempt;
  }
  double halved(int halvings) const { return std::ldexp(job_.bound.most, -halvings); }

  bool keeps_bound(ChunkReport& report) const {
    const AnyPreprocessor<T>* const judge = recipe_.bound_changer();
    const double bound = job_.bound.most;
    return is_within(job_, given_.data, found_.data, report, [&](T a, T b, double error, size_t) {
      return judge ? judge->holds(a, b, bound) : error < bound;
    });
  }

  // Whether values that were decoded once stay what they are if they are compressed again.
  bool stays(Field<T> values, double bound) const {
    Buffer<T> again(values.size());
    std::ranges::copy(values.values(), again.data());
    recipe_.measure({again.data(), values.shape}, bound, job_.mask);
    return std::memcmp(again.data(), values.data, values.values().size_bytes()) == 0;
  }

  const Pipeline<T>& recipe_;
  const ChunkToCode<T>& job_;
  Buffer<T> originals_, decoded_;
  Field<T> given_, found_;
  bool must_stay_;  // where a preprocessor computes, decoded values must stay if compressed again
};

}  // namespace leeway
