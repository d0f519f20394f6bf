// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>

#include "leeway/base/buffer.h"
#include "leeway/base/distance.h"
#include "leeway/base/environment.h"
#include "leeway/base/hash.h"
#include "leeway/codec/chunk_codec.h"
#include "leeway/engine/analyze.h"
#include "leeway/engine/border.h"
#include "leeway/engine/execution.h"
#include "leeway/engine/lookback.h"
#include "leeway/engine/rate.h"
#include "leeway/engine/region_bounds.h"
#include "leeway/engine/rewrite.h"
#include "leeway/stage/params.h"

namespace leeway {
namespace {

// Small chunks are made in groups of about this many values.
constexpr u64 kGroupValues = u64(1) << 17;
constexpr size_t kSmallGroup = size_t(2) << 20;  // bytes
// More decibels are kept without loss: squares would overflow.
constexpr double kMostPsnr = 2000;

// The bit pattern of a fill value in the array's type.
u64 fill_bits(double fill, DType dtype) {
  return visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (!is_floating<T>) {
      if (!(fill >= double(std::numeric_limits<T>::min()) &&
            fill < std::ldexp(1.0, std::numeric_limits<T>::digits) && fill == std::floor(fill)))
        fail_argument("the fill value " + detail::number_text(fill) + " is not of type " +
                      std::string(name_of(dtype)));
    }
    return u64(bits_of(T(fill)));
  });
}

// The declared fill values, as bit patterns.
std::vector<u64> declared_fills(const CompressOptions& options, DType dtype) {
  std::vector<u64> declared;
  for (const double fill : options.fills) declared.push_back(fill_bits(fill, dtype));
  const unsigned unused = unsigned(64 - 8 * size_of(dtype));
  for (const u64 given : options.fill_bits) {
    const u64 bits = given << unused >> unused;  // a negative integer may come with its sign
    if (std::ranges::find(declared, bits) == declared.end()) declared.push_back(bits);
  }
  return declared;
}

}  // namespace

FrameHead compress_chunk(const ChunkCodec& codec, const ChunkBound& bound, const Mask& mask,
                         u64 ordinal, const View& chunk, Writer& out) {
  const size_t start = out.size();
  out.extend(kFrameHeadBytes);
  const ChunkReport report = codec.compress(chunk, bound, mask, out);
  const ByteView payload = out.bytes().subspan(start + kFrameHeadBytes);
  const FrameHead head{.ordinal = ordinal,
                       .payload_bytes = u32(payload.size()),
                       .special = u32(report.special),
                       .exact = u32(report.exact),
                       .bound = bound.most,
                       .max_error = report.max_error,
                       .decoded_hash = report.decoded_hash,
                       .payload_hash = hash_of(payload)};
  write(head, out.again<kFrameHeadBytes>(start));
  return head;
}

u32 count_special(const Mask& mask, const View& values) {
  return visit_dtype(values.dtype, [&]<class T>(std::type_identity<T>) {
    u32 count = 0;
    for (u64 i = 0; i < values.shape.size(); ++i) {
      T value;
      std::memcpy(&value, values.data + i * sizeof value, sizeof value);
      count += mask.is_special(value);
    }
    return count;
  });
}

namespace {

class Compression {
 public:
  Compression(const ChunkCodec& codec, const View& view, const CompressOptions& options,
              Header header)
      : codec_(codec),
        view_(view),
        options_(options),
        header_(std::move(header)),
        chunks_(header_.grid().size()),
        group_(std::clamp<u64>(chunks_ / (4 * std::max(1u, options.execution.threads)), 1,
                               std::max<u64>(1, kGroupValues / header_.chunk.size()))),
        threads_(affordable_threads(options.execution,
                                    group_ * header_.chunk.size() * size_of(view.dtype))),
        heads_(size_t(chunks_)),
        region_bounds_(header_.regions.empty() ? std::vector<double>() : smallest_bounds(header_)),
        is_brief_(options.brief && can_be_brief(header_)),
        meter_(options.execution.progress, double(chunks_)) {}

  // Into a sink, in order.
  CompressReport run(const Sink& sink) {
    resolve();
    u64 written = 0;
    const auto emit = [&](const Writer& part) {
      written += part.size();
      sink(part.bytes());
    };
    if (is_brief_) {
      emit(brief());
      return report(written);
    }
    emit(head());
    std::map<u64, Writer> ready;
    std::mutex mutex;
    for_each_round([&](const Round& round) {
      const auto make = [&](u64 i) {
        Writer frames;
        compress_group(round, i, frames);
        const std::lock_guard lock(mutex);
        ready.emplace(i, std::move(frames));
      };
      const auto finish = [&](u64 i) {
        std::unique_lock lock(mutex);
        const auto node = ready.extract(i);
        lock.unlock();
        emit(node.mapped());
        done_with_group(round, i);
      };
      for_each_in_order(groups(round), threads_, 8 * threads_, options_.execution.executor, make,
                        finish);
    });
    emit(tail());
    return report(written);
  }

  // Into memory: every worker puts its frames where they belong, as soon as it knows where.
  CompressReport run(std::span<u8> memory) {
    resolve();
    const auto place = [&](u64 offset, const Writer& part) {
      if (offset > memory.size() || part.size() > memory.size() - offset)
        throw Error(Errc::too_small, "the memory given is too small for the stream");
      const ByteView bytes = part.bytes();
      u8* const to = memory.data() + offset;
      if (bytes.data() != to) std::ranges::copy(bytes, to);
    };
    const Writer first = is_brief_ ? brief() : head();
    place(0, first);
    if (is_brief_) return report(first.size());
    for_each_round([&](const Round& round) {
      Lookback lookback{size_t(groups(round))};
      const u64 start = first.size() + round.bytes_before;
      std::map<u64, Writer> waiting;  // until the sizes before are known
      std::mutex mutex;
      const auto place_one_waiting = [&] {
        std::unique_lock lock(mutex);
        for (auto it = waiting.begin(); it != waiting.end(); ++it)
          if (const auto sum = lookback.find(size_t(it->first))) {
            const auto node = waiting.extract(it);
            lock.unlock();
            place(start + *sum, node.mapped());
            return true;
          }
        return false;
      };
      for_each_index(groups(round), threads_, options_.execution.executor, [&](u64 i) {
        // Straight to its place, if that is known already.
        const auto before = lookback.find(size_t(i));
        Writer frames = before && start + *before < memory.size()
                            ? Writer(memory.subspan(size_t(start + *before)))
                            : Writer();
        compress_group(round, i, frames);
        lookback.publish(size_t(i), frames.size());
        if (const auto sum = lookback.find(size_t(i))) {
          place(start + *sum, frames);
          while (place_one_waiting()) {
          }
        } else {
          const std::lock_guard lock(mutex);
          waiting.emplace(i, std::move(frames));
        }
        done_with_group(round, i);
      });
      while (place_one_waiting()) {
      }
    });
    const u64 end = first.size() + frame_bytes(chunks_);
    const Writer last = tail();
    place(end, last);
    return report(end + last.size());
  }

 private:
  Writer head() const {
    Writer out;
    write(header_, out);
    return out;
  }

  // The whole stream in its brief form.
  Writer brief() {
    Writer stream;
    for_each_round([&](const Round& round) {
      for_each_index(groups(round), threads_, options_.execution.executor, [&](u64 i) {
        Writer frame;
        compress_group(round, i, frame);
        write_brief(header_, heads_[0], frame.bytes().subspan(kFrameHeadBytes), stream);
        done_with_group(round, i);
      });
    });
    state();
    return stream;
  }

  // Chunks with one bound. Without a size to reach there is one round of all.
  struct Round {
    u64 first, end;
    double bound;
    u64 bytes_before;
  };
  void for_each_round(const std::function<void(const Round&)>& f) {
    const u64 step = rate_ ? rate_->round() : chunks_;
    for (u64 first = 0; first < chunks_; first += step) {
      const u64 before = frame_bytes(first);
      const double bound = rate_        ? usable_bound(rate_->bound_from(first, before))
                           : pointwise_ ? *pointwise_
                                        : header_.abs_bound;
      f({first, std::min(chunks_, first + step), bound, before});
    }
  }
  // Of the first `count` chunks.
  u64 frame_bytes(u64 count) const {
    u64 bytes = 0;
    for (size_t i = 0; i < size_t(count); ++i) bytes += kFrameHeadBytes + heads_[i].payload_bytes;
    return bytes;
  }

  // Chunks are made in groups that follow each other.
  u64 groups(const Round& round) const { return (round.end - round.first + group_ - 1) / group_; }
  u64 group_begin(const Round& round, u64 index) const {
    return std::min(round.end, round.first + index * group_);
  }

  void compress_group(const Round& round, u64 index, Writer& frames) {
    const u64 first = group_begin(round, index), end = group_begin(round, index + 1);
    const auto bytes = size_t((end - first) * header_.chunk.size()) * size_of(view_.dtype);
    frames.reserve(bytes < kSmallGroup ? bytes + 4096 : bytes / 3);
    for (u64 ordinal = first; ordinal < end; ++ordinal)
      heads_[size_t(ordinal)] = compress_one(ordinal, round.bound, frames);
  }
  double region_bound(u64 ordinal, double bound) const {
    return region_bounds_.empty() ? bound : std::min(bound, region_bounds_[size_t(ordinal)]);
  }
  // Where a region asks for less than `bound`, less.
  template <class F>
  auto with_bound_in(u64 ordinal, double bound, F&& f) const {
    if (header_.regions.empty() || !codec_.is_by_value())
      return f(ChunkBound(usable_bound(region_bound(ordinal, bound))));
    const std::vector<double> each = bounds_in(options_, header_.chunk_box(ordinal), bound);
    return f(ChunkBound(std::ranges::max(each), each));
  }
  FrameHead compress_one(u64 ordinal, double bound, Writer& out) const {
    const Box box = header_.chunk_box(ordinal);
    if (options_.earlier) return compress_again(ordinal, bound, view_.part(box), out);
    if (options_.keeps_all) return keep_exactly(ordinal, bound, view_.part(box), out);
    return with_bound_in(ordinal, bound,
                         [&](const ChunkBound& e) { return compress_new(ordinal, e, out); });
  }
  // Squared errors are measured of a chunk as a whole, which must not be coded in parts then.
  FrameHead compress_new(u64 ordinal, const ChunkBound& bound, Writer& out) const {
    const View chunk = view_.part(header_.chunk_box(ordinal));
    return is_brief_ && !header_.bound.needs_measurement()
               ? compress_border_chunk(codec_, bound.most, mask_, ordinal, chunk, out)
               : compress_chunk(codec_, bound, mask_, ordinal, chunk, out);
  }
  // Values that are still those of the earlier stream stay as they are there.
  FrameHead compress_again(u64 ordinal, double bound, const View& chunk, Writer& out) const {
    const OldChunk before(codec_, *options_.earlier, ordinal);
    if (before.chunk.head.bound != usable_bound(bound))
      fail_argument("the earlier stream has another bound");
    Buffer<u64> now(before.values.size());
    gather(chunk, now.data());
    const View view(reinterpret_cast<const std::byte*>(now.data()), chunk.dtype, chunk.shape);
    return rewrite_chunk(codec_, mask_, before, view, changed_values(before, view), out);
  }
  // Nobody knows how large the errors of these values are, but not larger than the bound.
  FrameHead keep_exactly(u64 ordinal, double bound, const View& chunk, Writer& out) const {
    const size_t start = out.size();
    FrameHead head = compress_chunk(codec_, 0.0, mask_, ordinal, chunk, out);
    head.bound = usable_bound(region_bound(ordinal, bound));
    head.max_error = pointwise_ ? header_.abs_bound : head.bound;
    write(head, out.again<kFrameHeadBytes>(start));
    return head;
  }
  void done_with_group(const Round& round, u64 index) {
    if (options_.execution.pause) options_.execution.pause();
    meter_.add(double(group_begin(round, index + 1) - group_begin(round, index)));
  }

  Writer tail() {
    Tail tail;
    state();
    tail.rooms.reserve(heads_.size());
    for (const FrameHead& frame : heads_) tail.rooms.push_back(frame.payload_bytes);
    tail.statement = statement_;
    Writer out;
    write(tail, out);
    return out;
  }
  // To be called when all chunks are made.
  void state() {
    StatementMaker statement;
    for (const FrameHead& frame : heads_) statement.add(frame);
    statement_ = statement.statement();
  }

  CompressReport report(u64 output_bytes) const {
    CompressReport report;
    report.input_bytes = view_.shape.size() * size_of(view_.dtype);
    report.output_bytes = output_bytes;
    report.statement = statement_;
    report.abs_bound = header_.abs_bound;
    report.is_bound_by_chunk = header_.is_bound_by_chunk();
    report.asked_bytes = u64(size_asked_);
    report.min = header_.min;
    report.max = header_.max;
    report.recipe = header_.recipe;
    report.fills = header_.fills;
    report.form = is_brief_ ? Form::brief : Form::standard;
    return report;
  }

  // Those of an earlier stream stay fill values, even where the array no longer tells.
  void keep_fills(const std::vector<u64>& fills) {
    const size_t most = options_.fills.size() + options_.fill_bits.size() + kMostFoundFills;
    for (const u64 fill : fills)
      if (header_.fills.size() < most &&
          std::ranges::find(header_.fills, fill) == header_.fills.end())
        header_.fills.push_back(fill);
    mask_.is_needed |= !fills.empty();
  }
  // Values kept from an earlier stream may have the errors that it states.
  double earlier_bound() const {
    return options_.earlier ? options_.earlier->header().abs_bound : 0;
  }

  // From the bound as asked to an absolute one.
  void resolve() {
    std::vector<u64> declared = declared_fills(options_, view_.dtype);
    const Bound& bound = header_.bound;
    const bool lossless = bound.has(BoundKind::lossless);
    if (!lossless && (options_.detect_fills || bound.needs_range())) {
      const Detect detect = !options_.detect_fills ? Detect::nothing
                            : bound.needs_range()  ? Detect::isolated
                                                   : Detect::customary;
      Analysis analysis = analyze(view_, declared, detect, threads_, options_.execution.executor,
                                  options_.execution.pause);
      mask_.is_needed = analysis.any_special;
      header_.fills = std::move(analysis.fills);
      range_ = analysis.range;
      header_.min = range_.min;
      header_.max = range_.max;
    } else {
      header_.fills = std::move(declared);
    }
    if (options_.earlier) keep_fills(options_.earlier->header().fills);
    mask_.fills = header_.fills;
    if (lossless || (options_.rms > 0 && !add_norm_limit())) return;
    if (options_.keeps_all && !bound.is_lasting()) {
      header_.abs_bound = *options_.keeps_all;
      return;
    }
    double e = std::numeric_limits<double>::max();
    for (const Limit& limit : bound.limits()) {
      if (limit.kind == BoundKind::abs) e = std::min(e, limit.value);
      if (limit.kind == BoundKind::rel) e = std::min(e, relative_bound(limit.value, range_));
      if (limit.kind == BoundKind::pointwise) {
        // What chunks keep is relative to each value; this is the most that it can be.
        pointwise_ = limit.value;
        const double largest = std::max(std::abs(range_.min), std::abs(range_.max));
        header_.abs_bound =
            std::max(std::min(limit.value * largest * (1 + 0x1p-50), e), earlier_bound());
        return;
      }
    }
    if (bound.needs_measurement()) e = meet_squared_error(usable_bound(e));
    header_.abs_bound = usable_bound(e);
    if (bound.wants_size() && header_.abs_bound > 0 && chunks_ > 0)
      header_.abs_bound = meet_size(header_.abs_bound);
  }

  // What a root mean square error means for this part of an array. Says no if there is nothing that
  // may have errors.
  bool add_norm_limit() {
    u64 count = 0;
    visit_dtype(view_.dtype, [&]<class T>(std::type_identity<T>) {
      for_each_row(view_, [&](const std::byte* row, size_t length, std::ptrdiff_t stride) {
        for (size_t i = 0; i < length; ++i, row += stride) {
          T value;
          std::memcpy(&value, row, sizeof value);
          count += !mask_.is_special(value) && double(value) != 0;
        }
      });
    });
    if (count == 0)
      header_.bound = Bound::lossless();
    else
      header_.bound.add(BoundKind::l2, options_.rms * std::sqrt(double(count)));
    return count > 0;
  }

  // What a brief stream has beside its payload, and a frame has not.
  double around_brief() const {
    FrameHead head;
    Writer stream;
    write_brief(header_, head, {}, stream);
    return double(stream.size()) - double(kFrameHeadBytes);
  }
  // The bound at which the stream has the size asked for, if `cap` allows that.
  double meet_size(double cap) {
    const double bytes = double(view_.shape.size()) * double(size_of(view_.dtype));
    size_asked_ = std::numeric_limits<double>::max();
    for (const Limit& limit : header_.bound.limits()) {
      if (limit.kind == BoundKind::ratio) size_asked_ = std::min(size_asked_, bytes / limit.value);
      if (limit.kind == BoundKind::rate)
        size_asked_ = std::min(size_asked_, double(view_.shape.size()) * limit.value / 8);
    }
    size_asked_ = std::min(size_asked_, 0x1p62);
    const double around =
        is_brief_ ? around_brief() : double(head().size()) + 80 + 3 * double(chunks_);
    RateControl::Problem problem;
    for (u64 i = 0; i < chunks_; ++i)
      problem.values.push_back(double(header_.chunk_box(i).shape.size()));
    problem.bytes = size_asked_ - around;
    problem.range = std::min(range_.size(), 2e300);
    problem.cap = std::min(cap, problem.range);
    problem.sizes = [this](std::span<const u64> ordinals, double e) {
      std::vector<u64> sizes(ordinals.size());
      for_each_index(ordinals.size(), threads_, options_.execution.executor, [&](u64 i) {
        Writer frame;
        compress_new(ordinals[size_t(i)], usable_bound(e), frame);
        sizes[size_t(i)] = frame.size();
        if (options_.execution.pause) options_.execution.pause();
        meter_.add(0);
      });
      return sizes;
    };
    rate_.emplace(std::move(problem));
    return usable_bound(rate_->highest());
  }

  // The largest absolute bound up to `cap`, of those tried, that keeps the squared error of every
  // psnr and l2 limit; found by measuring.
  double meet_squared_error(double cap) {
    // Squares of errors in units of about the error allowed: they neither overflow nor vanish.
    double allowed = std::numeric_limits<double>::max();
    for (const Limit& limit : header_.bound.limits()) {
      if (limit.kind == BoundKind::l2) allowed = std::min(allowed, limit.value);
      if (limit.kind == BoundKind::psnr)
        allowed = limit.value > kMostPsnr
                      ? 0
                      : std::min(allowed, range_.size() * std::pow(10, -limit.value / 20));
    }
    if (!(allowed > 0)) return 0;
    const double scale = std::ldexp(1.0, std::clamp(-std::ilogb(allowed), -1000, 1000)),
                 range = range_.size() * scale;
    Measured measured = measure(0, scale);
    double target = std::numeric_limits<double>::max();  // of the sum of squares
    for (const Limit& limit : header_.bound.limits()) {
      const double l2 = limit.value * scale;
      if (limit.kind == BoundKind::l2) target = std::min(target, l2 * l2);
      if (limit.kind == BoundKind::psnr)
        target = std::min(
            target, double(measured.values) * range * range * std::pow(10, -limit.value / 10));
    }
    // The comparison of sums must not be spoiled by their rounding.
    target *= 1 - 1e-9;
    if (measured.values == 0 || !(target > 0)) return 0;
    // Errors spread evenly over [-e, e] have the mean square e^2 / 3.
    double e = std::min(cap, std::sqrt(3 * target / double(measured.values)) / scale);
    double good = 0, bad = std::numeric_limits<double>::infinity();
    for (int pass = 0; pass < 12 && is_usable_bound(e); ++pass) {
      e = shortened(e);
      measured = measure(e, scale);
      if (measured.squares <= target) {
        good = std::max(good, e);
        if (e >= shortened(cap) || measured.squares > 0.96 * target) break;
      } else {
        bad = std::min(bad, e);
      }
      const double guess =
          measured.squares > 0 ? e * std::sqrt(0.985 * target / measured.squares) : 4 * e;
      e = std::clamp(guess, e / 4, std::min(4 * e, cap));
      if (good > 0 && bad < std::numeric_limits<double>::infinity()) {
        if (bad / good < 1.03) break;
        if (!(e > good && e < bad)) e = std::sqrt(good * bad);
      }
    }
    return good;
  }

  struct Measured {
    double squares = 0;  // sum of squared errors, each scaled before
    u64 values = 0;      // that are not special
  };

  Measured measure(double e, double scale) const {
    std::vector<Measured> parts(static_cast<size_t>(chunks_));
    for_each_index(chunks_, threads_, options_.execution.executor, [&](u64 i) {
      visit_dtype(view_.dtype, [&]<class T>(std::type_identity<T>) {
        parts[size_t(i)] = measure_chunk<T>(i, e, scale);
      });
      if (options_.execution.pause) options_.execution.pause();
    });
    Measured sum;
    for (const Measured& part : parts) {
      sum.squares += part.squares;
      sum.values += part.values;
    }
    return sum;
  }

  template <class T>
  Measured measure_chunk(u64 ordinal, double e, double scale) const {
    const Box box = header_.chunk_box(ordinal);
    Buffer<T> original(size_t(box.shape.size())), decoded(original.size());
    gather(view_.part(box), original.data());
    std::ranges::copy(original, decoded.data());
    with_bound_in(ordinal, e, [&](const ChunkBound& bound) {
      if (bound.most > 0) codec_.measure(decoded.data(), box.shape.squeezed(), bound, mask_);
    });
    Measured measured;
    for (size_t i = 0; i < original.size(); ++i) {
      if (mask_.is_special(original[i])) continue;
      const double error = error_between(original[i], decoded[i]) * scale;
      measured.squares += error * error;
      ++measured.values;
    }
    return measured;
  }

  const ChunkCodec& codec_;
  const View& view_;
  const CompressOptions& options_;
  Header header_;
  Mask mask_;
  Range range_;
  u64 chunks_, group_;
  unsigned threads_;
  std::vector<FrameHead> heads_;
  std::vector<double> region_bounds_;  // by chunk; empty if there are no regions
  std::optional<RateControl> rate_;
  std::optional<double> pointwise_;
  double size_asked_ = 0;  // bytes of the whole stream; 0: any
  bool is_brief_;
  Meter meter_;
  Statement statement_;
};

// What a region asks for, chunks around it give as well: smaller ones give less. A brief
// stream is a chunk of a host: it is cut only if it is large.
u64 wanted_chunk(const CompressOptions& options, const ChunkCodec& codec) {
  constexpr u64 kWithRegions = u64(1) << 17, kOfHost = u64(1) << 17;
  if (options.brief && !options.has_regions()) return std::max(codec.chunk_values(), kOfHost);
  return options.has_regions() && !codec.is_by_value()
             ? std::min(codec.chunk_values(), kWithRegions)
             : codec.chunk_values();
}

}  // namespace

Shape chunk_of(const CompressOptions& options, const Shape& shape, const ChunkCodec& codec) {
  const Shape& chunk = options.chunk;
  if (chunk.rank() == 0) return default_chunk(shape, wanted_chunk(options, codec));
  if (chunk.rank() != shape.rank())
    fail_argument("the chunk shape " + to_string(chunk) +
                  " does not have as many axes as the array " + to_string(shape));
  std::array<u64, kMaxRank> extents;
  for (size_t axis = 0; axis < shape.rank(); ++axis) {
    if (chunk[axis] == 0) fail_argument("a chunk cannot have an axis of extent 0");
    extents[axis] = std::min(chunk[axis], std::max<u64>(shape[axis], 1));
  }
  const Shape result(std::span<const u64>(extents).first(shape.rank()));
  if (result.size() > kMaxChunkValues)
    fail_argument("a chunk of " + to_string(result) + " is too large; at most 2^24 values");
  return result;
}

Shape default_chunk(const Shape& shape, u64 values) {
  std::array<u64, kMaxRank> extents{};
  for (size_t axis = 0; axis < shape.rank(); ++axis) extents[axis] = std::max<u64>(shape[axis], 1);
  const std::span<u64> used = std::span(extents).first(shape.rank());
  if (shape.rank() == 1) used[0] = std::min(used[0], values);  // a list: stages may count on it
  while (Shape(std::span<const u64>(used)).size() > values) {
    // The slowest of equals. Long rows are good for the memory, so the last axis counts half, and
    // a short one nothing.
    constexpr u64 kShortRow = 256;
    u64& longest = *std::ranges::max_element(used, {}, [&](u64& extent) {
      if (&extent != &used.back()) return extent;
      return extent > kShortRow ? extent / 2 : u64(1);
    });
    if (longest == 1) return Shape(std::span<const u64>(used));
    longest = longest / 2 + longest % 2;
  }
  return Shape(std::span<const u64>(used));
}

Shape chunk_of_maps(const Shape& shape, u64 values) {
  std::array<u64, kMaxRank> extents{};
  u64 room = values;
  for (size_t axis = shape.rank(); axis-- > 0;) {
    const u64 extent = std::max<u64>(shape[axis], 1), parts = (extent + room - 1) / room;
    extents[axis] = (extent + parts - 1) / parts;
    room = parts > 1 ? 1 : std::max<u64>(room / extent, 1);
  }
  return Shape(std::span<const u64>(extents).first(shape.rank()));
}

namespace {

// Whether frames of an earlier stream have their meaning in this one.
bool continues(const Header& now, const Header& earlier) {
  return now.dtype == earlier.dtype && now.shape == earlier.shape && now.chunk == earlier.chunk &&
         now.recipe == earlier.recipe && now.bound.limits() == earlier.bound.limits() &&
         now.bound.is_lasting() && now.regions.empty() && earlier.regions.empty();
}

Header checked_header(const ChunkCodec& codec, const std::string& recipe, const View& view,
                      const CompressOptions& options) {
  if (options.bound.limits().empty() && !(options.rms > 0))
    fail_argument("a bound is needed: how much error may a value have?");
  if (view.data == nullptr && view.shape.size() > 0) fail_argument("the array has no data");
  const bool pointwise = options.bound.has(BoundKind::pointwise);
  if (pointwise && (options.bound.limits().size() > 1 || options.rms > 0))
    fail_argument("a pointwise bound stands alone");
  if (codec.is_pointwise() != pointwise && !options.bound.has(BoundKind::lossless))
    fail_argument(pointwise ? "a pointwise bound needs a recipe with the stage log"
                            : "the stage log needs a pointwise bound");
  Header header;
  header.dtype = view.dtype;
  header.shape = view.shape;
  if (pointwise && options.has_regions())
    fail_argument("a pointwise bound stands alone, without bounds of regions");
  header.chunk = chunk_of(options, view.shape, codec);
  header.bound = options.bound;
  header.recipe = recipe;
  header.regions = stated_regions(options, header, codec.is_by_value());
  if (options.earlier && !continues(header, options.earlier->header()))
    fail_argument("the earlier stream is not one of this array, recipe and bound");
  if (options.fills.size() + options.fill_bits.size() > kMostFills - kMostFoundFills)
    fail_argument("at most " + std::to_string(kMostFills - kMostFoundFills) +
                  " fill values can be declared");
  if (regions_overlap_too_much(header))
    fail_argument("the regions with bounds of their own overlap too much");
  return header;
}

}  // namespace

CompressReport compress_with(const ChunkCodec& codec, const std::string& recipe, const View& view,
                             const CompressOptions& options, const Sink& sink) {
  const DefaultFloatingPoint environment;
  return Compression(codec, view, options, checked_header(codec, recipe, view, options)).run(sink);
}
CompressReport compress_with(const ChunkCodec& codec, const std::string& recipe, const View& view,
                             const CompressOptions& options, std::span<u8> memory) {
  const DefaultFloatingPoint environment;
  return Compression(codec, view, options, checked_header(codec, recipe, view, options))
      .run(memory);
}

void declare_fill(CompressOptions& options, DType dtype, std::string_view text) {
  const char* const end = text.data() + text.size();
  const auto is_whole = [&](auto& value) {
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    return error == std::errc() && stop == end;
  };
  i64 with_sign = 0;
  u64 without_sign = 0;
  double number = 0;
  if (dtype == DType::i64 && is_whole(with_sign))
    options.fill_bits.push_back(u64(with_sign));
  else if (dtype == DType::u64 && is_whole(without_sign))
    options.fill_bits.push_back(without_sign);
  else if (is_whole(number))
    options.fills.push_back(number);
  else
    fail_argument("the fill value '" + std::string(text) + "' is not a number");
}

std::optional<ValidRange> value_range(const View& view, const CompressOptions& options) {
  const DefaultFloatingPoint environment;
  const Analysis analysis = analyze(view, declared_fills(options, view.dtype),
                                    options.detect_fills ? Detect::isolated : Detect::nothing,
                                    std::max(1u, options.execution.threads),
                                    options.execution.executor, options.execution.pause);
  if (!analysis.any_valid) return std::nullopt;
  return ValidRange{analysis.range, analysis.fills};
}

Array extremes(const View& view, const CompressOptions& options) {
  const DefaultFloatingPoint environment;
  return extremes(view, declared_fills(options, view.dtype),
                  std::max(1u, options.execution.threads), options.execution.executor,
                  options.execution.pause);
}

}  // namespace leeway
