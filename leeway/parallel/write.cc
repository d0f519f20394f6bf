// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/parallel/write.h"

#include <algorithm>
#include <chrono>

#include "leeway/base/hash.h"
#include "leeway/codec/chunk_codec.h"
#include "leeway/library_codec.h"
#include "leeway/parallel/agreement.h"
#include "leeway/parallel/commit.h"

namespace leeway::parallel {
namespace {

// The seconds of each step.
class Clock {
 public:
  void lap(double& seconds) {
    const auto now = std::chrono::steady_clock::now();
    seconds = std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

void agree_on_arguments(const Team& team, const std::string& path, DType dtype, const Shape& shape,
                        const CompressOptions& compress, const leeway_write_options& options) {
  Agreement agreement;
  agreement.add("file", ByteView(reinterpret_cast<const u8*>(path.data()), path.size()));
  agreement.add("element type", u64(dtype));
  agreement.add("shape", bytes_of(shape.extents()));
  add_settings(agreement, compress);
  agreement.add("options", ByteView(reinterpret_cast<const u8*>(&options), sizeof options));
  agreement.reach(team);
}

// The header as far as it is known before the values are: shape and chunks.
Header stated_header(const LibraryCodec& made, DType dtype, const Shape& shape,
                     std::span<const Held> held, CompressOptions& compress) {
  if (compress.chunk.rank() == 0 && compress.regions.empty())
    compress.chunk = chunk_of_blocks(shape, held, made.codec->chunk_values());
  return header_of_parts(*made.codec, made.recipe, dtype, shape, compress);
}

void count_chunks(const Team& team, const Plan& plan, leeway_write_report& report) {
  std::vector<u64> counts(static_cast<size_t>(team.size()));
  for (const int owner : plan.owner) ++counts[size_t(owner)];
  report.chunks = plan.owner.size();
  const auto [least, most] = std::ranges::minmax(counts);
  report.least_chunks = least;
  report.most_chunks = most;
}

// What only one rank knows, or each has a part of.
void complete(const Team& team, leeway_write_report& report) {
  u64 sums[] = {report.sent_raw, report.sent_compressed, report.special,
                std::bit_cast<u64>(report.max_error), report.output_bytes};
  team.sum(sums);
  report.sent_raw = sums[0];
  report.sent_compressed = sums[1];
  report.special = sums[2];
  report.max_error = std::bit_cast<double>(sums[3]);
  report.output_bytes = sums[4];
  u64 times[4];
  for (size_t i = 0; i < 4; ++i) times[i] = u64(report.seconds[i] * 1e9);
  team.max(times);
  for (size_t i = 0; i < 4; ++i) report.seconds[i] = double(times[i]) * 1e-9;
}

}  // namespace

leeway_write_report write(const Team& team, const std::string& path, DType dtype,
                          const Shape& shape, std::span<const Block> blocks,
                          const CompressOptions& asked, const leeway_write_options& options) {
  leeway_write_report report{};
  CompressOptions compress = asked;
  Clock clock;
  agree_on_arguments(team, path, dtype, shape, compress, options);
  const LibraryCodec made = library_codec_for_parts(compress, dtype);
  std::vector<Held> held = all_blocks(team, blocks);
  const Header header = stated_header(made, dtype, shape, held, compress);
  const Plan plan = make_plan(header, std::move(held), team.size(), !options.unbalanced);
  Commit commit(team, path, options);
  std::vector<MadeFrames> frames;
  Writer head;
  {
    const HeldChunks chunks(team, header, plan, blocks, compress);
    clock.lap(report.seconds[0]);
    PartCompression part(*made.codec, made.recipe, dtype, shape, compress, chunks);
    part.run([&](std::span<const FrameHead> heads, ByteView bytes) {
      frames.push_back({{heads.begin(), heads.end()}, {bytes.begin(), bytes.end()}});
    });
    if (team.rank() == 0) write(part.header(), head);
    report.abs_bound = part.header().abs_bound;
    report.asked_bytes = part.size_asked();
    report.sent_raw = chunks.sent_bytes();
  }
  clock.lap(report.seconds[1]);
  Layout layout(team, plan, {head.bytes().begin(), head.bytes().end()}, std::move(frames));
  const Tail tail = layout.tail();
  commit.write(layout.runs(options.writers, options.stripe));
  clock.lap(report.seconds[2]);
  Writer last;
  if (team.rank() == 0) write(tail, last);
  report.sent_compressed = layout.sent_bytes();
  if (team.rank() == 0) {
    report.special = tail.statement.special;
    report.max_error = tail.statement.max_error;
    report.output_bytes = layout.end() + last.size();
  }
  report.input_bytes = shape.size() * size_of(dtype);
  count_chunks(team, plan, report);
  std::ranges::copy(header.chunk.extents(), report.chunk);
  complete(team, report);
  commit.finish(layout.end(), last.bytes());
  clock.lap(report.seconds[3]);
  return report;
}

}  // namespace leeway::parallel
