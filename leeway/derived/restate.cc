// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/derived/restate.h"

#include <algorithm>
#include <cmath>

#include "leeway/derived/interval.h"

namespace leeway::derived {
namespace {

Header header_of(ByteView stream, u64& size) {
  size = header_bytes(stream.first(kPreambleBytes));
  return read_header(stream.first(size_t(size)));
}

}  // namespace

ChunkErrors errors_of(ByteView stream, const std::vector<double>& original,
                      const std::vector<double>& decoded) {
  u64 at = 0;
  const Header header = header_of(stream, at);
  ChunkErrors errors;
  for (u64 chunk = 0; chunk < header.grid().size(); ++chunk) {
    const FrameHead head = read_frame_head(stream.subspan(size_t(at), kFrameHeadBytes));
    at += frame_bytes(head.payload_bytes);
    const Box box = header.chunk_box(chunk);
    double largest = 0;
    for_each_outer(box.shape, 0, [&](const Index& inside) {
      u64 i = 0;
      for (size_t axis = 0; axis < box.shape.rank(); ++axis)
        i = i * header.shape[axis] + box.first[axis] + inside[axis];
      const double x = original[size_t(i)], y = decoded[size_t(i)];
      // Rounded up, as subtraction may round down.
      if (x != y && !std::isnan(x)) largest = std::max(largest, above(std::abs(x - y)));
    });
    errors.largest.push_back(largest);
    if (largest > head.bound) errors.beyond.push_back(chunk);
  }
  return errors;
}

std::vector<u8> restated(ByteView stream, const std::vector<double>& errors,
                         const std::string& variable, const std::vector<StatedPromise>& promises) {
  u64 at = 0;
  Header header = header_of(stream, at);
  header.variable = variable, header.promises = promises;
  Writer out;
  write(header, out);
  StatementMaker statement;
  for (const double error : errors) {
    FrameHead head = read_frame_head(stream.subspan(size_t(at), kFrameHeadBytes));
    const ByteView payload = stream.subspan(size_t(at) + kFrameHeadBytes, head.payload_bytes);
    at += frame_bytes(head.payload_bytes);
    head.max_error = std::min(std::max(head.max_error, error), head.bound);
    const size_t start = out.size();
    out.extend(kFrameHeadBytes);
    out.put_bytes(payload);
    finish_frame(head, start, out);
    statement.add(head);
  }
  Tail tail = read_tail(stream.subspan(size_t(at)), header);
  tail.statement = statement.statement();
  write(tail, out);
  return {out.bytes().begin(), out.bytes().end()};
}

}  // namespace leeway::derived
