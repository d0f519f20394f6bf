// SPDX-License-Identifier: BSD-3-Clause
// The native half of the Python package. Arrays come in any layout and stay where they are; work is
// done without the interpreter's lock.
#include <algorithm>
#include <memory>

#include "leeway/base/buffer.h"
#include "leeway/base/hash.h"
#include "leeway/choose/advise.h"
#include "leeway/choose/choose.h"
#include "leeway/chunk_memory.h"
#include "leeway/derived/part_rules.h"
#include "leeway/engine/frames.h"
#include "leeway/engine/region.h"
#include "leeway/engine/with_codec.h"
#include "leeway/leeway.hpp"
#include "leeway/library_codec.h"
#include "leeway/quality/compare.h"
#include "leeway/recipe/recipe.h"
#include "leeway/stream/joined.h"
#include "leeway/whole_bound.h"
#include "python/arrays.h"
#include "python/filter_chunks.h"
#include "python/gpu.h"
#include "python/judge.h"
#include "python/team.h"
#include "python/watch.h"

namespace leeway::python {
namespace {

using Limits = std::vector<std::pair<std::string, double>>;

Bound bound_of(const Limits& limits) {
  Bound bound;
  for (const auto& [kind, value] : limits) bound.add(parse_bound_kind(kind), value);
  return bound;
}

CompressOptions fill_options(const std::vector<double>& fills, const std::vector<u64>& fill_bits) {
  CompressOptions options;
  options.fills = fills;
  options.fill_bits = fill_bits;
  return options;
}

// For a chunk of a larger array: the range and the number of all its values, 0 if not given.
using Whole = std::pair<double, double>;

nb::bytes compress_array(const InArray& array, const std::string& as, const Limits& limits,
                         const std::string& recipe, const std::vector<double>& fills,
                         bool detect_fills, const std::vector<i64>& chunk, i64 threads,
                         const Regions& regions, const std::optional<InArray>& bounds,
                         const std::vector<u64>& fill_bits, bool brief,
                         const std::optional<Whole>& whole, bool growing,
                         const nb::object& progress, const std::string& rules_text) {
  Watch watch(progress);
  CompressOptions options = fill_options(fills, fill_bits);
  options.regions = region_bounds_of(regions);
  if (bounds) options.bounds = view_of_array<const std::byte>(*bounds, "");
  options.bound = bound_of(limits);
  if (whole) part_bound({options.bound, whole->first, whole->second}).apply_to(options);
  options.recipe = recipe;
  options.detect_fills = detect_fills;
  options.brief = brief;
  options.growing = growing;
  options.chunk = shape_of(chunk, "an extent of a chunk");
  options.execution = watch.execution(threads);
  const View view = view_of_array<const std::byte>(array, as);
  const derived::PartRules rules = derived::PartRules::of(rules_text);
  const auto coder = [&](const CompressOptions& asked, std::span<u8> memory) {
    return whole ? ChunkMemory::of_process().compress_into(view, asked, memory)
                 : compress_into(view, asked, memory);
  };
  const u64 most = derived::most_bytes_of_part(view, options, rules);
  return stream_of_at_most(most, [&](std::span<u8> memory) {
    CompressReport report;
    watch.run([&] { report = derived::compress_part(view, options, rules, memory, coder); });
    return report.output_bytes;
  });
}

// A chunk that a host has decoded; it may come back, changed in part, to be compressed.
void remember_chunk(const InBytes& stream, const InArray& decoded, const std::string& as) {
  const View view = view_of_array<const std::byte>(decoded, as);
  const Unlocked unlocked;
  ChunkMemory::of_process().remember({stream.data(), stream.size()}, view);
}

// Lowest and highest value, how far they are apart, and the fill values, as bit patterns, that are
// not among them.
std::optional<std::tuple<double, double, double, std::vector<u64>>> range_of_array(
    const InArray& array, const std::string& as, const std::vector<double>& fills,
    const std::vector<u64>& fill_bits) {
  const View view = view_of_array<const std::byte>(array, as);
  const Unlocked unlocked;
  const std::optional<ValidRange> range = value_range(view, fill_options(fills, fill_bits));
  if (!range) return std::nullopt;
  return std::tuple(range->min, range->max, range->size(), range->fills);
}

// As bytes of the array's type.
nb::bytes extremes_of_array(const InArray& array, const std::string& as,
                            const std::vector<double>& fills, const std::vector<u64>& fill_bits) {
  const View view = view_of_array<const std::byte>(array, as);
  std::optional<Array> found;
  {
    const Unlocked unlocked;
    found = extremes(view, fill_options(fills, fill_bits));
  }
  return nb::bytes(reinterpret_cast<const char*>(found->data()), size_t(found->bytes()));
}

// The size of a stream of which only the beginning and the end are known; nothing if these are too
// short to tell, if chunks have been moved, or if it is a brief one, which is read as a whole.
std::optional<u64> size_of_stream(const InBytes& first, const InBytes& last) {
  const ByteView begin(first.data(), first.size()), end(last.data(), last.size());
  if (begin.size() < kPreambleBytes || end.size() < kTailEndBytes || is_brief(begin))
    return std::nullopt;
  const u64 header = header_bytes(begin.first(kPreambleBytes));
  const u64 tail = tail_bytes(end.last(kTailEndBytes));
  if (header > begin.size() || tail > end.size()) return std::nullopt;
  const Tail parts = read_tail(end.last(size_t(tail)), read_header(begin.first(size_t(header))));
  if (!parts.moved.empty()) return std::nullopt;
  u64 size = header + tail;
  for (const u32 room : parts.rooms) size += frame_bytes(room);
  return size;
}

// Bytes that a Python function gives: read(offset, count) -> bytes.
class CallbackSource final : public ByteSource {
 public:
  CallbackSource(u64 size, nb::callable read) : size_(size), read_(std::move(read)) {}
  u64 size() const override { return size_; }

 private:
  ByteView get(u64 offset, u64 count, Bytes& storage) const override {
    with_lock([&] {
      const nb::bytes bytes(nb::cast<nb::bytes>(read_(offset, count)));
      if (bytes.size() != count) fail_corrupt("ends too early");
      const auto* first = static_cast<const u8*>(bytes.data());
      storage.assign(first, first + count);
    });
    return storage;
  }
  u64 size_;
  nb::callable read_;
};

// A stream in memory, in a file, or read through a function; open for reading.
class Stream {
 public:
  Stream(u64 size, nb::callable read)
      : source_(std::make_unique<CallbackSource>(size, std::move(read))), reader_(*source_) {}
  explicit Stream(const std::string& path)
      : source_(std::make_unique<FileSource>(path)), reader_(*source_) {}
  explicit Stream(InBytes bytes)
      : bytes_(std::move(bytes)),
        source_(std::make_unique<MemorySource>(ByteView(bytes_.data(), bytes_.size()))),
        reader_(*source_) {}

  std::string dtype() const { return std::string(name_of(reader_.header().dtype)); }
  nb::tuple shape() const { return tuple_of(reader_.header().shape); }
  u64 bytes_read() const { return source_->touched(); }

  nb::tuple preview_shape(i64 level) const {
    return tuple_of(leeway::preview_shape(reader_.header(), checked_level(level)));
  }
  void preview(i64 level, const OutArray& out, const std::string& as, i64 threads,
               const nb::object& progress) const {
    const MutableView view = view_of_array<std::byte>(out, as);
    const unsigned checked = checked_level(level);
    Watch watch(progress);
    DecompressOptions options;
    options.execution = watch.execution(threads);
    watch.run([&] { preview_into(reader_, checked, view, options); });
  }

  void read(const std::vector<i64>& first, const OutArray& out, const std::string& as, i64 threads,
            const nb::object& progress) const {
    const MutableView view = view_of_array<std::byte>(out, as);
    const Box box = box_of(first, view.shape);
    Watch watch(progress);
    DecompressOptions options;
    options.execution = watch.execution(threads);
    watch.run([&] { decompress_into(reader_, box.first, view, options); });
  }

  // Where the chunks of a region are: offsets and sizes, in the order of the chunks.
  std::vector<std::pair<u64, u64>> ranges(const std::vector<u64>& first,
                                          const std::vector<u64>& extents) const {
    const Shape shape{std::span<const u64>(extents)};
    if (first.size() != shape.rank())
      fail_argument("a region has as many first indices as extents");
    Index index{};
    std::ranges::copy(first, index.begin());
    check_region(reader_.header(), index, reader_.header().dtype, shape);
    std::vector<std::pair<u64, u64>> result;
    for (const u64 ordinal : chunks_of_region(reader_.header(), index, shape)) {
      const auto [offset, bytes] = reader_.place(ordinal);
      result.emplace_back(offset, bytes);
    }
    return result;
  }

  // Where the frame of every chunk is: offsets and sizes.
  std::vector<std::pair<u64, u64>> frames() const {
    if (reader_.form() == Form::brief)
      fail_argument("a brief stream has no frames: it is one chunk as a whole");
    std::vector<std::pair<u64, u64>> result;
    const Unlocked unlocked;
    for (u64 ordinal = 0; ordinal < reader_.chunks(); ++ordinal)
      result.emplace_back(reader_.offset(ordinal),
                          kFrameHeadBytes + reader_.read_head(ordinal).payload_bytes);
    return result;
  }

  // The header as a standard stream stores it.
  nb::bytes header() const {
    Bytes storage;
    const ByteView bytes = reader_.read_header_bytes(storage);
    return nb::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }

  nb::dict info() const {
    const Info info = inspect(reader_);
    const Header& header = info.header;
    nb::dict result, bound;
    for (const Limit& limit : header.bound.limits())
      bound[nb::str(std::string(name_of(limit.kind)).c_str())] = limit.value;
    const u64 bytes = header.shape.size() * size_of(header.dtype);
    result["dtype"] = dtype();
    result["shape"] = shape();
    result["chunk"] = tuple_of(header.chunk);
    result["chunks"] = info.chunks;
    result["growing"] = header.is_growing;
    result["form"] = std::string(name_of(info.form));
    result["bound"] = bound;
    result["abs_bound"] = header.abs_bound;
    result["range"] = nb::make_tuple(header.min, header.max);
    result["recipe"] = header.recipe;
    result["fill_bits"] = header.fills;
    result["variable"] = header.variable;
    nb::list promises;
    for (const StatedPromise& promise : header.promises)
      promises.append(nb::make_tuple(promise.text, promise.bound, promise.reached));
    result["promises"] = promises;
    result["max_error"] = info.statement.max_error;
    result["special_values"] = info.statement.special;
    result["exact_values"] = info.statement.exact;
    result["decoded_hash"] = info.statement.decoded_hash;
    result["input_bytes"] = bytes;
    result["stream_bytes"] = info.stream_bytes;
    result["ratio"] = double(bytes) / double(info.stream_bytes);
    return result;
  }

 private:
  // Levels above the coarsest one of any array are all the same.
  static unsigned checked_level(i64 level) {
    if (level < 0) fail_argument("a level is 0 or more, not " + std::to_string(level));
    return unsigned(std::min<i64>(level, 64));
  }
  InBytes bytes_;
  std::unique_ptr<ByteSource> source_;
  StreamReader reader_;
};

// Streams in files, one behind the other along an axis; `write` gets the pieces of the new stream.
void join_files(const std::vector<std::string>& paths, i64 axis, const nb::callable& write) {
  std::vector<std::unique_ptr<FileSource>> sources;
  std::vector<std::unique_ptr<StreamReader>> readers;
  std::vector<const StreamReader*> parts;
  for (const std::string& path : paths) {
    sources.push_back(std::make_unique<FileSource>(path));
    readers.push_back(std::make_unique<StreamReader>(*sources.back()));
    parts.push_back(readers.back().get());
  }
  if (axis < 0) fail_argument("axes are counted from 0");
  const Unlocked unlocked;
  join(parts, size_t(axis), [&](ByteView piece) {
    with_lock([&] { write(nb::bytes(reinterpret_cast<const char*>(piece.data()), piece.size())); });
  });
}

// The values of one chunk, from its frame and the header alone; a chunk at the end of an array of
// this shape fills the beginning of `out`.
void read_frame(const InBytes& header_bytes, const std::vector<i64>& shape, const InBytes& frame,
                const OutArray& out, const std::string& as) {
  const MutableView view = view_of_array<std::byte>(out, as);
  const ByteView bytes(frame.data(), frame.size());
  const Unlocked unlocked;
  Header header = read_header(ByteView(header_bytes.data(), header_bytes.size()));
  const Shape whole = shape_of(shape, "an extent");
  if (header.is_growing && whole.rank() == header.shape.rank()) set_extent(header, whole[0]);
  if (whole != header.shape || view.dtype != header.dtype || view.shape != header.chunk)
    fail_argument("the array is not the one of the stream's header");
  if (bytes.size() < kFrameHeadBytes) fail_corrupt("a frame ends too early");
  StreamReader::Chunk chunk{read_frame_head(bytes.first(kFrameHeadBytes)), {}};
  if (bytes.size() - kFrameHeadBytes < chunk.head.payload_bytes ||
      chunk.head.ordinal >= header.grid().size())
    fail_corrupt("a frame that is not one of this array");
  chunk.payload = bytes.subspan(kFrameHeadBytes, chunk.head.payload_bytes);
  if (hash_of(chunk.payload) != chunk.head.payload_hash) fail_corrupt("a chunk's checksum differs");
  const Shape extents = header.chunk_box(chunk.head.ordinal).shape;
  Buffer<u64> values((size_t(extents.size()) * size_of(header.dtype) + 7) / 8);
  const auto codec = library_codecs()(header.recipe, header.dtype);
  decode_chunk(*codec, header, chunk, true, values.data());
  copy(View(reinterpret_cast<const std::byte*>(values.data()), header.dtype, extents),
       view.part(Box{{}, extents}));
}

nb::dict compare_arrays(const InArray& original, const InArray& other, const std::string& as,
                        const std::vector<u64>& fill_bits, bool ssim) {
  const View a = view_of_array<const std::byte>(original, as),
             b = view_of_array<const std::byte>(other, as);
  Comparison c;
  {
    const Unlocked unlocked;
    c = compare(a, b, fill_bits, ssim);
  }
  nb::dict result;
  result["values"] = c.values;
  result["compared"] = c.compared;
  result["special_mismatches"] = c.special_mismatches;
  result["min"] = c.min;
  result["max"] = c.max;
  result["max_abs"] = c.max_abs;
  result["max_rel"] = c.max_rel;
  result["max_pointwise"] = c.max_pointwise;
  result["mean_error"] = c.mean_error;
  result["rmse"] = c.rmse;
  result["nrmse"] = c.nrmse;
  result["psnr"] = c.psnr;
  result["l2"] = c.l2;
  result["pearson"] = c.pearson;
  if (ssim) result["ssim"] = c.ssim;
  return result;
}

nb::list advise_array(const InArray& array, const std::string& as, const Limits& limits,
                      const std::vector<std::string>& recipes, i64 threads,
                      const std::vector<double>& fills) {
  Watch watch;
  CompressOptions options = fill_options(fills, {});
  options.bound = bound_of(limits);
  options.execution = watch.execution(threads);
  const View view = view_of_array<const std::byte>(array, as);
  std::vector<Advice> all;
  watch.run([&] { all = advise(view, options, recipes); });
  nb::list result;
  for (const Advice& advice : all) {
    nb::dict entry;
    entry["recipe"] = advice.recipe;
    entry["ratio"] = advice.ratio;
    entry["compress_mb_s"] = advice.compress_mb_s;
    entry["decompress_mb_s"] = advice.decompress_mb_s;
    entry["max_error"] = advice.max_error;
    result.append(entry);
  }
  return result;
}

nb::dict recipes() {
  nb::dict result;
  for (const NamedRecipe& named : named_recipes())
    result[nb::str(std::string(named.name).c_str())] =
        nb::make_tuple(std::string(named.recipe), std::string(named.about));
  for (const NamedChoice& choice : named_choices())
    result[nb::str(std::string(choice.name).c_str())] =
        nb::make_tuple(std::string(), std::string(choice.about));
  return result;
}

nb::tuple chunk_shape(const std::vector<i64>& extents, u64 values) {
  return tuple_of(chunk_of_maps(shape_of(extents, "an extent"), values));
}

// What the library throws, as the exception that a Python programmer expects.
void translate(const std::exception_ptr& pointer, void*) {
  try {
    std::rethrow_exception(pointer);
  } catch (const Error& error) {
    PyObject* kind = PyExc_RuntimeError;
    if (error.code() == Errc::invalid_argument || error.code() == Errc::corrupt)
      kind = PyExc_ValueError;
    if (error.code() == Errc::unsupported) kind = PyExc_NotImplementedError;
    if (error.code() == Errc::io) kind = PyExc_OSError;
    PyErr_SetString(kind, error.what());
  }
}

}  // namespace
}  // namespace leeway::python

NB_MODULE(_native, m) {
  using namespace leeway::python;
  nb::register_exception_translator(translate);
  nb::set_leak_warnings(false);  // what daemon threads hold when the interpreter ends is no leak
  m.def("version", &leeway::version);
  m.def("compress", &compress_array, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg("bounds").none(), nb::arg(),
        nb::arg("brief"), nb::arg("whole").none(), nb::arg(), nb::arg("progress").none(),
        nb::arg("rules") = "");
  m.def("join", &join_files);
  m.def("read_frame", &read_frame);
  m.def("remember", &remember_chunk);
  m.def("value_range", &range_of_array);
  m.def("extremes", &extremes_of_array);
  m.def("relative_bound", [](double rel, double size) {
    return leeway::relative_bound(rel, leeway::Range{0, size});
  });
  m.def("chunk_of_maps", &chunk_shape);
  m.def("stream_size", &size_of_stream);
  m.def("compare", &compare_arrays);
  m.def("advise", &advise_array);
  m.def("recipes", &recipes);
  nb::class_<Stream>(m, "Stream")
      .def(nb::init<const std::string&>())
      .def(nb::init<InBytes>())
      .def(nb::init<leeway::u64, nb::callable>())
      .def_prop_ro("dtype", &Stream::dtype)
      .def_prop_ro("shape", &Stream::shape)
      .def_prop_ro("bytes_read", &Stream::bytes_read)
      .def("preview_shape", &Stream::preview_shape)
      .def("preview", &Stream::preview, nb::arg(), nb::arg(), nb::arg(), nb::arg(),
           nb::arg("progress").none())
      .def("read", &Stream::read, nb::arg(), nb::arg(), nb::arg(), nb::arg(),
           nb::arg("progress").none())
      .def("ranges", &Stream::ranges)
      .def("frames", &Stream::frames)
      .def("header", &Stream::header)
      .def("info", &Stream::info);
  add_filter_chunks(m);
  add_gpu(m);
  add_judge(m);
  add_team(m);
}
