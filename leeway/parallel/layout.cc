// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/parallel/layout.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "leeway/parallel/owned.h"

namespace leeway::parallel {
namespace {

// No more writers than ranges of this size, unless there are more machines.
constexpr u64 kWriterBytes = u64(64) << 20;
constexpr u64 kStripe = u64(4) << 20;

// The part of a run that lies in [begin, end).
Layout::Run cut(const Layout::Run& run, u64 begin, u64 end) {
  const u64 first = std::max(run.offset, begin),
            last = std::min(run.offset + run.bytes.size(), end);
  return first < last ? Layout::Run{first, run.bytes.subspan(size_t(first - run.offset),
                                                             size_t(last - first))}
                      : Layout::Run{first, {}};
}

}  // namespace

Layout::Layout(const Team& team, const Plan& plan, Bytes header, std::vector<MadeFrames> made,
               u64 start)
    : team_(team), plan_(plan), start_(start), header_(std::move(header)), made_(std::move(made)) {
  // A size asked for makes the frames in several rounds.
  std::ranges::sort(made_, {}, [](const MadeFrames& frames) { return frames.heads[0].ordinal; });
  Writer mine;
  std::vector<std::pair<u64, u32>> own;
  for (const MadeFrames& frames : made_)
    for (const FrameHead& head : frames.heads) own.emplace_back(head.ordinal, head.payload_bytes);
  std::ranges::sort(own);
  for (const auto& [ordinal, bytes] : own) mine.put(bytes);
  const std::vector<Bytes> all = team.allgather(mine.bytes());
  std::vector<Reader> sizes;
  for (const Bytes& bytes : all) sizes.emplace_back(ByteView(bytes));
  u64 header_bytes = header_.size();
  team.max({&header_bytes, 1});
  offsets_ = {start + header_bytes};
  for (const int owner : plan.owner) {
    sizes_.push_back(sizes[size_t(owner)].get<u32>());
    offsets_.push_back(offsets_.back() + frame_bytes(sizes_.back()));
  }
}

std::vector<FrameHead> Layout::heads() const {
  std::vector<FrameHead> own;
  for (const MadeFrames& frames : made_)
    own.insert(own.end(), frames.heads.begin(), frames.heads.end());
  std::ranges::sort(own, {}, &FrameHead::ordinal);
  return heads_at_rank_0(team_, plan_, own);
}

std::vector<Layout::Run> Layout::own_runs() const {
  std::vector<Run> runs;
  if (!header_.empty()) runs.push_back({start_, header_});
  for (const MadeFrames& frames : made_) {
    size_t at = 0;
    for (const FrameHead& head : frames.heads) {
      const auto bytes = size_t(frame_bytes(head.payload_bytes));
      const Run run{offsets_[size_t(head.ordinal)], ByteView(frames.bytes).subspan(at, bytes)};
      at += bytes;
      // Frames that follow each other here and there are one run.
      if (!runs.empty() &&
          runs.back().bytes.data() + runs.back().bytes.size() == run.bytes.data() &&
          runs.back().offset + runs.back().bytes.size() == run.offset)
        runs.back().bytes = {runs.back().bytes.data(), runs.back().bytes.size() + bytes};
      else
        runs.push_back(run);
    }
  }
  return runs;
}

std::vector<Layout::Run> Layout::runs(int writers, u64 stripe) {
  if (writers <= 0 && team_.nodes() <= 1) return own_runs();
  if (writers <= 0)
    writers = int(std::max<u64>(u64(team_.nodes()), (end() - start_) / kWriterBytes + 1));
  return ranges(std::min(writers, team_.size()), stripe > 0 ? stripe : kStripe);
}

std::vector<Layout::Run> Layout::ranges(int writers, u64 stripe) {
  const u64 base = start_ / stripe * stripe,
            share = (end() - base + u64(writers) - 1) / u64(writers),
            step = (share + stripe - 1) / stripe * stripe;
  const auto rank_of = [&](u64 writer) { return int(writer * u64(team_.size()) / u64(writers)); };
  std::map<int, Bytes> outgoing, incoming;
  std::map<int, std::vector<Run>> arriving;  // where what comes belongs; the bytes are counts only
  const std::vector<Run> own = own_runs();
  std::vector<Run> kept;
  u64 begin = 0, stop = 0;  // the range of this rank
  for (u64 writer = 0; writer < u64(writers); ++writer) {
    const int rank = rank_of(writer);
    const u64 last = std::min(end(), base + (writer + 1) * step),
              first = std::clamp(base + writer * step, start_, last);
    if (rank == team_.rank()) begin = first, stop = last;
    for (const Run& run : own)
      if (const Run part = cut(run, first, last); !part.bytes.empty()) {
        if (rank == team_.rank())
          kept.push_back(part);
        else
          outgoing[rank].insert(outgoing[rank].end(), part.bytes.begin(), part.bytes.end());
      }
  }
  range_.resize(size_t(stop - begin));
  const auto expect = [&](int rank, u64 offset, u64 bytes) {
    const u64 first = std::max(offset, begin), last = std::min(offset + bytes, stop);
    if (rank == team_.rank() || first >= last) return;
    incoming[rank].resize(incoming[rank].size() + size_t(last - first));
    arriving[rank].push_back({first, {static_cast<const u8*>(nullptr), size_t(last - first)}});
  };
  expect(0, start_, offsets_[0] - start_);
  for (size_t i = 0; i + 1 < offsets_.size(); ++i)
    expect(plan_.owner[i], offsets_[i], offsets_[i + 1] - offsets_[i]);
  std::vector<Team::Outgoing> out;
  std::vector<Team::Incoming> in;
  for (const auto& [rank, bytes] : outgoing) {
    out.push_back({rank, bytes});
    sent_bytes_ += bytes.size();
  }
  for (auto& [rank, bytes] : incoming) in.push_back({rank, std::span(bytes)});
  team_.exchange(out, in, [&] {
    for (const Run& run : kept)
      std::ranges::copy(run.bytes, range_.begin() + std::ptrdiff_t(run.offset - begin));
  });
  for (const auto& [rank, places] : arriving) {
    size_t at = 0;
    for (const Run& place : places) {
      std::memcpy(range_.data() + (place.offset - begin), incoming[rank].data() + at,
                  place.bytes.size());
      at += place.bytes.size();
    }
  }
  std::vector<Run> runs;
  if (!range_.empty()) runs.push_back({begin, range_});
  return runs;
}

}  // namespace leeway::parallel
