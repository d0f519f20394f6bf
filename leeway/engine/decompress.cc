// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <atomic>
#include <limits>

#include "leeway/array.h"
#include "leeway/base/buffer.h"
#include "leeway/base/copy.h"
#include "leeway/base/environment.h"
#include "leeway/base/hash.h"
#include "leeway/codec/chunk_codec.h"
#include "leeway/engine/execution.h"
#include "leeway/engine/frames.h"
#include "leeway/engine/layers.h"
#include "leeway/engine/region.h"
#include "leeway/engine/with_codec.h"

namespace leeway {
namespace {

void fill_gap(const MutableView& gap) {
  visit_dtype(gap.dtype, [&]<class T>(std::type_identity<T>) {
    T nothing{};
    if constexpr (is_floating<T>) nothing = T(std::numeric_limits<float>::quiet_NaN());
    for_each_row(gap, [&](std::byte* row, size_t count, std::ptrdiff_t stride) {
      for (size_t i = 0; i < count; ++i)
        std::memcpy(row + std::ptrdiff_t(i) * stride, &nothing, sizeof nothing);
    });
  });
}

// At higher levels a chunk has only one value left anyway.
constexpr unsigned kHighestLevel = 40;

// Larger arrays are written past the caches, where they would not stay anyway.
constexpr u64 kPastCaches = u64(32) << 20;  // bytes

// Copies values to their place in the caller's array, row by row, and computes their checksum.
class PlacedValues final : public ValueSink {
 public:
  PlacedValues(const MutableView& target, bool check, bool past_caches)
      : target_(target),
        value_bytes_(size_of(target.dtype)),
        row_(target),
        is_plain_(row_.step == std::ptrdiff_t(value_bytes_)),
        check_(check),
        past_caches_(past_caches && is_plain_),
        to_(target.data),
        left_(row_.length * value_bytes_) {}

  void* room(size_t) override { return piece_.data(); }
  void put(size_t bytes) override { place({piece_.data(), bytes}); }
  void take(ByteView bytes) override { place(bytes); }
  // To be called at the end: the checksum of all values, if they are to be checked.
  u64 hash() const {
    if (past_caches_) finish_copies();
    return hasher_.value();
  }

 private:
  void place(ByteView bytes) {
    if (check_) hasher_.add(bytes);
    while (!bytes.empty()) {
      if (left_ == 0) next_row();
      const size_t n = std::min(bytes.size(), left_);
      const auto* from = reinterpret_cast<const std::byte*>(bytes.data());
      if (past_caches_)
        copy_past_caches(to_, from, n);
      else
        copy_row(from, std::ptrdiff_t(value_bytes_), to_, row_.step, n / value_bytes_,
                 value_bytes_);
      to_ += std::ptrdiff_t(n / value_bytes_) * row_.step;
      left_ -= n;
      bytes = bytes.subspan(n);
    }
  }
  void next_row() {
    for (size_t axis = target_.shape.rank() - row_.axes; axis-- > 0;) {
      if (++index_[axis] < target_.shape[axis]) break;
      index_[axis] = 0;
    }
    to_ = target_.at(index_);
    left_ = row_.length * value_bytes_;
  }

  MutableView target_;
  size_t value_bytes_;
  JoinedRow row_;
  bool is_plain_, check_, past_caches_;
  Index index_{};
  std::byte* to_;
  size_t left_;  // bytes left in the row
  Hasher hasher_;
  alignas(64) std::array<u8, kMost> piece_;
};

u64 coarse(u64 extent, unsigned level) { return (extent + (u64(1) << level) - 1) >> level; }

// Decodes every 2^level-th value of a chunk to its place in `values`; reads only the part of the
// payload that this needs.
FrameHead decompress_coarse(const ChunkCodec& codec, const StreamReader& stream, u64 ordinal,
                            unsigned level, bool check, void* values) {
  constexpr size_t kMostTable = 3 + LevelTable::size(LevelTable::kMost);
  Bytes storage;
  const FrameHead head = stream.read_head(ordinal);
  const ByteView first =
      stream.read_begin(ordinal, std::min<size_t>(kMostTable, head.payload_bytes), storage);
  const size_t before = alternative_of(first).bytes;
  Reader begin(first.subspan(before));
  if (head.payload_bytes <= kMostTable || Payload(begin.get<u8>()) != Payload::levels)
    return decompress_chunk(codec, stream, ordinal, check, values);
  const LevelTable table = LevelTable::read(begin);
  const size_t last = std::min<size_t>(level, table.entries.size());
  const LevelTable::Entry& entry = table.entries[last - 1];
  const size_t start = before + 1 + LevelTable::size(table.entries.size());
  if (entry.bytes > head.payload_bytes - start) fail_corrupt("a level ends beyond its chunk");
  Bytes kept;
  const ByteView payload = stream.read_begin(ordinal, start + entry.bytes, kept);
  if (hash_of(payload.subspan(start)) != entry.hash) fail_corrupt("a chunk's checksum differs");
  const Shape shape = stream.header().chunk_box(ordinal).shape;
  KeptValues target(values);
  codec.decompress(payload, shape.squeezed(), head.bound, target, {last, {}});
  return head;
}

// Checks that the frames of all chunks add up to what the tail states.
class StatementCheck {
 public:
  StatementCheck(const StreamReader& stream, size_t chunks_read)
      : stream_(stream), heads_(chunks_read == stream.chunks() ? chunks_read : 0) {}
  void add(u64 ordinal, const FrameHead& head) {
    if (!heads_.empty()) heads_[size_t(ordinal)] = head;
  }
  // To be called at the end; checks nothing unless all chunks have been read.
  void finish() const {
    if (heads_.size() != stream_.chunks() || !stream_.statement()) return;
    StatementMaker maker;
    for (const FrameHead& head : heads_) maker.add(head);
    stream_.check_statement(maker.statement());
  }

 private:
  const StreamReader& stream_;
  std::vector<FrameHead> heads_;
};

}  // namespace

Shape preview_shape(const Header& header, unsigned level) {
  level = std::min(level, kHighestLevel);
  std::array<u64, kMaxRank> extents{};
  for (size_t axis = 0; axis < header.shape.rank(); ++axis) {
    const u64 whole = header.shape[axis] / header.chunk[axis],
              rest = header.shape[axis] % header.chunk[axis];
    extents[axis] = whole * coarse(header.chunk[axis], level) + coarse(rest, level);
  }
  return Shape(std::span<const u64>(extents.data(), header.shape.rank()));
}

void preview_with(const CodecMaker& maker, const StreamReader& stream, unsigned level,
                  const MutableView& out, const DecompressOptions& options) {
  const DefaultFloatingPoint environment;
  const Header& header = stream.header();
  level = std::min(level, kHighestLevel);
  if (out.dtype != header.dtype || !(out.shape == preview_shape(header, level)))
    fail_argument("a preview of this stream has another type or shape");
  if (level == 0) {
    decompress_with(maker, stream, {}, out, options);
    return;
  }
  const auto codec = maker(header.recipe, header.dtype);
  const size_t value_bytes = size_of(header.dtype);
  Meter meter(options.execution.progress, double(stream.chunks()));
  const unsigned threads = affordable_threads(options.execution, header.chunk.size() * value_bytes);
  StatementCheck statement(stream, size_t(stream.chunks()));
  for_each_index(stream.chunks(), threads, options.execution.executor, [&](u64 ordinal) {
    const Box box = header.chunk_box(ordinal);
    Buffer<u64> values((size_t(box.shape.size()) * value_bytes + 7) / 8);
    statement.add(ordinal, decompress_coarse(*codec, stream, ordinal, level, options.check_decoded,
                                             values.data()));
    View part(reinterpret_cast<const std::byte*>(values.data()), header.dtype, box.shape);
    Box target;
    std::array<u64, kMaxRank> extents{};
    for (size_t axis = 0; axis < box.shape.rank(); ++axis) {
      extents[axis] = coarse(box.shape[axis], level);
      part.strides[axis] <<= level;
      target.first[axis] = box.first[axis] / header.chunk[axis] * coarse(header.chunk[axis], level);
    }
    part.shape = target.shape = Shape(std::span<const u64>(extents.data(), box.shape.rank()));
    copy(part, out.part(target));
    meter.add(1);
  });
  statement.finish();
}

namespace {

// Decodes a whole chunk to its place.
FrameHead place_chunk(const ChunkCodec& codec, const StreamReader& stream, u64 ordinal, bool check,
                      const MutableView& target, bool past_caches) {
  if (!past_caches && is_contiguous(target) &&
      reinterpret_cast<std::uintptr_t>(target.data) % size_of(target.dtype) == 0)
    return decompress_chunk(codec, stream, ordinal, check, target.data);
  Bytes storage;
  const StreamReader::Chunk chunk = stream.read_chunk(ordinal, storage);
  PlacedValues placed(target, check, past_caches);
  decode_payload(codec, chunk, target.dtype, target.shape.squeezed(), placed);
  const u64 hash = placed.hash();
  if (check) check_hash(hash, chunk.head);
  return chunk.head;
}

}  // namespace

DecompressReport decompress_with(const CodecMaker& maker, const StreamReader& stream,
                                 const Index& first, const MutableView& out,
                                 const DecompressOptions& options) {
  const DefaultFloatingPoint environment;
  const BufferPool::UseOwn pool;
  const Header& header = stream.header();
  check_region(header, first, out.dtype, out.shape);
  const auto codec = maker(header.recipe, header.dtype);
  const std::vector<u64> ordinals = chunks_of_region(header, first, out.shape);
  const size_t value_bytes = size_of(header.dtype);
  const unsigned threads = affordable_threads(options.execution, header.chunk.size() * value_bytes);
  const bool past_caches = out.shape.size() * value_bytes > kPastCaches;
  std::atomic<u64> damaged_chunks = 0, damaged_values = 0;
  StatementCheck statement(stream, ordinals.size());
  Meter meter(options.execution.progress, double(ordinals.size()));
  for_each_index(ordinals.size(), threads, options.execution.executor, [&](u64 i) {
    const u64 ordinal = ordinals[size_t(i)];
    const Box box = header.chunk_box(ordinal);
    const auto [in_box, in_region] = *overlap(box, first, out.shape);
    const MutableView target = out.part(in_region);
    try {
      if (in_box.shape == box.shape) {
        statement.add(ordinal, place_chunk(*codec, stream, ordinal, options.check_decoded, target,
                                           past_caches));
      } else {
        Buffer<u64> values((size_t(box.shape.size()) * value_bytes + 7) / 8);
        statement.add(ordinal, decompress_chunk(*codec, stream, ordinal, options.check_decoded,
                                                values.data(), in_box));
        const MutableView whole(reinterpret_cast<std::byte*>(values.data()), header.dtype,
                                box.shape);
        const MutableView part = whole.part(in_box);
        copy(View(part.data, part.dtype, part.shape, part.strides), target);
      }
    } catch (const Error& error) {
      if (!options.salvage || error.code() != Errc::corrupt) throw;
      fill_gap(target);
      ++damaged_chunks;
      damaged_values += target.shape.size();
    }
    if (options.execution.pause) options.execution.pause();
    meter.add(1);
  });
  if (!options.salvage) statement.finish();
  return {damaged_chunks, damaged_values};
}

Array decompress_with(const CodecMaker& maker, ByteView stream, const Box* region,
                      const DecompressOptions& options) {
  const MemorySource source(stream);
  const StreamReader reader(
      source, options.salvage ? StreamReader::OnDamage::salvage : StreamReader::OnDamage::refuse);
  const Box box = region ? *region : Box{{}, reader.header().shape};
  Array array(reader.header().dtype, box.shape);
  decompress_with(maker, reader, box.first, array.view(), options);
  return array;
}

}  // namespace leeway
