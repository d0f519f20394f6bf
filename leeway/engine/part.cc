// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/engine/part.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "leeway/base/environment.h"
#include "leeway/engine/header.h"
#include "leeway/engine/job.h"
#include "leeway/engine/make_frame.h"
#include "leeway/engine/resolve.h"

namespace leeway {

Header header_of_parts(const ChunkCodec& codec, const std::string& recipe, DType dtype,
                       const Shape& shape, const CompressOptions& options) {
  if (options.bounds.data || options.earlier || options.keeps_all || options.rms > 0)
    fail_argument("an array in parts has no bounds value by value, and continues no stream");
  return checked_header(codec, recipe, View(nullptr, dtype, shape), options);
}

PartCompression::PartCompression(const ChunkCodec& codec, const std::string& recipe, DType dtype,
                                 const Shape& shape, const CompressOptions& options,
                                 const Part& part)
    : array_(nullptr, dtype, shape), options_(options), part_(part) {
  const DefaultFloatingPoint environment;
  options_.brief = false;
  job_ = std::make_unique<Job>(codec, array_, options_,
                               header_of_parts(codec, recipe, dtype, shape, options_), &part_);
  resolve(*job_);
}
PartCompression::~PartCompression() = default;

const Header& PartCompression::header() const { return job_->header; }
u64 PartCompression::size_asked() const { return u64(job_->size_asked); }

void PartCompression::run_some(std::span<const u64> ordinals, const Emit& emit) {
  const DefaultFloatingPoint environment;
  make_frames(ordinals, job_->pointwise ? *job_->pointwise : job_->header.abs_bound, emit);
}

void PartCompression::run(const Emit& emit) {
  const DefaultFloatingPoint environment;
  if (!job_->rate) return run_some(part_.held(), emit);
  // In every round all have work: its chunks lie all over the array.
  u64 bytes = 0;
  for (u64 first = 0; first < job_->chunks; first += job_->rate->round()) {
    std::vector<u64> ordinals;
    for (u64 turn = first; turn < std::min(job_->chunks, first + job_->rate->round()); ++turn)
      if (job_->holds(job_->turn(turn))) ordinals.push_back(job_->turn(turn));
    std::ranges::sort(ordinals);
    u64 made = 0;
    make_frames(ordinals, usable_bound(job_->rate->bound_from(first, bytes)),
                [&](std::span<const FrameHead> heads, ByteView frames) {
                  made += frames.size();
                  emit(heads, frames);
                });
    part_.sum({&made, 1});
    bytes += made;
  }
}

void PartCompression::make_frames(std::span<const u64> ordinals, double bound, const Emit& emit) {
  struct Made {
    std::vector<FrameHead> heads;
    Writer frames;
  };
  const u64 groups = (ordinals.size() + job_->group - 1) / job_->group;
  std::map<u64, Made> ready;
  std::mutex mutex;
  const auto make = [&](u64 i) {
    Made made;
    const size_t first = size_t(i * job_->group);
    const auto own =
        ordinals.subspan(first, std::min(size_t(job_->group), ordinals.size() - first));
    made.frames.reserve(job_->room_for(own.size()));
    for (const u64 ordinal : own)
      made.heads.push_back(make_frame(*job_, ordinal, bound, made.frames));
    const std::lock_guard lock(mutex);
    ready.emplace(i, std::move(made));
  };
  const auto finish = [&](u64 i) {
    std::unique_lock lock(mutex);
    const auto node = ready.extract(i);
    lock.unlock();
    emit(node.mapped().heads, node.mapped().frames.bytes());
    job_->pause();
    job_->meter.add(double(node.mapped().heads.size()));
  };
  for_each_in_order(groups, job_->threads, 8 * job_->threads, options_.execution.executor, make,
                    finish);
}

}  // namespace leeway
