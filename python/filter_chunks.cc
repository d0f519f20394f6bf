// SPDX-License-Identifier: BSD-3-Clause
#include "python/filter_chunks.h"

#include "hdf5/checksum.h"
#include "hdf5/parameters.h"
#include "leeway/chunk_memory.h"
#include "leeway/hdf5.h"
#include "python/arrays.h"
#include "python/watch.h"

namespace leeway::python {
namespace {

// The filter of a dataset, by the words that are stored with it or by what a user says.
class Filter {
 public:
  explicit Filter(const std::string& text) : parameters_(hdf5::parse_text(text)) {}
  explicit Filter(const std::vector<unsigned>& words) : parameters_(hdf5::parse_words(words)) {}

  hdf5::Words words() const {
    hdf5::Words words = hdf5::given_words(parameters_);
    if (words.size() > LEEWAY_H5Z_MAX_WORDS)
      fail_argument("these parameters are too long for an HDF5 filter (80 characters)");
    return words;
  }
  // As compress() takes them, for each chunk; the root mean square error as the norm of one value.
  nb::dict limits() const {
    nb::dict result;
    for (const Limit& limit : parameters_.bound.each.limits())
      result[nb::str(std::string(name_of(limit.kind)).c_str())] = limit.value;
    if (parameters_.bound.rms > 0) result["l2"] = parameters_.bound.rms;
    return result;
  }
  std::string recipe() const { return parameters_.recipe; }
  std::string rules() const { return parameters_.rules.text(); }
  std::vector<std::string> fills() const { return parameters_.fills; }
  bool is_set_up() const { return parameters_.chunk.has_value(); }
  std::string dtype() const { return std::string(name_of(chunk().dtype)); }
  nb::tuple shape() const { return tuple_of(chunk().shape); }
  bool is_big_endian() const { return chunk().big_endian; }

  // A whole chunk, in the byte order of this machine. Values that were decoded from `earlier`, or
  // from what this process has read, keep their bits.
  nb::bytes compress(const InArray& array, const std::string& as, const Regions& regions,
                     const std::optional<InBytes>& earlier) const {
    const View view = view_of_array<const std::byte>(array, as);
    check(view.dtype, view.shape);
    CompressOptions options = parameters_.options();
    options.regions = region_bounds_of(regions);
    Watch watch;
    options.execution = watch.execution(1);
    const u64 most = derived::most_bytes_of_part(view, options, parameters_.rules);
    const auto coder = [&](const CompressOptions& asked, std::span<u8> memory) {
      return earlier ? compress_again_into(view, asked, bytes_of(*earlier), memory)
                     : ChunkMemory::of_process().compress_into(view, asked, memory);
    };
    return stream_of_at_most(most, [&](std::span<u8> memory) {
      CompressReport report;
      watch.run([&] {
        report = derived::compress_part(view, options, parameters_.rules, memory, coder);
      });
      return report.output_bytes;
    });
  }

  // The part of a chunk that begins at `first` and has the shape of `out`.
  void decompress(const InBytes& stream, const std::vector<i64>& first, const OutArray& out,
                  const std::string& as) const {
    const MutableView view = view_of_array<std::byte>(out, as);
    const Box box = box_of(first, view.shape);
    Watch watch;
    DecompressOptions options;
    options.execution = watch.execution(1);
    watch.run([&] {
      const MemorySource source(bytes_of(stream));
      const StreamReader reader(source);
      check(reader.header().dtype, reader.header().shape);
      // A chunk of which most is read may come back as a whole: it is remembered.
      if (2 * view.shape.size() < chunk().shape.size()) {
        decompress_into(reader, box.first, view, options);
        return;
      }
      const Array whole = leeway::decompress(bytes_of(stream), options);
      const View all(whole.data(), chunk().dtype, chunk().shape);
      ChunkMemory::of_process().remember(bytes_of(stream), all);
      copy(all.part(box), view);
    });
  }

 private:
  static ByteView bytes_of(const InBytes& bytes) { return {bytes.data(), bytes.size()}; }
  const hdf5::Chunk& chunk() const {
    if (!parameters_.chunk) fail_argument("the filter was not set up for a dataset");
    return *parameters_.chunk;
  }
  void check(DType dtype, const Shape& shape) const {
    if (dtype != chunk().dtype || !(shape == chunk().shape))
      fail_corrupt("it does not hold the chunk that the dataset expects");
  }

  hdf5::Parameters parameters_;
};

unsigned checksum(const InBytes& bytes) { return hdf5::fletcher32({bytes.data(), bytes.size()}); }

}  // namespace

void add_filter_chunks(nb::module_& module) {
  nb::class_<Filter>(module, "HDF5Filter")
      .def(nb::init<const std::string&>())
      .def(nb::init<const std::vector<unsigned>&>())
      .def_prop_ro("words", &Filter::words)
      .def_prop_ro("limits", &Filter::limits)
      .def_prop_ro("recipe", &Filter::recipe)
      .def_prop_ro("fills", &Filter::fills)
      .def_prop_ro("rules", &Filter::rules)
      .def_prop_ro("is_set_up", &Filter::is_set_up)
      .def_prop_ro("dtype", &Filter::dtype)
      .def_prop_ro("shape", &Filter::shape)
      .def_prop_ro("is_big_endian", &Filter::is_big_endian)
      .def("compress", &Filter::compress, nb::arg(), nb::arg(), nb::arg(),
           nb::arg("earlier").none())
      .def("decompress", &Filter::decompress);
  module.def("fletcher32", &checksum);
  module.attr("HDF5_FILTER_ID") = LEEWAY_H5Z_ID;
  module.attr("HDF5_READER") = LEEWAY_H5Z_READER;
}

}  // namespace leeway::python
