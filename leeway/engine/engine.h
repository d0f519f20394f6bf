// SPDX-License-Identifier: BSD-3-Clause
// Engine: cuts arrays into chunks and drives codec and stream, on several threads, within a memory
// budget.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leeway/array.h"
#include "leeway/base/export.h"
#include "leeway/base/field.h"
#include "leeway/base/parallel.h"
#include "leeway/stage/bound.h"
#include "leeway/stream/stream_reader.h"

namespace leeway {

class ChunkCodec;

// Called now and then with the part of the work done, 0 to 1, never from two threads at once.
// Returning false stops the work: Error{canceled}.
using Progress = std::function<bool(double done)>;

// Called between pieces of work of about a chunk, from any thread. A caller that has mapped a file
// into memory may let go of its pages here.
using Pause = std::function<void()>;

// How work is run. The stream and the decoded values never depend on it.
struct Execution {
  unsigned threads = 1;
  u64 memory = 0;     // bytes of working memory to stay below if possible; 0: no limit
  Executor executor;  // empty: own threads
  Progress progress;
  Pause pause;
};

// Fill values of a stream beside those declared: four on either side of the range, found in this
// array or in an earlier one.
inline constexpr size_t kMostFoundFills = 16;

struct CompressOptions {
  Bound bound;
  std::string recipe = "balanced";
  std::vector<double> fills;   // declared fill values
  std::vector<u64> fill_bits;  // the same as bit patterns, for integers that no double holds
  bool detect_fills = true;
  Shape chunk;  // rank 0: chosen from the array's shape
  // Where errors must be smaller than `bound` allows.
  std::vector<RegionBound> regions;
  // The same value by value: f32 or f64, of the array's shape; infinity: as `bound` says. No data:
  // everywhere.
  View bounds;
  // An earlier stream of the same array, or null: values that are still what it decodes to keep
  // their bits. Type, shape, chunks and recipe must be the same, and so must the bound, an absolute
  // or a pointwise one or none.
  const StreamReader* earlier = nullptr;
  // The values were decoded from a stream that is not at hand, with this absolute bound, and have
  // its errors: they are kept bit for bit. The new stream states errors as large as its bound
  // allows; if that depends on all values (is_lasting() says no), as large as the earlier one did.
  std::optional<double> keeps_all;
  // The array is a part of a larger one, and so much is the root mean square error of all its parts
  // together at most: a limit on the Euclidean norm joins the bound, which allows that much for
  // every value that is neither special nor 0. (Hosts pad parts with fill values and zeros, whose
  // share the others must not have.) 0: no such limit.
  double rms = 0;
  // For arrays that are embedded in a container or a message: the brief form of a stream, which
  // saves some 250 bytes. Arrays of several chunks, of none, and those with regions have the
  // standard form in any case.
  bool brief = false;
  Execution execution;

  bool has_regions() const { return !regions.empty() || bounds.data; }
};

// Declares the fill value that a text means in an array's type; integers of 64 bits exactly.
LEEWAY_EXPORT void declare_fill(CompressOptions& options, DType dtype, std::string_view text);

// The lowest and the highest value that is neither special nor a fill value: the range that
// relative bounds refer to. Nothing if there is no such value.
struct ValidRange : Range {
  std::vector<u64> fills;  // those declared and those found, as bit patterns
};
LEEWAY_EXPORT std::optional<ValidRange> value_range(const View& view,
                                                    const CompressOptions& options);

// The few lowest and highest of these values, each at most twice. An array that comes in parts has
// the value_range() of the extremes of all its parts, put together.
LEEWAY_EXPORT Array extremes(const View& view, const CompressOptions& options);

// Takes the stream, piece by piece, in order.
using Sink = std::function<void(ByteView)>;

struct CompressReport {
  u64 input_bytes = 0, output_bytes = 0;
  u64 asked_bytes = 0;             // by the bounds ratio and rate; 0: any size will do
  double abs_bound = 0;            // no chunk has a larger one
  bool is_bound_by_chunk = false;  // some may have smaller ones
  double min = 0, max = 0;
  std::string recipe;
  std::vector<u64> fills;
  Statement statement;
  Form form = Form::standard;
};

struct DecompressOptions {
  bool salvage = false;       // leave out damaged chunks instead of failing
  bool check_decoded = true;  // compare the decoded values with the checksum in the stream
  Execution execution;
};

struct DecompressReport {
  u64 damaged_chunks = 0, damaged_values = 0;  // within the region; only with salvage
};

// What a preview at this level has for extents: in every chunk, every 2^level-th value along each
// axis, counted from the first of the chunk.
LEEWAY_EXPORT Shape preview_shape(const Header& header, unsigned level);

struct UpdateReport {
  u64 chunks = 0;         // written again
  u64 bytes_written = 0;  // frames and tail
  u64 stream_bytes = 0;
  u64 dead_bytes = 0;   // of the stream: what was replaced, now or before; compact() drops it
  Statement statement;  // of the whole stream
};

// The chunk shape for an array: halves the longest axis until a chunk has at most `values` values.
// Rows stay long.
LEEWAY_EXPORT Shape default_chunk(const Shape& shape, u64 values);
// The same for files that are read map by map, row by row: the last axes are whole as far as
// `values` allows, the one before them is cut into equal parts, and the others into single steps.
LEEWAY_EXPORT Shape chunk_of_maps(const Shape& shape, u64 values);
// The chunk shape that the options ask for, or one that suits the codec. Throws if it does not fit
// the array.
LEEWAY_EXPORT Shape chunk_of(const CompressOptions& options, const Shape& shape,
                             const ChunkCodec& codec);

}  // namespace leeway
