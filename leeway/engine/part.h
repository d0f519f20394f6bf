// SPDX-License-Identifier: BSD-3-Clause
// Part: some chunks of an array that several processes compress together. Each holds some chunks,
// and makes their frames; what depends on all values they find out together. The frames are those
// of the whole array compressed by one process.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "leeway/base/field.h"
#include "leeway/engine/engine.h"
#include "leeway/engine/summary.h"

namespace leeway {

class ChunkCodec;
struct Job;

// What a process holds of the array, and its way to ask the others. The functions that ask are
// called by all processes at the same time.
class Part {
 public:
  virtual ~Part() = default;
  virtual std::vector<u64> held() const = 0;  // ordinals, ascending
  virtual bool holds(u64 ordinal) const = 0;
  virtual View chunk(u64 ordinal) const = 0;
  // Asks for the summary of all values of the array; declared fill values are bit patterns.
  virtual Summary summary(const std::vector<u64>& declared) const = 0;
  // Adds up the numbers of all processes, one by one.
  virtual void sum(std::span<u64> numbers) const = 0;
};

// Finds the bound of the whole array, then makes the frames of a part.
class PartCompression {
 public:
  // Asks. Throws if the options cannot hold for an array in parts.
  PartCompression(const ChunkCodec& codec, const std::string& recipe, DType dtype,
                  const Shape& shape, const CompressOptions& options, const Part& part);
  ~PartCompression();
  const Header& header() const;
  u64 size_asked() const;
  // Calls emit(heads, frames) for the chunks held, some that follow each other at a time; asks if
  // the size of the stream is limited.
  using Emit = std::function<void(std::span<const FrameHead>, ByteView frames)>;
  void run(const Emit& emit);
  // The same for some of the chunks held, in ascending order, if the size is not limited; asks
  // nobody.
  void run_some(std::span<const u64> ordinals, const Emit& emit);

 private:
  void make_frames(std::span<const u64> ordinals, double bound, const Emit& emit);

  View array_;  // without data
  CompressOptions options_;
  const Part& part_;
  std::unique_ptr<Job> job_;
};

// The header that such an array will have, as far as the options say it: its chunks.
Header header_of_parts(const ChunkCodec& codec, const std::string& recipe, DType dtype,
                       const Shape& shape, const CompressOptions& options);

}  // namespace leeway
