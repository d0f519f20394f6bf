// SPDX-License-Identifier: BSD-3-Clause
// Engine: cuts arrays into chunks, calls the codec for each and writes or reads the stream, on
// several threads and within a memory budget.
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

// Called now and then with the fraction of the work that is done, 0 to 1; never by two threads at
// once. If it returns false, the work stops with Error{canceled}.
using Progress = std::function<bool(double done)>;

// Called after about every chunk, by any thread. A caller that has mapped a file into memory may
// release its pages here.
using Pause = std::function<void()>;

// How work is run. The stream and the decoded values never depend on it.
struct Execution {
  unsigned threads = 1;
  u64 memory = 0;     // bytes of working memory to stay below if possible; 0: no limit
  Executor executor;  // empty: own threads
  Progress progress;
  Pause pause;
};

// The most fill values that a stream may have besides the declared ones: four at either end of the
// range, found in this array or in an earlier one.
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
  // A bound for each value: f32 or f64, of the array's shape. Where it is infinite, and everywhere
  // if there is no data, only `bound` holds.
  View bounds;
  // An earlier stream of the same array, or null. Values that equal what it decodes to will decode
  // to the same bits again. Type, shape, chunks, recipe and bound must be the same; the bound must
  // be absolute, pointwise or lossless.
  const StreamReader* earlier = nullptr;
  // Set if the values were decoded from a stream that is no longer available: its absolute bound.
  // The values are kept bit for bit. The new stream states errors as large as its own bound or, if
  // that depends on all values (not is_lasting()), as large as this one.
  std::optional<double> keeps_all;
  // Set if the array is a part of a larger one: the largest root mean square error of all its parts
  // together; 0: no such limit. It becomes a limit on the Euclidean norm, allowing this much error
  // for every value that is neither special nor 0. (Hosts pad parts with fill values and zeros;
  // other values must not have larger errors because of them.)
  double rms = 0;
  // Makes a stream to which rows can be appended along the first axis (append()). Its chunks may be
  // longer along it than this array. The bound is absolute, pointwise, lossless, or relative to the
  // range of this array.
  bool growing = false;
  // Set if the values are rows that are appended to a growing stream: its header, which says the
  // fill values.
  const Header* grows = nullptr;
  // Writes the brief form of a stream, which saves about 250 bytes; for arrays that are embedded in
  // a container or a message. Arrays of several chunks or of none, and arrays with regions, still
  // get the standard form.
  bool brief = false;
  Execution execution;

  bool has_regions() const { return !regions.empty() || bounds.data; }
};

// Declares a fill value that is given as text, such as "-9999"; 64-bit integers are exact.
LEEWAY_EXPORT void declare_fill(CompressOptions& options, DType dtype, std::string_view text);

// The range that relative bounds refer to: the lowest and the highest finite value that is no fill
// value. Nothing if there is no such value.
struct ValidRange : Range {
  std::vector<u64> fills;  // the fill values declared and found, as bit patterns
};
LEEWAY_EXPORT std::optional<ValidRange> value_range(const View& view,
                                                    const CompressOptions& options);

// The few lowest and highest finite values, each at most twice. If an array comes in parts, join
// the extremes of all parts into one array: its value_range() is that of the whole.
LEEWAY_EXPORT Array extremes(const View& view, const CompressOptions& options);

// Receives the stream, piece by piece, in order.
using Sink = std::function<void(ByteView)>;

struct CompressReport {
  u64 input_bytes = 0, output_bytes = 0;
  u64 asked_bytes = 0;             // size asked for by ratio or rate; 0: none
  double abs_bound = 0;            // the largest bound of any chunk
  bool is_bound_by_chunk = false;  // whether chunks may have smaller bounds
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

// The shape of a preview, which has every 2^level-th value along each axis of every chunk, counted
// from the first value of the chunk.
LEEWAY_EXPORT Shape preview_shape(const Header& header, unsigned level);

struct UpdateReport {
  u64 chunks = 0;         // number of chunks written again
  u64 bytes_written = 0;  // size of new frames and tail
  u64 stream_bytes = 0;
  u64 dead_bytes = 0;   // of replaced frames and tails, which compact() removes
  Statement statement;  // of the whole stream
};

// A chunk shape for an array: the longest axis is halved until a chunk has at most `values` values;
// rows stay long.
LEEWAY_EXPORT Shape default_chunk(const Shape& shape, u64 values);
// A chunk shape for files that are read map by map: as many of the last axes as `values` allows are
// whole, the axis before them is cut into equal parts, and the others have extent 1.
LEEWAY_EXPORT Shape chunk_of_maps(const Shape& shape, u64 values);
// The same, but a row that is longer than `values` is cut at multiples of 64.
LEEWAY_EXPORT Shape chunk_of_rows(const Shape& shape, u64 values);
// The chunk shape that the options ask for, or one that suits the codec. Throws if it does not fit
// the array.
LEEWAY_EXPORT Shape chunk_of(const CompressOptions& options, const Shape& shape,
                             const ChunkCodec& codec);

}  // namespace leeway
