// SPDX-License-Identifier: BSD-3-Clause
// StreamReader: finds and checks the parts of a stream; decodes nothing.
#pragma once

#include <optional>

#include "leeway/stream/brief.h"
#include "leeway/stream/format.h"
#include "leeway/stream/source.h"

namespace leeway {

// A stream has one of two forms; whoever reads need not care which.
enum class Form { standard, brief };
constexpr std::string_view name_of(Form form) { return form == Form::brief ? "brief" : "standard"; }

class LEEWAY_EXPORT StreamReader {
 public:
  enum class OnDamage { refuse, salvage };

  // Reads header and tail, of a brief stream everything. An interrupted update leaves the stream as
  // it was before, with more bytes after it: these are left out. With `salvage` a damaged tail is
  // replaced by a search for chunks; the header, and a brief stream, must be whole. `source` must
  // outlive the reader.
  explicit StreamReader(const ByteSource& source, OnDamage on_damage = OnDamage::refuse);

  Form form() const { return brief_ ? Form::brief : Form::standard; }
  const Header& header() const { return header_; }
  u64 chunks() const { return offsets_.size(); }
  // Of the stream: what an interrupted update left after it does not count.
  u64 bytes() const { return end_; }
  u64 bytes_left_out() const { return source_.size() - end_; }
  // Nothing if the tail is lost.
  const std::optional<Statement>& statement() const { return statement_; }
  // Throws if what the frames say of themselves is not what the tail states.
  void check_statement(const Statement& of_frames) const;
  // The same for all frames as they are now.
  void check_statement() const;

  struct Chunk {
    FrameHead head;
    ByteView payload;
  };
  // Throws if the chunk is damaged or missing. The payload may live in `storage`.
  Chunk read_chunk(u64 ordinal, Bytes& storage) const;
  FrameHead read_head(u64 ordinal) const;
  // The first bytes of a chunk's payload, unchecked.
  ByteView read_begin(u64 ordinal, size_t bytes, Bytes& storage) const {
    return source_.read(payload_at(ordinal), bytes, storage);
  }
  // Which bytes of the stream hold a chunk; if it is a brief one, all of them.
  struct Place {
    u64 offset, bytes;
  };
  Place place(u64 ordinal) const;

  // For writing chunks again: where they are, and the parts of the tail. The tail must be whole,
  // and the stream a standard one.
  u64 offset(u64 ordinal) const { return offsets_.at(size_t(ordinal)); }
  const Tail& tail() const { return tail_; }
  u64 first_frame() const { return first_frame_; }
  // The header as a standard stream stores it.
  ByteView read_header_bytes(Bytes& storage) const;
  // The bytes of frames and tails that no longer count.
  u64 dead_bytes() const;

 private:
  void read_as_brief();
  u64 payload_at(u64 ordinal) const {
    return brief_ ? brief_->payload_at : offset(ordinal) + kFrameHeadBytes;
  }
  void read_index(u64 end);
  bool is_whole_at(u64 end);
  bool has_end() const;
  bool find_earlier_end();
  u64 frame_bytes_at(u64 at) const;
  u64 tail_bytes_at(u64 at) const;
  bool may_be_unfinished(u64 at, bool after_frames) const;
  void search_frames();
  u64 search_window(u64 start, ByteView window);

  const ByteSource& source_;
  Header header_;
  u64 first_frame_ = 0, end_ = 0;
  std::optional<Statement> statement_;
  Tail tail_;
  u64 tail_bytes_ = 0;
  std::vector<u64> offsets_;  // of frames; 0: missing
  std::optional<Brief> brief_;
};

}  // namespace leeway
