// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/stream/stream_reader.h"

#include <algorithm>

#include "leeway/base/hash.h"
#include "leeway/stream/fields.h"

namespace leeway {
namespace {

// At least one chunk in this many must have survived: a few bytes of a hostile stream must not ask
// for terabytes of gaps.
constexpr u64 kSalvageable = 64;

// A search for frames reads this many bytes at a time.
constexpr u64 kWindow = u64(1) << 22;

}  // namespace

StreamReader::StreamReader(const ByteSource& source, OnDamage on_damage)
    : source_(source), end_(source.size()) {
  Bytes storage;
  const ByteView preamble = source.read(0, std::min<u64>(source.size(), kPreambleBytes), storage);
  if (is_brief(preamble)) {
    read_as_brief();
    return;
  }
  first_frame_ = header_bytes(preamble);
  header_ = read_header(source.read(0, first_frame_, storage));
  try {
    read_index(end_);
  } catch (const Error& error) {
    if (error.code() != Errc::corrupt) throw;
    // It may lack no more than an update.
    if (find_earlier_end()) return;
    if (on_damage == OnDamage::refuse) throw;
    search_frames();
  }
}

void StreamReader::read_as_brief() {
  if (source_.size() > kMostBriefBytes) fail_corrupt("a brief stream that is too long");
  Bytes storage;
  brief_ = read_brief(source_.read(0, source_.size(), storage));
  header_ = brief_->header;
  offsets_ = {0};
  StatementMaker statement;
  statement.add(brief_->head);
  statement_ = statement.statement();
}

StreamReader::Place StreamReader::place(u64 ordinal) const {
  if (brief_) return {0, end_};
  return {offset(ordinal), frame_bytes(tail_.rooms.at(size_t(ordinal)))};
}

ByteView StreamReader::read_header_bytes(Bytes& storage) const {
  if (!brief_) return source_.read(0, first_frame_, storage);
  Writer header;
  write(header_, header);
  storage.assign(header.bytes().begin(), header.bytes().end());
  return storage;
}

void StreamReader::read_index(u64 end) {
  Bytes storage;
  if (end < first_frame_ + kTailEndBytes) fail_corrupt("the tail is missing");
  tail_bytes_ = tail_bytes(source_.read(end - kTailEndBytes, kTailEndBytes, storage));
  if (tail_bytes_ > end - first_frame_) fail_corrupt("the tail is too long");
  tail_ = read_tail(source_.read(end - tail_bytes_, tail_bytes_, storage), header_);
  if (tail_.growth) set_extent(header_, tail_.growth->extent);
  const u64 tail_offset = end - tail_bytes_;
  if (tail_offset % kAlignment != 0) fail_corrupt("the tail is not in its place");
  u64 offset = first_frame_;
  offsets_.clear();
  offsets_.reserve(tail_.rooms.size());
  for (const u32 room : tail_.rooms) {
    if (offset > end) fail_corrupt("the index points outside");
    offsets_.push_back(offset);
    offset += frame_bytes(room);
  }
  if (tail_.moved.empty() ? offset != tail_offset : offset > tail_offset)
    fail_corrupt("the index does not fit the stream");
  // In a growing stream, frames that were moved may lie under the room of the chunk before new
  // ones.
  const u64 first_moved = tail_.growth ? first_frame_ : offset;
  for (const Moved& moved : tail_.moved) {
    if (moved.offset < first_moved || moved.offset > tail_offset - kFrameHeadBytes ||
        moved.offset % kAlignment != 0)
      fail_corrupt("the index points outside");
    offsets_[size_t(moved.ordinal)] = moved.offset;
  }
  statement_ = tail_.statement;
  end_ = end;
}

bool StreamReader::has_end() const {
  const u64 size = source_.size();
  Bytes storage;
  return size >= kEndMagicBytes &&
         is_end(source_.read(size - kEndMagicBytes, kEndMagicBytes, storage));
}

// Whether a stream ends here, with all of its frames in place.
bool StreamReader::is_whole_at(u64 end) {
  try {
    read_index(end);
    check_statement();
    return true;
  } catch (const Error& error) {
    if (error.code() != Errc::corrupt) throw;
    end_ = source_.size();
    return false;
  }
}

// An update appends frames and a tail; it writes the last bytes of the tail when all others have
// been written. An interrupted update leaves an earlier tail with something unfinished after it. To
// find that tail, the reader goes from frame to frame and tail to tail; it never searches payloads,
// whose bytes could look like a tail.
bool StreamReader::find_earlier_end() {
  u64 at = first_frame_, end = 0;
  for (;;) {
    if (const u64 frame = frame_bytes_at(at))
      at += frame;
    else if (const u64 tail = tail_bytes_at(at))
      end = at += tail;
    else
      break;
  }
  return end > 0 && may_be_unfinished(at, at > end) && is_whole_at(end);
}

// Returns the size of the whole frame that begins at `at`; 0 if there is none.
u64 StreamReader::frame_bytes_at(u64 at) const {
  if (source_.size() - at < kFrameHeadBytes) return 0;
  Bytes storage;
  const auto head = find_frame_head(source_.read(at, kFrameHeadBytes, storage));
  const u64 bytes = head ? leeway::frame_bytes(head->payload_bytes) : 0;
  return bytes <= source_.size() - at ? bytes : 0;
}

// Returns as many bytes as a tail may have that begins at `at`.
ByteView StreamReader::read_as_tail(u64 at, Bytes& storage) const {
  const u64 left = source_.size() - at;
  const ByteView begin = source_.read(at, std::min<u64>(left, kTailBeginBytes), storage);
  return source_.read(at, std::min(left, most_tail_bytes(begin, header_)), storage);
}

// Returns the size of the whole tail that begins at `at`; 0 if there is none.
u64 StreamReader::tail_bytes_at(u64 at) const {
  Bytes storage;
  const ByteView bytes = read_as_tail(at, storage);
  const auto size = find_tail(bytes, header_);
  return size && *size <= bytes.size() &&
                 is_end(bytes.subspan(*size - kEndMagicBytes, kEndMagicBytes))
             ? *size
             : 0;
}

// Whether the bytes at `at` may be what an interrupted update has left, after its frames if any.
bool StreamReader::may_be_unfinished(u64 at, bool after_frames) const {
  Bytes storage;
  const ByteView rest = read_as_tail(at, storage);
  // Many processes may be putting frames behind a growing stream, each at a place of its own.
  if (header_.is_growing) return find_tail(rest, header_) ? is_tail_unfinished(rest) : !has_end();
  if (may_begin_frame(rest)) return true;
  if (!after_frames) return false;
  if (find_tail(rest, header_)) return is_tail_unfinished(rest);
  // A tail that has its last bytes, but is no whole tail, is damaged as well.
  return are_zeros(rest) || (may_begin_tail(rest) && !has_end());
}

// A tail of full length is unfinished if its last bytes are still zeros; others are damage.
bool StreamReader::is_tail_unfinished(ByteView rest) const {
  const size_t tail = *find_tail(rest, header_);
  return tail > rest.size() || are_zeros(rest.subspan(tail - kEndMagicBytes, kEndMagicBytes));
}

void StreamReader::check_statement(const Statement& of_frames) const {
  if (!statement_) return;
  if (of_frames.max_error != statement_->max_error || of_frames.special != statement_->special ||
      of_frames.exact != statement_->exact || of_frames.decoded_hash != statement_->decoded_hash)
    fail_corrupt("the chunks are not those that the end of the stream states");
}

void StreamReader::check_statement() const {
  StatementMaker maker;
  for (u64 ordinal = 0; ordinal < chunks(); ++ordinal) maker.add(read_head(ordinal));
  check_statement(maker.statement());
}

u64 StreamReader::dead_bytes() const {
  if (brief_) return 0;
  u64 live = first_frame_ + tail_bytes_;
  for (u64 ordinal = 0; ordinal < chunks(); ++ordinal)
    live += frame_bytes(read_head(ordinal).payload_bytes);
  return end_ - std::min(end_, live);
}

void StreamReader::search_frames() {
  // A growing stream has the chunks that are found.
  if (header_.is_growing) set_extent(header_, 0);
  const u64 chunks = header_.grid().size(), size = source_.size();
  if (chunks / kSalvageable > size / kFrameHeadBytes + 1)
    fail_corrupt("too little is left to salvage");
  offsets_.assign(size_t(chunks), 0);
  statement_.reset();
  end_ = size;
  Bytes storage;
  for (u64 at = first_frame_; at + kFrameHeadBytes <= size;)
    at += search_window(at, source_.read(at, std::min(size - at, kWindow), storage));
  const auto found = this->chunks() - u64(std::ranges::count(offsets_, u64(0)));
  if (this->chunks() / kSalvageable > found) fail_corrupt("too little is left to salvage");
}

// Notes where a frame is, in a growing stream of as many rows as it says that there are.
void StreamReader::note(u64 ordinal, u64 offset) {
  if (ordinal >= chunks() && header_.is_growing) {
    Header row = header_;
    set_extent(row, 1);
    const u64 in_row = row.grid().size(), most = kSalvageable * (source_.size() / kFrameHeadBytes);
    if (in_row == 0 || in_row > most || ordinal > most - in_row) return;
    try {
      set_extent(header_, (ordinal / in_row + 1) * header_.chunk[0]);
    } catch (const Error&) {
      return;  // no array is that large
    }
    offsets_.resize(size_t(header_.grid().size()));
  }
  if (ordinal < chunks()) offsets_[size_t(ordinal)] = offset;
}

// Notes the frames whose heads lie in a window. Returns where the next window begins, counted from
// the start of this one; it covers again a frame that this window shows only in part.
u64 StreamReader::search_window(u64 start, ByteView window) {
  for (size_t at = 0; (at = find_frame(window, at)) + kFrameHeadBytes <= window.size(); ++at) {
    const auto head = find_frame_head(window.subspan(at, kFrameHeadBytes));
    if (!head || (head->ordinal >= chunks() && !header_.is_growing) ||
        head->payload_bytes > source_.size() - (start + at) - kFrameHeadBytes)
      continue;
    note(head->ordinal, start + at);
    at += kFrameHeadBytes + size_t(head->payload_bytes) - 1;
    if (at >= window.size()) return at + 1;
  }
  return std::min(find_frame(window, window.size() - kFrameHeadBytes + 1),
                  window.size() - (kFrameMagicBytes - 1));
}

FrameHead StreamReader::read_head(u64 ordinal) const {
  const u64 offset = offsets_.at(size_t(ordinal));
  if (brief_) return brief_->head;
  if (offset == 0) fail_corrupt("a chunk is missing");
  Bytes storage;
  const FrameHead head = read_frame_head(source_.read(offset, kFrameHeadBytes, storage));
  if (head.ordinal != ordinal) fail_corrupt("chunks are out of order");
  // If the bound is pointwise, the frame states that relative bound, but absolute errors.
  if (!header_.bound.has(BoundKind::pointwise) && head.max_error > head.bound)
    fail_corrupt("a chunk states a larger error than its bound");
  return head;
}

StreamReader::Chunk StreamReader::read_chunk(u64 ordinal, Bytes& storage) const {
  Chunk chunk;
  chunk.head = read_head(ordinal);
  const u64 at = payload_at(ordinal), bytes = chunk.head.payload_bytes,
            with_zeros = brief_ ? bytes : frame_bytes(bytes) - kFrameHeadBytes;
  const ByteView all =
      source_.read(at, std::clamp(source_.size() - at, bytes, with_zeros), storage);
  chunk.payload = all.first(size_t(bytes));
  if (!are_zeros(all.subspan(size_t(bytes)))) fail_corrupt("bytes between two chunks");
  if (hash_of(chunk.payload) != chunk.head.payload_hash) fail_corrupt("a chunk's checksum differs");
  return chunk;
}

}  // namespace leeway
