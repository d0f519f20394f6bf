// SPDX-License-Identifier: BSD-3-Clause
// Host: cuts a field into blocks for the wafer, and makes a stream of the words that come back.
//
// The wafer makes the payloads of chunks with codes of 16 bits (docs/FORMAT.md, kind 6): the host
// puts heads and bodies apart, checks every value against the bound, and writes frames. Chunks
// that are constant, hold special values, have values without such a code, or would hardly shrink
// are the host's own, coded by the library. The stream must equal that of the recipe `ceresz`.
#pragma once

#include <functional>

#include "leeway/fabric/block.h"
#include "leeway/leeway.hpp"

namespace leeway::fabric {

// Blocks as the wafer makes or takes them: of every chunk the coded words, one block behind the
// other.
struct CodedBlocks {
  std::vector<u8> widths;  // of every block
  std::vector<Words> chunks;
};

struct HostReport {
  u64 chunks = 0, chunks_of_wafer = 0;
  u64 bytes = 0;  // of the stream
  bool equals_library = false;
};

class Host {
 public:
  // Compresses the field with the library, too: what the stream must be.
  Host(const View& field, const Bound& bound, const Execution& execution);

  const Header& header() const { return header_; }
  const LinearGrid<float>& grid() const { return grid_; }
  u64 field_bytes() const { return 4 * header_.shape.size(); }
  u64 stream_bytes() const { return expected_.size(); }
  u64 chunks() const { return first_block_.size() - 1; }
  u64 blocks() const { return first_block_.back(); }
  u64 first_block(u64 chunk) const { return first_block_[size_t(chunk)]; }

  // The values of a chunk, the last one repeated until its last block is full: differences of 0.
  std::vector<float> values(u64 chunk) const;
  // Those of all chunks as blocks for the mesh.
  std::vector<Words> raw_blocks() const;
  // What the wafer makes of them, without the wafer.
  CodedBlocks encode() const;
  // From what a wafer made of all blocks.
  CodedBlocks take(std::span<const Words> blocks) const;
  // Writes the stream.
  HostReport write(const CodedBlocks& coded, const Sink& sink) const;

  // The blocks of a stream's chunks that a wafer can decode, and where they belong.
  CodedBlocks coded() const;
  // Whether all these values are what the library decodes, bit for bit. `blocks`: 32 values each,
  // in the order of coded().
  bool decodes(const CodedBlocks& coded,
               const std::function<void(u64 block, std::span<float, kBlock>)>& values) const;

 private:
  u64 values_in(u64 chunk) const { return header_.chunk_box(chunk).shape.size(); }
  Writer frame(u64 chunk, std::span<const u32> words, std::span<const u8> widths,
               FrameHead& head) const;
  bool is_for_wafer(std::span<const float> values) const;

  View field_;
  Execution execution_;
  Bytes expected_;
  Header header_;
  bool has_special_ = false;
  std::vector<u64> offsets_;  // of frames in it
  LinearGrid<float> grid_;
  std::vector<u64> first_block_;
};

}  // namespace leeway::fabric
