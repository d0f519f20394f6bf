// SPDX-License-Identifier: BSD-3-Clause
// Layout: what host and device must agree on: arguments of kernels, the workspace, the report.
#pragma once

#include "leeway/gpu/simt.h"

namespace leeway::gpu {

constexpr u32 kMostRank = 8;
constexpr u32 kMostChunkValues = 1u << 15;
constexpr u32 kBlock = 32;  // values of a block, one for each lane of a tile
constexpr u32 kMostBlocks = kMostChunkValues / kBlock;
constexpr u32 kMostFills = 16;
constexpr u32 kMostHeaderBytes = 1536;
constexpr u32 kFrameHead = 64, kTailEnd = 24, kTailStart = 16, kStatement = 32;
constexpr u32 kFrameMagic = 0x6359574Cu, kTailMagic = 0x7459574Cu;  // LWYc, LWYt
constexpr u64 kEndMagic = 0x0A0D646E6559574Cu;                      // LWYend\r\n

// First bytes of a payload (docs/FORMAT.md, "Payload").
constexpr u8 kConstant = 0, kCoded = 1, kStored = 3, kNarrow = 6;

// As leeway_status.
constexpr u32 kOk = 0, kInvalidArgument = 1, kCorrupt = 2, kUnsupported = 3, kTooSmall = 8;

LEEWAY_ANYWHERE u64 aligned(u64 bytes) { return (bytes + 15) / 16 * 16; }

// Written by the last CTA of a kernel (leeway_gpu_report).
struct Report {
  u64 bytes;
  u32 status, chunk;
  double abs_bound, max_error;
  u64 special, exact, stored;
};

// An array and its chunks. Strides are in bytes; the last axis is the fastest.
struct Layout {
  u32 rank;
  u32 is_f64;
  u64 extents[kMostRank];
  i64 strides[kMostRank];
  u32 chunk[kMostRank];
  u32 grid[kMostRank];
};

// Memory of the caller that a kernel uses. All of `zeros` is zero before.
struct Workspace {
  u64* zeros;      // ticket, done, first fault, range (two numbers), then a state for each chunk
  u64* hashes;     // for each chunk: the hash of its decoded values,
  double* errors;  // its largest error,
  u32* rooms;      // the bytes of its payload,
  u32* special;    // its special values,
  u32* exact;      // its values kept exactly;
  u64* offsets;    // decompression: where its frame is
  double* bound;   // what a relative bound comes to, minimum and maximum
};
// Numbers before the states: two counters, the first fault, maximum and minimum of the values, a
// counter of the range kernel, stored chunks, whether the index is well, where the statement is.
constexpr u32 kZerosBefore = 8, kTickets = 0, kFault = 1, kMost = 2, kLeast = 3, kRangeDone = 4,
              kStoredChunks = 5, kIndexIsWell = 6, kStatementAt = 7;
constexpr u32 kNoChunk = ~u32(0);  // a fault of the container

struct Recipe {
  u32 outlier, head_bytes;
};

struct CompressArgs {
  const u8* values;
  u8* stream;
  u64 capacity;
  Report* report;
  Workspace work;
  Layout layout;
  u32 chunks;
  Recipe recipe;
  double abs_bound;  // infinite: none
  double rel_bound;  // 0: none
  u32 fills;
  u64 fill[kMostFills];
  u32 header_bytes, resolved_at;  // where the header states the bound, minimum and maximum
  alignas(8) u8 header[kMostHeaderBytes];
};

// A box of an array, and the chunks that it touches.
struct Wanted {
  u64 first[kMostRank], extents[kMostRank];
  u32 first_chunk[kMostRank], chunks[kMostRank];
  u32 count;  // of the chunks
};

struct DecompressArgs {
  const u8* stream;
  u64 bytes;           // 0: as `made` says
  const Report* made;  // by the compressor, or null
  u8* values;
  Report* report;
  Workspace work;
  Layout layout;  // of the array in the stream; the strides are those of `values`
  u32 chunks;     // of the stream
  Recipe recipe;
  Wanted wanted;  // `values` is where it begins
  u32 is_part;
  u32 expected_bytes;  // fields of the header that must be there, each as tag, size, content
  alignas(8) u8 expected[kMostHeaderBytes];
};

// New values for whole chunks of a stream.
struct UpdateArgs {
  CompressArgs compress;  // `values` is where the first value of the whole array would be
  u64 bytes;              // of the stream; 0: as `made` says
  const Report* made;
  Wanted wanted;
};

}  // namespace leeway::gpu
