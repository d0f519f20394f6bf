// SPDX-License-Identifier: BSD-3-Clause
// Appending: frames and a new tail are put behind the end of a stream. Nothing is overwritten;
// readers see the old stream until the last bytes of the new tail are there.
#pragma once

#include <map>

#include "leeway/engine/engine.h"

namespace leeway {

// The tail that a stream will have when frames have been put behind its end, one after the other.
class NextTail {
 public:
  explicit NextTail(const StreamReader& stream);
  u64 end() const { return end_; }  // where the next frame, or the tail, goes
  // The next frame. A chunk that the stream has is replaced; others come in order.
  void put(const FrameHead& head);
  // The first axis of a growing stream reaches this far.
  void reach(u64 extent) { tail_.growth->extent = extent; }
  size_t frames() const { return heads_.size(); }  // that were put
  // Reads the heads of all frames that stay. `live` counts the bytes that are still in use.
  Tail finish(u64& live) const;

 private:
  const StreamReader& stream_;
  Tail tail_;
  u64 end_, places_end_;  // of all that is there; of the frames in their places
  std::map<u64, FrameHead> heads_;
  std::map<u64, u64> moved_;  // ordinal -> offset of every frame that is not in its place
};

// Puts frames behind the end of a stream in a store, and takes them away again unless commit() is
// reached.
class Appending {
 public:
  Appending(ByteStore& store, const StreamReader& stream);
  ~Appending();
  Appending(const Appending&) = delete;
  Appending& operator=(const Appending&) = delete;

  void put(const FrameHead& head, ByteView frame);
  void reach(u64 extent) { next_.reach(extent); }
  UpdateReport commit();

 private:
  ByteStore& store_;
  u64 start_;
  NextTail next_;
  bool is_committed_ = false;
};

}  // namespace leeway
