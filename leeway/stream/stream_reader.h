// SPDX-License-Identifier: BSD-3-Clause
// StreamReader: finds and checks the parts of a stream; decodes nothing.
#pragma once

#include <optional>

#include "leeway/stream/brief.h"
#include "leeway/stream/format.h"
#include "leeway/stream/source.h"

namespace leeway {

// The two forms of a stream; readers can treat both alike.
enum class Form { standard, brief };
constexpr std::string_view name_of(Form form) { return form == Form::brief ? "brief" : "standard"; }

class LEEWAY_EXPORT StreamReader {
 public:
  enum class OnDamage { refuse, salvage };

  // Reads header and tail; a brief stream is read as a whole. Bytes that an interrupted update has
  // left after the end are ignored, and so are rows that are being appended: the stream is what it
  // was before. With `salvage`, chunks are searched for if the tail is damaged; the header must be
  // whole, and so must a brief stream.
  // `source` must outlive the reader.
  explicit StreamReader(const ByteSource& source, OnDamage on_damage = OnDamage::refuse);

  Form form() const { return brief_ ? Form::brief : Form::standard; }
  const Header& header() const { return header_; }
  u64 chunks() const { return offsets_.size(); }
  // The size of the stream, without what an interrupted update has left after it.
  u64 bytes() const { return end_; }
  u64 bytes_left_out() const { return source_.size() - end_; }
  // The statement of the tail; nothing if the tail is damaged.
  const std::optional<Statement>& statement() const { return statement_; }
  // Throws if a statement made from the frames is not that of the tail.
  void check_statement(const Statement& of_frames) const;
  // Reads the heads of all frames and checks their statement.
  void check_statement() const;

  struct Chunk {
    FrameHead head;
    ByteView payload;
  };
  // Throws if the chunk is damaged or missing. The payload may live in `storage`.
  Chunk read_chunk(u64 ordinal, Bytes& storage) const;
  FrameHead read_head(u64 ordinal) const;
  // Returns the first bytes of a chunk's payload, without checking its checksum.
  ByteView read_begin(u64 ordinal, size_t bytes, Bytes& storage) const {
    return source_.read(payload_at(ordinal), bytes, storage);
  }
  // Which bytes of the stream hold a chunk; in a brief stream, all of them.
  struct Place {
    u64 offset, bytes;
  };
  Place place(u64 ordinal) const;

  // The following are for updates: where frames are, and the parts of the tail. The tail must be
  // whole, and the stream must have the standard form.
  u64 offset(u64 ordinal) const { return offsets_.at(size_t(ordinal)); }
  const Tail& tail() const { return tail_; }
  u64 first_frame() const { return first_frame_; }
  // The header as a standard stream stores it.
  ByteView read_header_bytes(Bytes& storage) const;
  // The number of bytes in frames and tails that updates have replaced.
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
  ByteView read_as_tail(u64 at, Bytes& storage) const;
  bool may_be_unfinished(u64 at, bool after_frames) const;
  bool is_tail_unfinished(ByteView rest) const;
  void search_frames();
  void note(u64 ordinal, u64 offset);
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
