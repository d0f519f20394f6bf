// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/stream/stream_reader.h"

#include <algorithm>

#include "leeway/core/hash.h"

namespace leeway {
namespace {

// At least one chunk in so many must be left: a few bytes must not ask for terabytes of gaps.
constexpr u64 kSalvageable = 64;

}  // namespace

StreamReader::StreamReader(const ByteSource& source, OnDamage on_damage) : source_(source) {
  Bytes storage;
  const u64 preamble = std::min<u64>(source.size(), kPreambleBytes);
  const u64 first_frame = header_bytes(source.read(0, preamble, storage));
  header_ = read_header(source.read(0, first_frame, storage));
  const u64 chunks = header_.grid().size();
  try {
    read_index(first_frame, chunks);
  } catch (const Error& error) {
    if (on_damage == OnDamage::refuse || error.code() != Errc::corrupt) throw;
    search_frames(first_frame, chunks);
  }
}

void StreamReader::read_index(u64 first_frame, u64 chunks) {
  Bytes storage;
  const u64 size = source_.size();
  if (size < first_frame + kTailEndBytes) fail_corrupt("the tail is missing");
  const u64 bytes = tail_bytes(source_.read(size - kTailEndBytes, kTailEndBytes, storage));
  if (bytes > size - first_frame) fail_corrupt("the tail is too long");
  tail_ = read_tail(source_.read(size - bytes, bytes, storage), chunks);
  tail_offset_ = size - bytes;
  u64 offset = first_frame;
  offsets_.reserve(size_t(chunks));
  for (const u64 room : tail_.rooms) {
    if (room > size || offset > size) fail_corrupt("the index points outside");
    offsets_.push_back(offset);
    offset += kFrameHeadBytes + room;
  }
  if (tail_.moved.empty() ? offset != tail_offset_ : offset > tail_offset_)
    fail_corrupt("the index does not fit the stream");
  for (const Moved& moved : tail_.moved) {
    if (moved.offset < offset || moved.offset > tail_offset_ - kFrameHeadBytes)
      fail_corrupt("the index points outside");
    offsets_[size_t(moved.ordinal)] = moved.offset;
  }
  statement_ = tail_.statement;
}

void StreamReader::search_frames(u64 first_frame, u64 chunks) {
  if (chunks / kSalvageable > source_.size() / kFrameHeadBytes + 1)
    fail_corrupt("too little is left to salvage");
  offsets_.assign(size_t(chunks), 0);
  Bytes storage;
  const ByteView all = source_.read(0, source_.size(), storage);
  for (size_t at = find_frame(all, size_t(first_frame)); at + kFrameHeadBytes <= all.size();) {
    size_t next = at + 1;
    try {
      const FrameHead head = read_frame_head(all.subspan(at, kFrameHeadBytes));
      const u64 room = all.size() - at - kFrameHeadBytes;
      if (head.ordinal < chunks && head.payload_bytes <= room) {
        offsets_[size_t(head.ordinal)] = at;
        next = at + kFrameHeadBytes + size_t(head.payload_bytes);
      }
    } catch (const Error&) {
      // Not a frame, or a damaged one: look further.
    }
    at = find_frame(all, next);
  }
  const auto found = chunks - u64(std::ranges::count(offsets_, u64(0)));
  if (chunks / kSalvageable > found) fail_corrupt("too little is left to salvage");
}

FrameHead StreamReader::read_head(u64 ordinal) const {
  const u64 offset = offsets_.at(size_t(ordinal));
  if (offset == 0) fail_corrupt("a chunk is missing");
  Bytes storage;
  const FrameHead head = read_frame_head(source_.read(offset, kFrameHeadBytes, storage));
  if (head.ordinal != ordinal) fail_corrupt("chunks are out of order");
  return head;
}

StreamReader::Chunk StreamReader::read_chunk(u64 ordinal, Bytes& storage) const {
  Chunk chunk;
  chunk.head = read_head(ordinal);
  chunk.payload =
      source_.read(offsets_[size_t(ordinal)] + kFrameHeadBytes, chunk.head.payload_bytes, storage);
  if (hash_of(chunk.payload) != chunk.head.payload_hash) fail_corrupt("a chunk's checksum differs");
  return chunk;
}

}  // namespace leeway
