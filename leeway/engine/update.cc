// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>
#include <mutex>
#include <shared_mutex>

#include "leeway/core/buffer.h"
#include "leeway/core/environment.h"
#include "leeway/engine/execution.h"
#include "leeway/engine/region.h"

namespace leeway {
namespace {

// The values of one chunk, with those of the region in their place, as a new frame.
class Replacement {
 public:
  Replacement(const ChunkCodec& codec, const StreamReader& stream, const Index& first,
              const View& values)
      : codec_(codec), stream_(stream), first_(first), values_(values) {
    mask_.fills = stream.header().fills;
  }

  FrameHead make(u64 ordinal, Writer& frame) const {
    const Header& header = stream_.header();
    const Box box = header.chunk_box(ordinal);
    const auto [in_box, in_region] = *overlap(box, first_, values_.shape);
    Buffer<u64> storage((size_t(box.shape.size()) * size_of(header.dtype) + 7) / 8);
    const MutableView whole(reinterpret_cast<std::byte*>(storage.data()), header.dtype, box.shape);
    const bool in_part = in_box.shape.size() < box.shape.size();
    if (in_part) decompress_chunk(codec_, stream_, ordinal, true, storage.data());
    copy(values_.part(in_region), whole.part(in_box));
    const double bound =
        header.is_bound_by_chunk() ? stream_.read_head(ordinal).bound : header.abs_bound;
    FrameHead head = compress_chunk(codec_, bound, mask_, ordinal,
                                    View(whole.data, whole.dtype, whole.shape), frame);
    if (in_part) {
      // What was there keeps the error it had.
      head.max_error = std::max(head.max_error, stream_.read_head(ordinal).max_error);
      write(head, frame.again<kFrameHeadBytes>(0));
    }
    return head;
  }

 private:
  const ChunkCodec& codec_;
  const StreamReader& stream_;
  Index first_;
  const View& values_;
  Mask mask_;
};

}  // namespace

UpdateReport update_with(const CodecMaker& maker, ByteStore& store, const Index& first,
                         const View& values, const Execution& execution) {
  const DefaultFloatingPoint environment;
  const StreamReader stream(store);
  const Header& header = stream.header();
  check_region(header, first, values.dtype, values.shape);
  if (header.bound.needs_measurement())
    fail_argument(
        "a stream with a psnr or l2 bound cannot be updated: the bound belongs to the whole array");
  const auto codec = maker(header.recipe, header.dtype);
  if (codec->is_by_value()) fail_argument("a stream with bounds value by value cannot be updated");
  if (!codec->keeps_decoded())
    fail_argument("a stream with a pointwise bound and the recipe '" + header.recipe +
                  "' cannot be updated: values beside the new ones would change");
  const std::vector<u64> ordinals = chunks_of_region(header, first, values.shape);
  const unsigned threads =
      affordable_threads(execution, header.chunk.size() * size_of(header.dtype));

  UpdateReport report;
  Tail tail = stream.tail();
  u64 end = stream.tail_offset();
  std::map<u64, FrameHead> heads;  // of the chunks written again
  const auto place = [&](u64 ordinal, const FrameHead& head, ByteView frame) {
    const auto moved = std::ranges::lower_bound(tail.moved, ordinal, {}, &Moved::ordinal);
    const bool was_moved = moved != tail.moved.end() && moved->ordinal == ordinal;
    const u64 room =
        was_moved ? stream.read_head(ordinal).payload_bytes : tail.rooms[size_t(ordinal)];
    u64 offset = stream.offset(ordinal);
    if (head.payload_bytes > room) {
      offset = std::exchange(end, end + frame.size());
      ++report.moved;
      if (was_moved)
        moved->offset = offset;
      else
        tail.moved.insert(moved, {ordinal, offset});
    }
    store.write(offset, frame);
    report.bytes_written += frame.size();
    ++report.chunks;
    heads.emplace(ordinal, head);
  };

  const Replacement replacement(*codec, stream, first, values);
  std::map<u64, std::pair<Writer, FrameHead>> ready;
  std::mutex mutex;
  std::shared_mutex io;  // nobody reads while something is written
  Meter meter(execution.progress, double(ordinals.size()));
  for_each_in_order(
      ordinals.size(), threads, 2 * threads, execution.executor,
      [&](u64 i) {
        std::pair<Writer, FrameHead> made;
        {
          const std::shared_lock reading(io);
          made.second = replacement.make(ordinals[size_t(i)], made.first);
        }
        const std::lock_guard lock(mutex);
        ready.emplace(i, std::move(made));
      },
      [&](u64 i) {
        std::unique_lock lock(mutex);
        const auto node = ready.extract(i);
        lock.unlock();
        const std::lock_guard writing(io);
        place(ordinals[size_t(i)], node.mapped().second, node.mapped().first.bytes());
        meter.add(1);
      });

  StatementMaker statement;
  for (u64 ordinal = 0; ordinal < stream.chunks(); ++ordinal) {
    const auto written = heads.find(ordinal);
    statement.add(written != heads.end() ? written->second : stream.read_head(ordinal));
  }
  tail.statement = report.statement = statement.statement();
  Writer tail_bytes;
  write(tail, tail_bytes);
  store.write(end, tail_bytes.bytes());
  report.bytes_written += tail_bytes.size();
  report.stream_bytes = end + tail_bytes.size();
  store.finish(report.stream_bytes);
  return report;
}

}  // namespace leeway
