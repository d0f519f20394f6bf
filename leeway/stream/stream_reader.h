// SPDX-License-Identifier: BSD-3-Clause
// StreamReader: finds and checks the parts of a stream; decodes nothing.
#pragma once

#include <optional>

#include "leeway/stream/format.h"
#include "leeway/stream/source.h"

namespace leeway {

class LEEWAY_EXPORT StreamReader {
 public:
  enum class OnDamage { refuse, salvage };

  // Reads header and tail. With `salvage` a damaged tail is replaced by a search for chunks; the
  // header must be whole. `source` must outlive the reader.
  explicit StreamReader(const ByteSource& source, OnDamage on_damage = OnDamage::refuse);

  const Header& header() const { return header_; }
  u64 chunks() const { return offsets_.size(); }
  u64 bytes() const { return source_.size(); }
  // Nothing if the tail is lost.
  const std::optional<Statement>& statement() const { return statement_; }

  struct Chunk {
    FrameHead head;
    ByteView payload;
  };
  // Throws if the chunk is damaged or missing. The payload may live in `storage`.
  Chunk read_chunk(u64 ordinal, Bytes& storage) const;
  FrameHead read_head(u64 ordinal) const;
  // The first bytes of a chunk's payload, unchecked.
  ByteView read_begin(u64 ordinal, size_t bytes, Bytes& storage) const {
    return source_.read(offset(ordinal) + kFrameHeadBytes, bytes, storage);
  }

  // For writing chunks again: where they are, and the parts of the tail. The tail must be whole.
  u64 offset(u64 ordinal) const { return offsets_.at(size_t(ordinal)); }
  const Tail& tail() const { return tail_; }
  u64 tail_offset() const { return tail_offset_; }

 private:
  void read_index(u64 first_frame, u64 chunks);
  void search_frames(u64 first_frame, u64 chunks);

  const ByteSource& source_;
  Header header_;
  std::optional<Statement> statement_;
  Tail tail_;
  u64 tail_offset_ = 0;
  std::vector<u64> offsets_;  // of frames; 0: missing
};

}  // namespace leeway
