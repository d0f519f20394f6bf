// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/stream/compact.h"

namespace leeway {

void compact(const StreamReader& stream, const std::function<void(ByteView)>& sink) {
  Bytes storage;
  sink(stream.read_header_bytes(storage));
  Tail tail;
  tail.growth = stream.tail().growth;
  StatementMaker statement;
  for (u64 ordinal = 0; ordinal < stream.chunks(); ++ordinal) {
    const StreamReader::Chunk chunk = stream.read_chunk(ordinal, storage);
    std::array<u8, kFrameHeadBytes> head;
    write(chunk.head, head);
    sink(head);
    sink(chunk.payload);
    const std::array<u8, kAlignment> zeros{};
    const u64 bytes = kFrameHeadBytes + chunk.payload.size();
    sink(ByteView(zeros).first(size_t(aligned(bytes) - bytes)));
    tail.rooms.push_back(chunk.head.payload_bytes);
    statement.add(chunk.head);
  }
  tail.statement = statement.statement();
  stream.check_statement(tail.statement);
  Writer out;
  write(tail, out);
  sink(out.bytes());
}

}  // namespace leeway
