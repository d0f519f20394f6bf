// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/engine/appending.h"

#include <algorithm>
#include <limits>

namespace leeway {

NextTail::NextTail(const StreamReader& stream)
    : stream_(stream),
      tail_(stream.tail()),
      end_(stream.bytes()),
      places_end_(stream.first_frame()) {
  for (const Moved& moved : tail_.moved) moved_.emplace(moved.ordinal, moved.offset);
  for (const u32 room : tail_.rooms) places_end_ += frame_bytes(room);
}

void NextTail::put(const FrameHead& head) {
  if (head.ordinal < stream_.chunks()) {
    moved_[head.ordinal] = end_;
  } else {
    // What lies between, an old tail and moved frames, becomes room of the chunk before.
    const u64 room = frame_bytes(tail_.rooms.back()) - kFrameHeadBytes + (end_ - places_end_);
    if (end_ == places_end_ || room <= std::numeric_limits<u32>::max()) {
      if (end_ != places_end_) tail_.rooms.back() = u32(room);
      tail_.rooms.push_back(head.payload_bytes);
      places_end_ = end_ + frame_bytes(head.payload_bytes);
    } else {
      tail_.rooms.push_back(0);
      moved_[head.ordinal] = end_;
      places_end_ += kFrameHeadBytes;
    }
  }
  end_ += frame_bytes(head.payload_bytes);
  heads_.emplace(head.ordinal, head);
}

Tail NextTail::finish(u64& live) const {
  Tail tail = tail_;
  StatementMaker statement;
  live = stream_.first_frame();
  for (u64 ordinal = 0; ordinal < tail.rooms.size(); ++ordinal) {
    const auto put = heads_.find(ordinal);
    const FrameHead head = put != heads_.end() ? put->second : stream_.read_head(ordinal);
    statement.add(head);
    live += frame_bytes(head.payload_bytes);
  }
  tail.moved.clear();
  for (const auto& [ordinal, offset] : moved_) tail.moved.push_back({ordinal, offset});
  tail.statement = statement.statement();
  return tail;
}

Appending::Appending(ByteStore& store, const StreamReader& stream)
    : store_(store), start_(stream.bytes()), next_(stream) {
  if (store_.size() > start_) store_.truncate(start_);  // left by somebody who was interrupted
}

Appending::~Appending() {
  if (!is_committed_) try {
      store_.truncate(start_);
    } catch (...) {
      // Readers ignore what is left.
    }
}

void Appending::put(const FrameHead& head, ByteView frame) {
  store_.write(next_.end(), frame);
  next_.put(head);
}

UpdateReport Appending::commit() {
  UpdateReport report;
  u64 live = 0;
  const Tail tail = next_.finish(live);
  report.statement = tail.statement;
  Writer out;
  write(tail, out);
  // The last bytes are written last: without them the stream ends where it did before.
  const ByteView bytes = out.bytes(), last = bytes.last(kEndMagicBytes);
  store_.write(next_.end(), bytes.first(bytes.size() - last.size()));
  store_.sync();
  store_.write(next_.end() + bytes.size() - last.size(), last);
  store_.sync();
  is_committed_ = true;
  report.chunks = next_.frames();
  report.stream_bytes = next_.end() + bytes.size();
  report.bytes_written = report.stream_bytes - start_;
  report.dead_bytes = report.stream_bytes - live - bytes.size();
  return report;
}

}  // namespace leeway
