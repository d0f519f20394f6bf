// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/engine/make_frame.h"

#include "leeway/base/buffer.h"
#include "leeway/base/hash.h"
#include "leeway/engine/border.h"
#include "leeway/engine/rewrite.h"

namespace leeway {
namespace {

// Values that are still what the earlier stream decodes to keep their bits.
FrameHead continue_frame(const Job& job, u64 ordinal, double bound, Writer& out) {
  const View chunk = job.chunk(ordinal);
  const OldChunk before(job.codec, *job.options.earlier, ordinal);
  if (before.chunk.head.bound != usable_bound(bound))
    fail_argument("the earlier stream has another bound");
  Buffer<u64> now(before.values.size());
  gather(chunk, now.data());
  const View view(reinterpret_cast<const std::byte*>(now.data()), chunk.dtype, chunk.shape);
  return rewrite_chunk(job.codec, job.mask, before, view, changed_values(before, view), out);
}

// The values are kept without loss. They were decoded from a stream that is not at hand, so the
// frame states that their errors may be as large as the bound.
FrameHead keep_frame(const Job& job, u64 ordinal, double bound, Writer& out) {
  const size_t start = out.size();
  FrameHead head = compress_chunk(job.codec, 0.0, job.mask, ordinal, job.chunk(ordinal), out);
  head.bound = usable_bound(with_regions(job, ordinal, bound));
  head.max_error = job.pointwise ? job.header.abs_bound : head.bound;
  write(head, out.again<kFrameHeadBytes>(start));
  return head;
}

}  // namespace

FrameHead make_frame(const Job& job, u64 ordinal, double bound, Writer& out) {
  if (job.options.earlier) return continue_frame(job, ordinal, bound, out);
  if (job.options.keeps_all) return keep_frame(job, ordinal, bound, out);
  return with_chunk_bound(job, ordinal, bound, [&](const ChunkBound& own) {
    return make_new_frame(job, ordinal, own, out);
  });
}

FrameHead make_new_frame(const Job& job, u64 ordinal, const ChunkBound& bound, Writer& out) {
  return make_new_frame(job, ordinal, bound, job.mask, out);
}

FrameHead make_new_frame(const Job& job, u64 ordinal, const ChunkBound& bound, const Mask& mask,
                         Writer& out) {
  const View chunk = job.chunk(ordinal);
  // A chunk whose squared error is measured must be coded as a whole, as it was for measuring.
  if (job.is_brief && !job.header.bound.needs_measurement())
    return compress_border_chunk(job.codec, bound.most, mask, ordinal, chunk, out);
  return compress_chunk(job.codec, bound, mask, ordinal, chunk, out);
}

FrameHead compress_chunk(const ChunkCodec& codec, const ChunkBound& bound, const Mask& mask,
                         u64 ordinal, const View& chunk, Writer& out) {
  const size_t start = out.size();
  out.extend(kFrameHeadBytes);
  const ChunkReport report = codec.compress(chunk, bound, mask, out);
  const ByteView payload = out.bytes().subspan(start + kFrameHeadBytes);
  const FrameHead head{.ordinal = ordinal,
                       .payload_bytes = u32(payload.size()),
                       .special = u32(report.special),
                       .exact = u32(report.exact),
                       .bound = bound.most,
                       .max_error = report.max_error,
                       .decoded_hash = report.decoded_hash,
                       .payload_hash = hash_of(payload)};
  finish_frame(head, start, out);
  return head;
}

}  // namespace leeway
