// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/parallel/write.h"

#include <algorithm>

#include "leeway/codec/chunk_codec.h"
#include "leeway/library_codec.h"
#include "leeway/parallel/agreement.h"
#include "leeway/parallel/commit.h"
#include "leeway/parallel/report.h"
#include "leeway/parallel/sight.h"
#include "leeway/parallel/streamed.h"

namespace leeway::parallel {
namespace {

// The header as far as it is known before the values are: shape and chunks.
Header stated_header(const LibraryCodec& made, DType dtype, const Shape& shape,
                     std::span<const Held> held, CompressOptions& compress) {
  if (compress.chunk.rank() == 0 && compress.regions.empty())
    compress.chunk = chunk_of_blocks(shape, held, made.codec->chunk_values());
  return header_of_parts(*made.codec, made.recipe, dtype, shape, compress);
}

// What is in the file before its tail, and the tail, at rank 0.
struct Written {
  u64 end = 0, header_hash = 0;
  Tail tail;
};

Written put_ordered(const Team& team, const Plan& plan, PartCompression& part, Commit& commit,
                    const leeway_write_options& options, Clock& clock,
                    leeway_write_report& report) {
  std::vector<MadeFrames> frames;
  part.run([&](std::span<const FrameHead> heads, ByteView bytes) {
    frames.push_back({{heads.begin(), heads.end()}, {bytes.begin(), bytes.end()}});
  });
  clock.lap(report.seconds[1]);
  Writer head;
  write(part.header(), head);
  Bytes first;
  if (team.rank() == 0) first.assign(head.bytes().begin(), head.bytes().end());
  Layout layout(team, plan, std::move(first), std::move(frames));
  Written written{layout.end(), stored_hash(head.bytes()), {}};
  StatementMaker maker;
  for (const FrameHead& frame : layout.heads()) {
    maker.add(frame);
    written.tail.rooms.push_back(frame.payload_bytes);
  }
  written.tail.statement = maker.statement();
  commit.write(layout.runs(options.writers, options.stripe));
  report.sent_compressed = layout.sent_bytes();
  return written;
}

Written put_streamed(const Team& team, const Plan& plan, const Part& chunks, PartCompression& part,
                     const Commit& commit, const leeway_write_options& options) {
  if (part.size_asked() > 0)
    fail_argument("a stream of a size that is asked for is not written while it is made");
  Writer head;
  write(part.header(), head);
  const u64 round = options.streamed == 1 ? kRoundBytes : options.streamed;
  Streamed streamed = write_streamed(team, plan, chunks, part, commit.temporary(), round, options);
  team.agree();
  return {streamed.end, stored_hash(head.bytes()), std::move(streamed.tail)};
}

}  // namespace

leeway_write_report write(const Team& team, const std::string& path, DType dtype,
                          const Shape& shape, std::span<const Block> blocks,
                          const CompressOptions& asked, const leeway_write_options& options) {
  leeway_write_report report{};
  CompressOptions compress = asked;
  Clock clock;
  agree_on_array(team, path, dtype, shape, compress, options);
  std::vector<Held> held = all_blocks(team, blocks);
  check_inside(shape, held);
  compress.recipe = recipe_for_all(team, dtype, shape, held, blocks, compress);
  const LibraryCodec made = library_codec_for_parts(compress, dtype);
  const Header header = stated_header(made, dtype, shape, held, compress);
  const Plan plan = make_plan(header, std::move(held), team.size(), !options.unbalanced);
  Commit commit(team, path, options);
  Written written;
  {
    const HeldChunks chunks(team, header, plan, blocks, compress);
    clock.lap(report.seconds[0]);
    PartCompression part(*made.codec, made.recipe, dtype, shape, compress, chunks);
    report.abs_bound = part.header().abs_bound;
    report.asked_bytes = part.size_asked();
    report.sent_raw = chunks.sent_bytes();
    written = options.streamed ? put_streamed(team, plan, chunks, part, commit, options)
                               : put_ordered(team, plan, part, commit, options, clock, report);
  }
  clock.lap(report.seconds[2]);
  Writer last;
  if (team.rank() == 0) {
    if (compress.growing) written.tail.growth = {written.header_hash, shape[0]};
    write(written.tail, last);
    report.special = written.tail.statement.special;
    report.max_error = written.tail.statement.max_error;
    report.output_bytes = written.end + last.size();
  }
  report.input_bytes = shape.size() * size_of(dtype);
  report.extent = shape.rank() > 0 ? shape[0] : 1;
  count_chunks(team, plan, report);
  std::ranges::copy(header.chunk.extents(), report.chunk);
  complete(team, report);
  commit.finish(written.end, last.bytes());
  clock.lap(report.seconds[3]);
  return report;
}

}  // namespace leeway::parallel
