// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/parallel/append.h"

#include <sys/stat.h>

#include <algorithm>
#include <optional>

#include "leeway/codec/chunk_codec.h"
#include "leeway/engine/appending.h"
#include "leeway/engine/rows.h"
#include "leeway/library_codec.h"
#include "leeway/parallel/agreement.h"
#include "leeway/parallel/commit.h"
#include "leeway/parallel/report.h"

namespace leeway::parallel {
namespace {

bool exists(const Team& team, const std::string& path) {
  u64 found = 0;
  struct stat status {};
  if (team.rank() == 0) found = ::stat(path.c_str(), &status) == 0;
  team.sum({&found, 1});
  return found > 0;
}

// The parts of the blocks that lie in these rows, which become an array of their own.
std::vector<Block> in_rows(std::span<const Block> blocks, const RowsPart& part) {
  std::vector<Block> result;
  for (const Block& block : blocks) {
    const u64 begin = std::max(block.first[0], part.first),
              end = std::min(block.first[0] + block.view.shape[0], part.first + part.count);
    if (begin >= end) continue;
    Header rows;
    rows.shape = block.view.shape;
    set_extent(rows, end - begin);
    Box box{{}, rows.shape};
    box.first[0] = begin - block.first[0];
    Block cut{block.first, block.view.part(box)};
    cut.first[0] = begin - part.first;
    result.push_back(cut);
  }
  return result;
}

// The stream's file at rank 0, which nobody else may write meanwhile. What an interrupted append
// has left is taken away, and so is what this one has put there, unless it is finished.
class OpenStream {
 public:
  OpenStream(const Team& team, const std::string& path) {
    if (team.rank() > 0) return;
    store_.emplace(path);
    end_ = StreamReader(*store_).bytes();
    if (store_->size() > end_) store_->truncate(end_);
  }
  ~OpenStream() {
    if (store_ && !is_finished_) try {
        store_->truncate(end_);
      } catch (...) {
        // Readers ignore what is left.
      }
  }
  OpenStream(const OpenStream&) = delete;
  OpenStream& operator=(const OpenStream&) = delete;

  // At rank 0: the tail, its last bytes when all before them are on the disk.
  void finish(u64 offset, ByteView tail, bool durable) {
    const ByteView last = tail.last(kEndMagicBytes);
    store_->write(offset, tail.first(tail.size() - last.size()));
    if (durable) store_->sync();
    store_->write(offset + tail.size() - last.size(), last);
    if (durable) store_->sync();
    is_finished_ = true;
  }

 private:
  std::optional<FileStore> store_;
  u64 end_ = 0;
  bool is_finished_ = false;
};

// Puts the frames of some rows behind `end`, and moves it. Returns the heads of all frames, as the
// stream has them, at rank 0.
std::vector<FrameHead> put_part(const Team& team, const StreamReader& stream,
                                const ChunkCodec& codec, const RowsPart& rows,
                                std::span<const Block> blocks, const std::string& path,
                                const Execution& execution, const leeway_write_options& options,
                                u64& end, leeway_write_report& report, Clock& clock) {
  const Header& header = stream.header();
  const Shape shape = rows.shape(header);
  const CompressOptions compress = rows.options(header, execution);
  const std::vector<Block> own = in_rows(blocks, rows);
  const Header made_of = header_of_parts(codec, header.recipe, header.dtype, shape, compress);
  const Plan plan = make_plan(made_of, all_blocks(team, own), team.size(), !options.unbalanced);
  std::vector<MadeFrames> frames;
  double seconds = 0;
  {
    const HeldChunks chunks(team, made_of, plan, own, compress);
    clock.lap(seconds);
    report.seconds[0] += seconds;
    report.sent_raw += chunks.sent_bytes();
    PartCompression part(codec, header.recipe, header.dtype, shape, compress, chunks);
    part.run([&](std::span<const FrameHead> heads, ByteView bytes) {
      MadeFrames made;
      Writer adopted;
      for (const FrameHead& head : heads) {
        FrameHead stated =
            adopt_frame(codec, stream, rows, head, take_payload(head, bytes), adopted);
        stated.ordinal = head.ordinal;  // in the plan
        made.heads.push_back(stated);
      }
      made.bytes.assign(adopted.bytes().begin(), adopted.bytes().end());
      frames.push_back(std::move(made));
    });
  }
  clock.lap(seconds);
  report.seconds[1] += seconds;
  Layout layout(team, plan, {}, std::move(frames), end);
  std::vector<FrameHead> heads = layout.heads();
  write_runs(team, path, layout.runs(options.writers, options.stripe), options);
  team.agree();
  for (FrameHead& head : heads) head.ordinal += rows.first_ordinal;
  end = layout.end();
  report.sent_compressed += layout.sent_bytes();
  count_chunks(team, plan, report);
  clock.lap(seconds);
  report.seconds[2] += seconds;
  return heads;
}

}  // namespace

leeway_write_report append(const Team& team, const std::string& path, DType dtype,
                           const Shape& shape, std::span<const Block> blocks,
                           const CompressOptions& compress, const leeway_write_options& options) {
  Clock clock;
  CompressOptions growing = compress;
  growing.growing = true;
  agree_on_array(team, path, dtype, shape, growing, options);
  if (!exists(team, path)) return write(team, path, dtype, shape, blocks, growing, options);
  if (options.exclusive) throw Error(Errc::io, "'" + path + "' exists already");
  OpenStream file(team, path);
  const TeamSource source(team, path);
  const StreamReader stream(source);
  const Header& header = stream.header();
  check_rows(header, dtype, shape);
  const auto codec = library_codecs()(header.recipe, dtype);

  leeway_write_report report{};
  NextTail next(stream);
  u64 end = stream.bytes();
  for (const RowsPart& part : parts_of_rows(header, shape[0]))
    for (const FrameHead& head : put_part(team, stream, *codec, part, blocks, path,
                                          compress.execution, options, end, report, clock))
      next.put(head);
  Writer last;
  if (team.rank() == 0) {
    next.reach(header.shape[0] + shape[0]);
    u64 live = 0;
    const Tail tail = next.finish(live);
    write(tail, last);
    report.special = tail.statement.special;
    report.max_error = tail.statement.max_error;
    report.output_bytes = end + last.size();
  }
  report.input_bytes = shape.size() * size_of(dtype);
  report.extent = header.shape[0] + shape[0];
  report.abs_bound = header.abs_bound;
  std::ranges::copy(header.chunk.extents(), report.chunk);
  complete(team, report);
  if (team.rank() == 0) file.finish(end, last.bytes(), !options.not_durable);
  team.agree();
  clock.lap(report.seconds[3]);
  return report;
}

leeway_team team_of_one() {
  leeway_team team{};
  team.size = 1;
  team.nodes = 1;
  team.bcast = [](void*, void*, uint64_t, int) { return 0; };
  team.allgatherv = [](void*, const void* mine, void* all, const uint64_t* bytes) {
    if (*bytes > 0) std::memcpy(all, mine, *bytes);
    return 0;
  };
  team.reduce = [](void*, uint64_t*, uint64_t, int) { return 0; };
  // One rank sends nothing.
  team.isend = [](void*, const void*, uint64_t, int, void**) { return 1; };
  team.irecv = [](void*, void*, uint64_t, int, void**) { return 1; };
  team.test = [](void*, void**) { return 1; };
  team.wait = [](void*, void**) { return 1; };
  return team;
}

}  // namespace leeway::parallel
