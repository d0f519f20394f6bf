// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/parallel/streamed.h"

#include <algorithm>
#include <future>

#include "leeway/parallel/owned.h"

namespace leeway::parallel {
namespace {

// Ranges of ranks begin at pages: no two processes write into one.
constexpr u64 kPage = 4096;

u64 next_page(u64 offset) { return (offset + kPage - 1) / kPage * kPage; }

// Writes rounds one after the other, each while the next one is made: by a thread of its own where
// files are those of the operating system. MPI is called by the caller's thread only.
class RoundWriter {
 public:
  RoundWriter(const Team& team, const std::string& path, const leeway_write_options& options)
      : team_(team), path_(path), options_(options) {}
  ~RoundWriter() {
    if (writing_.valid()) writing_.wait();
  }
  RoundWriter(const RoundWriter&) = delete;
  RoundWriter& operator=(const RoundWriter&) = delete;

  // Returns when the round before is written.
  void write(u64 offset, Bytes&& bytes) {
    wait();
    if (bytes.empty()) return;
    bytes_ = std::move(bytes);
    const auto put = [this, offset] {
      if (!file_) file_.emplace(team_, path_, true);
      file_->write(offset, bytes_);
      const size_t ends = options_.check ? bytes_.size() : std::min<size_t>(kPage, bytes_.size());
      compare(*file_, offset, ByteView(bytes_).first(ends));
      compare(*file_, offset + bytes_.size() - ends, ByteView(bytes_).last(ends));
    };
    if (team_.table().file_open)
      put();
    else
      writing_ = std::async(std::launch::async, put);
  }
  // All is written and, unless the options say otherwise, on the disk.
  void finish() {
    wait();
    if (!file_) return;
    if (!options_.not_durable) file_->sync();
    file_->close();
  }

 private:
  void wait() {
    if (writing_.valid()) writing_.get();
  }

  const Team& team_;
  const std::string& path_;
  const leeway_write_options& options_;
  std::optional<TeamFile> file_;
  Bytes bytes_;  // of the round that is being written
  std::future<void> writing_;
};

// The frames of a round.
struct Round {
  std::vector<FrameHead> heads;
  Bytes bytes;
};

}  // namespace

Streamed write_streamed(const Team& team, const Plan& plan, const Part& chunks,
                        PartCompression& part, const std::string& path, u64 round_bytes,
                        const leeway_write_options& options) {
  const Header& header = part.header();
  const std::vector<u64> own = chunks.held();
  const u64 step = std::max<u64>(1, round_bytes / (header.chunk.size() * size_of(header.dtype)));
  std::vector<u64> counts(size_t(team.size()), 0);
  for (const int owner : plan.owner) ++counts[size_t(owner)];
  const u64 rounds = (*std::ranges::max_element(counts) + step - 1) / step;

  Writer head;
  write(header, head);
  // Places that hold nothing: all frames are behind them.
  const u64 places_end = head.size() + kFrameHeadBytes * plan.owner.size();
  Streamed result;
  result.end = places_end;
  RoundWriter writer(team, path, options);
  if (team.rank() == 0) writer.write(0, {head.bytes().begin(), head.bytes().end()});
  std::vector<FrameHead> heads;
  std::vector<u64> offsets;
  for (u64 i = 0; i < rounds; ++i) {
    Round round;
    const size_t first = size_t(std::min<u64>(own.size(), i * step)),
                 count = size_t(std::min<u64>(own.size() - first, step));
    part.run_some(std::span(own).subspan(first, count),
                  [&](std::span<const FrameHead> made, ByteView frames) {
                    round.heads.insert(round.heads.end(), made.begin(), made.end());
                    round.bytes.insert(round.bytes.end(), frames.begin(), frames.end());
                  });
    std::vector<u64> sizes(size_t(team.size()), 0);
    sizes[size_t(team.rank())] = round.bytes.size();
    team.sum(sizes);
    u64 at = 0;
    for (int rank = 0; rank < team.size(); ++rank) {
      const u64 bytes = sizes[size_t(rank)];
      if (bytes == 0) continue;
      const u64 begin = next_page(result.end);
      if (rank == team.rank()) at = begin;
      result.end = begin + bytes;
    }
    u64 frame = at;
    for (const FrameHead& made : round.heads) {
      offsets.push_back(frame);
      frame += frame_bytes(made.payload_bytes);
    }
    heads.insert(heads.end(), round.heads.begin(), round.heads.end());
    writer.write(at, std::move(round.bytes));
  }
  writer.finish();

  StatementMaker statement;
  for (const FrameHead& one : heads_at_rank_0(team, plan, heads)) statement.add(one);
  const auto places = at_rank_0(team, plan, std::span<const u64>(offsets));
  result.tail.rooms.resize(places.size());
  for (size_t i = 0; i < places.size(); ++i) result.tail.moved.push_back({i, places[i]});
  result.tail.statement = statement.statement();
  return result;
}

}  // namespace leeway::parallel
