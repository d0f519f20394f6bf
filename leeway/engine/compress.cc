// SPDX-License-Identifier: BSD-3-Clause
// Compress: from an array to a stream. The options are checked (header.h), the bound is found
// (resolve.h), then every chunk becomes a frame (make_frame.h); this file cuts the work, and puts
// header, frames and tail in order.
#include <algorithm>
#include <map>
#include <mutex>
#include <optional>

#include "leeway/base/environment.h"
#include "leeway/engine/first_look.h"
#include "leeway/engine/header.h"
#include "leeway/engine/job.h"
#include "leeway/engine/make_frame.h"
#include "leeway/engine/placement.h"
#include "leeway/engine/resolve.h"
#include "leeway/engine/with_codec.h"
#include "leeway/stream/brief.h"

namespace leeway {
namespace {

// Writes the stream of a job that is resolved.
class Compression {
 public:
  // With a first look, only a brief stream goes into a sink: the header says what was found.
  explicit Compression(Job& job, FirstLook* look = nullptr)
      : job_(job), look_(look), heads_(size_t(job.chunks)) {}

  // Into a sink, in order.
  CompressReport run(const Sink& sink) {
    u64 written = 0;
    const auto emit = [&](const Writer& part) {
      written += part.size();
      sink(part.bytes());
    };
    if (job_.is_brief) {
      emit(brief());
      return report(written);
    }
    emit(head());
    for_each_round([&](const Round& round) { emit_frames(round, emit); });
    emit(tail());
    return report(written);
  }

  // Into memory: every worker puts its frames into their place as soon as it is known.
  CompressReport run(std::span<u8> memory) {
    if (job_.is_brief) {
      const Writer stream = brief();
      place(memory, 0, stream.bytes());
      return report(stream.size());
    }
    const u64 start = head().size();
    for_each_round([&](const Round& round) { place_frames(round, start, memory); });
    if (look_) look_->conclude(job_);
    place(memory, 0, head().bytes());
    const u64 end = start + frame_bytes(job_.chunks);
    const Writer last = tail();
    place(memory, end, last.bytes());
    return report(end + last.size());
  }

 private:
  // Chunks with one bound. If a size is asked for, each round corrects the bound for what the
  // rounds before it have taken; otherwise there is one round.
  struct Round {
    u64 first, end;  // chunks
    double bound;
    u64 bytes_before;  // of frames
  };
  template <class F>
  void for_each_round(F&& f) {
    const u64 step = job_.rate ? job_.rate->round() : job_.chunks;
    for (u64 first = 0; first < job_.chunks; first += step) {
      const u64 before = frame_bytes(first);
      f(Round{first, std::min(job_.chunks, first + step), bound_from(first, before), before});
    }
  }
  double bound_from(u64 first, u64 bytes_before) const {
    if (job_.rate) return usable_bound(job_.rate->bound_from(first, bytes_before));
    return job_.pointwise ? *job_.pointwise : job_.header.abs_bound;
  }

  template <class Emit>
  void emit_frames(const Round& round, const Emit& emit) {
    std::map<u64, Writer> ready;
    std::mutex mutex;
    const auto make = [&](u64 i) {
      Writer frames;
      make_group(round, i, frames);
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
    for_each_in_order(groups(round), job_.threads, 8 * job_.threads,
                      job_.options.execution.executor, make, finish);
  }
  void place_frames(const Round& round, u64 head_bytes, std::span<u8> memory) {
    Placement placement(memory, head_bytes + round.bytes_before, groups(round));
    for_each_index(groups(round), job_.threads, job_.options.execution.executor, [&](u64 i) {
      Writer frames = placement.writer_for(i);
      make_group(round, i, frames);
      placement.put(i, std::move(frames));
      done_with_group(round, i);
    });
    placement.put_waiting();
  }

  // A worker makes the frames of a group of chunks that follow each other.
  u64 groups(const Round& round) const {
    return (round.end - round.first + job_.group - 1) / job_.group;
  }
  u64 group_begin(const Round& round, u64 index) const {
    return std::min(round.end, round.first + index * job_.group);
  }
  void make_group(const Round& round, u64 index, Writer& frames) {
    const u64 first = group_begin(round, index), end = group_begin(round, index + 1);
    frames.reserve(job_.room_for(end - first));
    for (u64 ordinal = first; ordinal < end; ++ordinal)
      heads_[size_t(ordinal)] = look_ ? look_and_make(ordinal, round.bound, frames)
                                      : make_frame(job_, ordinal, round.bound, frames);
  }
  FrameHead look_and_make(u64 ordinal, double bound, Writer& frames) {
    const Mask mask{.is_needed = look_->finds_special(job_.chunk(ordinal))};
    return make_new_frame(job_, ordinal, bound, mask, frames);
  }
  void done_with_group(const Round& round, u64 index) {
    job_.pause();
    job_.meter.add(double(group_begin(round, index + 1) - group_begin(round, index)));
  }
  // The bytes of the first `count` frames, which are made.
  u64 frame_bytes(u64 count) const {
    u64 bytes = 0;
    for (size_t i = 0; i < size_t(count); ++i)
      bytes += leeway::frame_bytes(heads_[i].payload_bytes);
    return bytes;
  }

  Writer head() const {
    Writer out;
    write(job_.header, out);
    return out;
  }
  Writer tail() {
    state();
    Tail tail;
    if (job_.header.is_growing) tail.growth = {stored_hash(head().bytes()), job_.view.shape[0]};
    tail.rooms.reserve(heads_.size());
    for (const FrameHead& frame : heads_) tail.rooms.push_back(frame.payload_bytes);
    tail.statement = statement_;
    Writer out;
    write(tail, out);
    return out;
  }
  // The whole stream in its brief form: one chunk.
  Writer brief() {
    Writer stream;
    for_each_round([&](const Round& round) {
      for_each_index(groups(round), job_.threads, job_.options.execution.executor, [&](u64 i) {
        Writer frame;
        make_group(round, i, frame);
        if (look_) look_->conclude(job_);
        write_brief(job_.header, heads_[0],
                    frame.bytes().subspan(kFrameHeadBytes, heads_[0].payload_bytes), stream);
        done_with_group(round, i);
      });
    });
    state();
    return stream;
  }

  // To be called when all frames are made.
  void state() {
    StatementMaker maker;
    for (const FrameHead& frame : heads_) maker.add(frame);
    statement_ = maker.statement();
  }
  CompressReport report(u64 output_bytes) const {
    CompressReport report;
    report.input_bytes = job_.view.shape.size() * size_of(job_.view.dtype);
    report.output_bytes = output_bytes;
    report.statement = statement_;
    report.abs_bound = job_.header.abs_bound;
    report.is_bound_by_chunk = job_.header.is_bound_by_chunk();
    report.asked_bytes = u64(job_.size_asked);
    report.min = job_.header.min;
    report.max = job_.header.max;
    report.recipe = job_.header.recipe;
    report.fills = job_.header.fills;
    report.form = job_.is_brief ? Form::brief : Form::standard;
    return report;
  }

  Job& job_;
  FirstLook* look_;
  std::vector<FrameHead> heads_;
  Statement statement_;
};

// In one pass over the array; nothing if it turns out to have fill values.
template <class To>
std::optional<CompressReport> compress_at_once(Job& job, const To& to) {
  FirstLook look(job.view.dtype);
  resolve_without_looking(job);
  try {
    return Compression(job, &look).run(to);
  } catch (const FirstLook::FillsFound&) {
    return {};
  } catch (const Error& error) {
    if (error.code() != Errc::too_small) throw;
    return {};  // fill values can take more room as long as nobody knows what they are
  }
}

template <class To>
CompressReport compress_to(Job&& job, const To& to) {
  if (!job.view.data && job.view.shape.size() > 0) fail_argument("the array has no data");
  constexpr bool is_memory = std::is_same_v<To, std::span<u8>>;
  if (can_look_on_the_way(job) && (is_memory || job.is_brief))
    if (const auto report = compress_at_once(job, to)) return *report;
  resolve(job);
  return Compression(job).run(to);
}

}  // namespace

CompressReport compress_with(const ChunkCodec& codec, const std::string& recipe, const View& view,
                             const CompressOptions& options, const Sink& sink) {
  const DefaultFloatingPoint environment;
  return compress_to(Job(codec, view, options, checked_header(codec, recipe, view, options)), sink);
}
CompressReport compress_with(const ChunkCodec& codec, const std::string& recipe, const View& view,
                             const CompressOptions& options, std::span<u8> memory) {
  const DefaultFloatingPoint environment;
  return compress_to(Job(codec, view, options, checked_header(codec, recipe, view, options)),
                     memory);
}

}  // namespace leeway
