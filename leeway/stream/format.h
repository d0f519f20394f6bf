// SPDX-License-Identifier: BSD-3-Clause
// Format: the parts of a stream, written and read (docs/FORMAT.md is normative).
//
//   stream = header, frame ..., tail
//
// Each of them begins at a multiple of 16 bytes, so that a GPU copies it in pieces of 16.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "leeway/base/bytes.h"
#include "leeway/base/export.h"
#include "leeway/base/shape.h"
#include "leeway/stage/bound.h"

namespace leeway {

inline constexpr u16 kFormatVersion = 1;
inline constexpr u64 kMaxChunkValues = u64(1) << 24;
inline constexpr u64 kAlignment = 16;
constexpr u64 aligned(u64 bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }
inline constexpr size_t kMostFills = 256;  // every value is compared with them

// A part of the array where errors must be smaller. Every chunk that it touches has this bound for
// all of its values, unless the recipe can give each value a bound of its own.
struct RegionBound {
  Box box;
  double bound = 0;  // absolute; 0: no loss
};

// What the writer has made sure of for a quantity that is calculated from values of this array, and
// perhaps of others, or of these values themselves (docs/QUALITY.md, "Promises").
struct StatedPromise {
  std::string text;               // "sqrt(u^2+v^2)=abs:0.1", "zeros(t)"
  double bound = 0, reached = 0;  // absolute: allowed, and the largest error found
  friend bool operator==(const StatedPromise&, const StatedPromise&) = default;
};
inline constexpr size_t kMostPromises = 64, kMostPromiseText = 1024;  // each text, in bytes

struct Header {
  DType dtype = DType::f32;
  Shape shape, chunk;
  Bound bound;              // as asked for
  double abs_bound = 0;     // what that comes to for this array; 0: no loss
  double min = 0, max = 0;  // of the finite values that are no fill values; 0 if not needed
  std::string recipe;
  std::vector<u64> fills;  // bit patterns, zero-extended
  std::vector<RegionBound> regions;
  std::string variable;  // the name that promises have for this array
  std::vector<StatedPromise> promises;
  // Whether the array may grow along its first axis. `shape` has the extent that the stream's last
  // tail states; stored is 0.
  bool is_growing = false;
  u64 hash = 0;  // of the header, as stored; only if it was read

  // Chunks are numbered in row-major order of the grid that they form.
  Shape grid() const;
  Box chunk_box(u64 ordinal) const;
  // Whether frames have bounds of their own, instead of the absolute one.
  bool is_bound_by_chunk() const { return bound.is_by_chunk() || !regions.empty(); }
};

// Returns the chunks that a box of the array touches, as a box of the grid; empty for an empty box.
LEEWAY_EXPORT Box touched_chunks(const Header& header, const Box& box);
// Calls f(ordinal) for every chunk that a box touches, in ascending order.
template <class F>
void for_each_chunk_of(const Header& header, const Box& box, F&& f) {
  const Box touched = touched_chunks(header, box);
  const Shape grid = header.grid();
  for_each_outer(touched.shape, 0, [&](const Index& index) {
    u64 ordinal = 0;
    for (size_t axis = 0; axis < grid.rank(); ++axis)
      ordinal = ordinal * grid[axis] + touched.first[axis] + index[axis];
    f(ordinal);
  });
}

// Regions may overlap, but not so much that it takes long to look at all of them: together they
// have at most 2^24 values and 64 times those of the array.
LEEWAY_EXPORT bool regions_overlap_too_much(const Header& header);
// Returns, for every chunk, the smallest bound of the regions that touch it, or infinity.
LEEWAY_EXPORT std::vector<double> smallest_bounds(const Header& header);

// What a frame states before the payload of its chunk.
struct FrameHead {
  u64 ordinal = 0;
  u32 payload_bytes = 0;
  u32 special = 0;       // NaN, infinities and fill values
  u32 exact = 0;         // other values kept bit for bit because no code reached them
  double bound = 0;      // valid for this chunk
  double max_error = 0;  // reached in this chunk
  u64 decoded_hash = 0;  // of the decoded values
  u64 payload_hash = 0;
};
inline constexpr size_t kFrameHeadBytes = 64;
// The bytes of a frame with a payload of so many bytes: head, payload, zeros.
constexpr u64 frame_bytes(u64 payload_bytes) { return aligned(kFrameHeadBytes + payload_bytes); }

// What the writer guarantees about the whole stream; readers check it.
struct Statement {
  double max_error = 0;
  u64 special = 0;       // NaN, infinities and fill values
  u64 exact = 0;         // values kept bit for bit because the recipe could not reach them
  u64 decoded_hash = 0;  // of the chunks' decoded hashes, in order
};

// Makes a statement from the heads of all frames, which are added in order.
class StatementMaker {
 public:
  void add(const FrameHead& head) {
    statement_.max_error = std::max(statement_.max_error, head.max_error);
    statement_.special += head.special;
    statement_.exact += head.exact;
    hashes_.push_back(head.decoded_hash);
  }
  LEEWAY_EXPORT Statement statement() const;

 private:
  Statement statement_;
  std::vector<u64> hashes_;
};

// Where a frame is that an update has written after the end of the stream.
struct Moved {
  u64 ordinal, offset;
};

// What the tail of a growing stream states: of which stream it is the tail, and how far the array
// reaches along its first axis.
struct Growth {
  u64 header_hash, extent;
};

struct Tail {
  std::optional<Growth> growth;
  std::vector<u32> rooms;    // for each chunk, the bytes reserved for its payload in its place
  std::vector<Moved> moved;  // by ordinal
  Statement statement;
};
inline constexpr size_t kTailEndBytes = 24;

LEEWAY_EXPORT void write(const Header& header, Writer& out);
// The same stream, of the standard form, with promises in its header.
LEEWAY_EXPORT std::vector<u8> with_promises(ByteView stream, const std::string& variable,
                                            const std::vector<StatedPromise>& promises);
LEEWAY_EXPORT void write(const FrameHead& head, std::span<u8, kFrameHeadBytes> out);
// Completes the frame that begins at `start` with room for a head, and then has its payload.
LEEWAY_EXPORT void finish_frame(const FrameHead& head, size_t start, Writer& out);
LEEWAY_EXPORT void write(const Tail& tail, Writer& out);

inline constexpr size_t kPreambleBytes = 16;
// Reads the size of the whole header from the first kPreambleBytes bytes.
LEEWAY_EXPORT u64 header_bytes(ByteView preamble);
LEEWAY_EXPORT Header read_header(ByteView bytes);
// The hash that a stored header ends with.
LEEWAY_EXPORT u64 stored_hash(ByteView header);
// The extent of the first axis becomes what a tail states. Throws if no array is that large.
LEEWAY_EXPORT void set_extent(Header& header, u64 extent);
LEEWAY_EXPORT FrameHead read_frame_head(ByteView bytes);
// Reads the size of the whole tail from the last kTailEndBytes bytes.
LEEWAY_EXPORT u64 tail_bytes(ByteView end);
// The tail of a growing stream says itself how many chunks there are.
LEEWAY_EXPORT Tail read_tail(ByteView bytes, const Header& header);

inline constexpr size_t kFrameMagicBytes = 4, kEndMagicBytes = 8;
// Returns where the next frame may begin, at or after `from`; bytes.size() if nowhere.
LEEWAY_EXPORT size_t find_frame(ByteView bytes, size_t from);
// Reads the head of a frame, if these bytes are one.
LEEWAY_EXPORT std::optional<FrameHead> find_frame_head(ByteView bytes);
// Whether these bytes are the first of a frame, or the zeros of a frame that never arrived.
LEEWAY_EXPORT bool may_begin_frame(ByteView bytes);
// Whether these bytes are the first of a tail.
LEEWAY_EXPORT bool may_begin_tail(ByteView bytes);
// Whether these bytes are the last of a stream.
LEEWAY_EXPORT bool is_end(ByteView bytes);
// Returns the length of the tail that begins with these bytes, even if they end before it does;
// nothing if they are no tail of this stream.
LEEWAY_EXPORT std::optional<size_t> find_tail(ByteView bytes, const Header& header);
// The most bytes that a tail may have which begins with these bytes.
inline constexpr size_t kTailBeginBytes = 40;
LEEWAY_EXPORT u64 most_tail_bytes(ByteView begin, const Header& header);

}  // namespace leeway
