// SPDX-License-Identifier: BSD-3-Clause
// Streams taken apart and put together again, all checksums right: checksums stop accidents, not
// attackers.
#pragma once

#include <algorithm>
#include <vector>

#include "leeway/base/hash.h"
#include "leeway/leeway.hpp"

namespace leeway::test {

struct Frame {
  FrameHead head;
  Bytes payload;
  u64 spare = 0;          // bytes of its room that the payload does not need
  bool is_moved = false;  // after all places
};

struct Parts {
  Header header;
  std::vector<Frame> frames;  // in the order of their places
  Form form = Form::standard;
};

// Throws Error unless the parts of the stream are whole; looks into no payload.
inline Parts take_apart(ByteView stream) {
  const MemorySource source(stream);
  const StreamReader reader(source);
  Parts parts{reader.header(), {}, reader.form()};
  for (u64 i = 0; i < reader.chunks(); ++i) {
    Bytes storage;
    const StreamReader::Chunk chunk = reader.read_chunk(i, storage);
    parts.frames.push_back({chunk.head, Bytes(chunk.payload.begin(), chunk.payload.end())});
  }
  return parts;
}

// In the form that they have, unless that is the brief one and it cannot hold them.
inline Bytes put_together(const Parts& parts) {
  Writer out;
  if (parts.form == Form::brief && can_be_brief(parts.header) && parts.frames.size() == 1) {
    FrameHead head = parts.frames[0].head;
    write_brief(parts.header, head, parts.frames[0].payload, out);
    return Bytes(out.bytes().begin(), out.bytes().end());
  }
  write(parts.header, out);
  Tail tail;
  StatementMaker statement;
  const auto put_frame = [&](const Frame& frame) {
    FrameHead head = frame.head;
    head.payload_bytes = u32(frame.payload.size());
    head.payload_hash = hash_of(frame.payload);
    const size_t start = out.size();
    out.extend(kFrameHeadBytes);
    out.put_bytes(frame.payload);
    finish_frame(head, start, out);
  };
  for (const Frame& frame : parts.frames) {
    const size_t start = out.size();
    put_frame(frame);
    const u64 room = frame.payload.size() + frame.spare;
    std::ranges::fill(out.extend(size_t(frame_bytes(room)) - (out.size() - start)), u8(0));
    tail.rooms.push_back(u32(room));
    statement.add(frame.head);
  }
  for (size_t i = 0; i < parts.frames.size(); ++i) {
    if (!parts.frames[i].is_moved) continue;
    tail.moved.push_back({i, out.size()});
    put_frame(parts.frames[i]);
  }
  tail.statement = statement.statement();
  write(tail, out);
  return Bytes(out.bytes().begin(), out.bytes().end());
}

// Gives every chunk that can be decoded the checksum of what comes out.
inline void accept_decoded(Parts& parts) {
  const Bytes stream = put_together(parts);
  DecompressOptions unchecked;
  unchecked.check_decoded = false;
  for (size_t i = 0; i < parts.frames.size(); ++i) try {
      const Array chunk = decompress(stream, parts.header.chunk_box(i), unchecked);
      parts.frames[i].head.decoded_hash =
          hash_of({reinterpret_cast<const u8*>(chunk.data()), chunk.bytes()});
    } catch (const Error&) {
      // It stays as it is.
    }
}

}  // namespace leeway::test
