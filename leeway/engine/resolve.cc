// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/engine/resolve.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "leeway/engine/analyze.h"
#include "leeway/engine/fills.h"
#include "leeway/engine/make_frame.h"
#include "leeway/engine/squared_error.h"
#include "leeway/stream/brief.h"

namespace leeway {
namespace {

// Fill values of an earlier stream stay fill values, even where the array no longer shows that they
// are.
void keep_earlier_fills(Job& job) {
  const std::vector<u64>& earlier = job.options.earlier->header().fills;
  std::vector<u64>& fills = job.header.fills;
  const size_t most = job.options.fills.size() + job.options.fill_bits.size() + kMostFoundFills;
  for (const u64 fill : earlier)
    if (fills.size() < most && std::ranges::find(fills, fill) == fills.end()) fills.push_back(fill);
  job.mask.is_needed |= !earlier.empty();
}

// Fill values, whether there are special values at all, and the range if the bound needs it.
void look_at_values(Job& job) {
  const CompressOptions& options = job.options;
  const Bound& bound = job.header.bound;
  job.header.fills = declared_fills(options, job.view.dtype);
  if (!bound.has(BoundKind::lossless) && (options.detect_fills || bound.needs_range())) {
    const Detect detect = !options.detect_fills || options.grows ? Detect::nothing
                          : bound.needs_range()                  ? Detect::isolated
                                                                 : Detect::customary;
    const Summary all = job.part ? job.part->summary(job.header.fills)
                                 : summarize(job.view, job.header.fills, job.threads,
                                             options.execution.executor, options.execution.pause);
    Analysis analysis = conclude(all, job.view.dtype, std::move(job.header.fills), detect);
    job.mask.is_needed = analysis.any_special;
    job.header.fills = std::move(analysis.fills);
    job.range = analysis.range;
    job.header.min = job.range.min;
    job.header.max = job.range.max;
  }
  if (options.earlier) keep_earlier_fills(job);
  job.mask.fills = job.header.fills;
}

u64 count_nonzero(const Job& job) {
  u64 count = 0;
  visit_dtype(job.view.dtype, [&]<class T>(std::type_identity<T>) {
    for_each_row(job.view, [&](const std::byte* row, size_t length, std::ptrdiff_t stride) {
      for (size_t i = 0; i < length; ++i, row += stride) {
        T value;
        std::memcpy(&value, row, sizeof value);
        count += !job.mask.is_special(value) && double(value) != 0;
      }
    });
  });
  return count;
}

// The array is a part of a larger one: turns the root mean square error of all parts into a limit
// on this part. If nothing in it may have errors, that is: no loss.
void add_norm_limit(Job& job) {
  const u64 count = count_nonzero(job);
  if (count == 0)
    job.header.bound = Bound::lossless();
  else
    job.header.bound.add(BoundKind::l2, job.options.rms * std::sqrt(double(count)));
}

// The smallest of the absolute and relative bounds; the largest double if there is none.
double smallest_bound(const Job& job) {
  double smallest = std::numeric_limits<double>::max();
  for (const Limit& limit : job.header.bound.limits()) {
    if (limit.kind == BoundKind::abs) smallest = std::min(smallest, limit.value);
    if (limit.kind == BoundKind::rel)
      smallest = std::min(smallest, relative_bound(limit.value, job.range));
  }
  return smallest;
}

// Chunks have a bound relative to each value. The absolute bound of the stream is the most that
// this can be, or what an earlier stream states, whose values may be kept.
void resolve_pointwise(Job& job, double relative) {
  job.pointwise = relative;
  // What later rows hold is not known.
  const double largest =
      job.header.is_growing
          ? (size_of(job.view.dtype) == 8 ? double(std::numeric_limits<double>::max())
                                          : double(std::numeric_limits<float>::max()))
          : std::max(std::abs(job.range.min), std::abs(job.range.max));
  const double most =
      std::min(relative * largest * (1 + 0x1p-50), std::numeric_limits<double>::max());
  job.header.abs_bound =
      std::max(most, job.options.earlier ? job.options.earlier->header().abs_bound : 0);
}

// The smallest size that a limit asks for, in bytes.
double size_asked(const Job& job) {
  const auto values = double(job.view.shape.size());
  double bytes = 0x1p62;
  for (const Limit& limit : job.header.bound.limits()) {
    if (limit.kind == BoundKind::ratio)
      bytes = std::min(bytes, values * double(size_of(job.view.dtype)) / limit.value);
    if (limit.kind == BoundKind::rate) bytes = std::min(bytes, values * limit.value / 8);
  }
  return bytes;
}

// The bytes of a stream that are not in frames; a brief stream has no frame heads.
double bytes_around_frames(const Job& job) {
  Writer stream;
  if (job.is_brief) {
    FrameHead head;
    write_brief(job.header, head, {}, stream);
    return double(stream.size()) - double(kFrameHeadBytes);
  }
  write(job.header, stream);
  constexpr double kTail = 80, kTailOfChunk = 4;
  return double(stream.size()) + kTail + kTailOfChunk * double(job.chunks);
}

// Finds the bound at which the stream has the size asked for, if `cap` allows that; job.rate will
// correct it on the way.
double bound_for_size(Job& job, double cap) {
  job.size_asked = size_asked(job);
  RateControl::Problem problem;
  for (u64 i = 0; i < job.chunks; ++i)
    problem.values.push_back(double(job.header.chunk_box(job.turn(i)).shape.size()));
  problem.bytes = job.size_asked - bytes_around_frames(job);
  problem.range = std::min(job.range.size(), 2e300);
  problem.cap = std::min(cap, problem.range);
  problem.sizes = [&job](std::span<const u64> turns, double bound) {
    std::vector<u64> sizes(turns.size());
    for_each_index(turns.size(), job.threads, job.options.execution.executor, [&](u64 i) {
      const u64 ordinal = job.turn(turns[size_t(i)]);
      if (!job.holds(ordinal)) return;
      Writer frame;
      make_new_frame(job, ordinal, usable_bound(bound), frame);
      sizes[size_t(i)] = frame.size();
      job.pause();
      job.meter.add(0);
    });
    job.share(sizes);
    return sizes;
  };
  job.rate.emplace(std::move(problem));
  return usable_bound(job.rate->highest());
}

}  // namespace

void resolve_without_looking(Job& job) { job.header.abs_bound = usable_bound(smallest_bound(job)); }

void resolve(Job& job) {
  look_at_values(job);
  const Bound& bound = job.header.bound;
  if (job.options.rms > 0 && !bound.has(BoundKind::lossless)) add_norm_limit(job);
  if (bound.has(BoundKind::lossless)) return;
  double& resolved = job.header.abs_bound;
  if (job.options.keeps_all && !bound.is_lasting()) {
    resolved = *job.options.keeps_all;
    return;
  }
  if (bound.has(BoundKind::pointwise)) return resolve_pointwise(job, bound.limits()[0].value);
  if (job.header.is_growing && bound.has(BoundKind::rel) && !(job.range.size() > 0))
    fail_argument(
        "all values of the first rows are equal: a growing stream with a relative bound "
        "needs some that differ, because later rows keep its absolute bound; use abs");
  resolved = usable_bound(smallest_bound(job));
  if (bound.needs_measurement()) resolved = usable_bound(bound_for_squared_error(job, resolved));
  if (bound.wants_size() && resolved > 0 && job.chunks > 0)
    resolved = bound_for_size(job, resolved);
}

}  // namespace leeway
