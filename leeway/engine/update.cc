// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>
#include <mutex>
#include <shared_mutex>

#include "leeway/base/buffer.h"
#include "leeway/base/environment.h"
#include "leeway/engine/appending.h"
#include "leeway/engine/execution.h"
#include "leeway/engine/frames.h"
#include "leeway/engine/make_frame.h"
#include "leeway/engine/region.h"
#include "leeway/engine/with_codec.h"
#include "leeway/engine/rewrite.h"

namespace leeway {
namespace {

// Makes a new frame of a chunk with the values of the region put in.
class Replacement {
 public:
  Replacement(const ChunkCodec& codec, const StreamReader& stream, const Index& first,
              const View& values)
      : codec_(codec), stream_(stream), first_(first), values_(values) {
    mask_.fills = stream.header().fills;
  }

  FrameHead make(u64 ordinal, Writer& frame) const {
    const Box box = stream_.header().chunk_box(ordinal);
    const auto [in_box, in_region] = *overlap(box, first_, values_.shape);
    const FrameHead head = in_box.shape == box.shape
                               ? compress_chunk(codec_, stream_.read_head(ordinal).bound, mask_,
                                                ordinal, values_.part(in_region), frame)
                               : rewrite(ordinal, box.shape, in_box, in_region, frame);
    if (head.max_error > stream_.header().abs_bound)
      fail_argument(
          "the new values are larger than those that the stream states its absolute bound for");
    return head;
  }

 private:
  FrameHead rewrite(u64 ordinal, const Shape& shape, const Box& in_chunk, const Box& in_region,
                    Writer& frame) const {
    const OldChunk before(codec_, stream_, ordinal);
    Buffer<u64> now(before.values.size());
    std::ranges::copy(before.values, now.data());
    const MutableView whole(reinterpret_cast<std::byte*>(now.data()), values_.dtype, shape);
    copy(values_.part(in_region), whole.part(in_chunk));
    std::vector<u8> changed(size_t(shape.size())), ones(size_t(in_chunk.shape.size()), 1);
    copy(view_of(ones.data(), in_chunk.shape),
         mutable_view_of(changed.data(), shape).part(in_chunk));
    return rewrite_chunk(codec_, mask_, before, View(whole.data, whole.dtype, shape), changed,
                         frame);
  }

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
  if (stream.form() == Form::brief)
    fail_argument(
        "a brief stream cannot be updated: write it in the standard form first, with compact() or "
        "'leeway update FILE --compact'");
  const Header& header = stream.header();
  check_region(header, first, values.dtype, values.shape);
  if (header.bound.needs_measurement())
    fail_argument(
        "a stream with a psnr or l2 bound cannot be updated: the bound belongs to the whole array");
  const auto codec = maker(header.recipe, header.dtype);
  if (!header.promises.empty())
    fail_argument("a stream that states promises of derived quantities cannot be updated");
  if (codec->is_by_value()) fail_argument("a stream with bounds value by value cannot be updated");
  const std::vector<u64> ordinals = chunks_of_region(header, first, values.shape);
  if (ordinals.empty()) {
    UpdateReport nothing;
    nothing.stream_bytes = stream.bytes();
    nothing.dead_bytes = stream.dead_bytes();
    nothing.statement = *stream.statement();
    return nothing;
  }
  const unsigned threads =
      affordable_threads(execution, header.chunk.size() * size_of(header.dtype));

  Appending appending(store, stream);
  const Replacement replacement(*codec, stream, first, values);
  std::map<u64, std::pair<Writer, FrameHead>> ready;
  std::mutex mutex;
  std::shared_mutex io;  // reads are shared, writes are exclusive
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
        appending.put(node.mapped().second, node.mapped().first.bytes());
        meter.add(1);
      });
  return appending.commit();
}

}  // namespace leeway
