// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <memory>

#include "tools/array_file.h"
#include "tools/cli.h"
#include "tools/gpu.h"
#include "tools/npy.h"
#include "tools/output_file.h"
#include "tools/region.h"
#include "tools/variables.h"

namespace leeway::cli {
namespace {

struct Decompress {
  std::string input, output, region_text, format, device;
  unsigned level = 0;
  bool salvage = false, no_check = false, force = false, json = false;
  WorkOptions work;

  bool wants_npy(const std::string& path) const {
    return format.empty() ? path.ends_with(".npy") : format == "npy";
  }

  void run() const {
    if (const auto container = h5::parse_address(input)) return run_variables(*container);
    const double start = seconds_now();
    std::unique_ptr<MappedFile> piped;
    std::unique_ptr<ByteSource> source;
    if (input == "-") {
      piped = std::make_unique<MappedFile>("-");
      source = std::make_unique<MemorySource>(
          ByteView(reinterpret_cast<const u8*>(piped->bytes().data()), piped->bytes().size()));
    } else {
      source = std::make_unique<FileSource>(input);
    }
    const StreamReader stream(
        *source, salvage ? StreamReader::OnDamage::salvage : StreamReader::OnDamage::refuse);
    tell_of_interrupted_update(stream);
    const Header& header = stream.header();
    if (level > 0 && (!region_text.empty() || salvage))
      fail_argument("--level goes with neither --region nor --salvage");
    if (level > 0) return write_preview(stream, *source, start);
    const Region region = region_text.empty() ? Region{{{}, header.shape}, header.shape}
                                              : parse_region(region_text, header.shape);
    if (!device.empty()) return write_from_device(*source, region, start);
    DecompressOptions options;
    options.salvage = salvage;
    options.check_decoded = !no_check;
    options.execution = work.execution("decompressing");

    const std::string path = output_path();
    const bool npy = wants_npy(path);
    OutputFile out(path, force);
    const std::string head = npy ? npy_header(header.dtype, region.shown) : "";
    const u64 bytes = region.box.shape.size() * size_of(header.dtype);
    DecompressReport report;
    if (out.can_map()) {
      const std::span<std::byte> file = out.map(head.size() + size_t(bytes));
      std::copy_n(reinterpret_cast<const std::byte*>(head.data()), head.size(), file.data());
      options.execution.pause = [&] { out.let_go(); };
      const MutableView target(file.data() + head.size(), header.dtype, region.box.shape);
      report = decompress_into(stream, region.box.first, target, options);
    } else {
      out.write({reinterpret_cast<const u8*>(head.data()), head.size()});
      report = write_in_slabs(stream, region.box, options, out);
    }
    out.commit();
    if (report.damaged_chunks > 0)
      complain(fmt::format("{} of {} chunks are lost; {} values are {}", report.damaged_chunks,
                           stream.chunks(), report.damaged_values,
                           is_float(header.dtype) ? "NaN" : "0"));
    if (json) {
      print_json(region, header, report, *source, seconds_now() - start,
                 out.can_map() ? stdout : stderr);
    } else if (!work.quiet) {
      fmt::print(
          out.can_map() ? stdout : stderr, "{} {}: {}, {:.0f} MB/s, read {:.1f} % of the stream\n",
          name_of(header.dtype), to_string(region.shown), readable_bytes(bytes),
          double(bytes) / 1e6 / std::max(seconds_now() - start, 1e-9),
          100.0 * double(std::min(source->touched(), source->size())) / double(source->size()));
    }
  }

  void write_from_device(const ByteSource& source, const Region& region, double start) const {
    if (salvage || no_check) fail_argument("--device goes with neither --salvage nor --no-check");
    const Array array = decompress_on_device(device, source, region.box);
    OutputFile out(output_path(), force);
    write_array(array, region.shown, out);
    out.commit();
    if (work.quiet || json) return;
    const double seconds = std::max(seconds_now() - start, 1e-9);
    fmt::print(out.can_map() ? stdout : stderr, "{} {}: {} on {}, {:.1f} MB/s\n",
               name_of(array.dtype()), to_string(region.shown), readable_bytes(array.bytes()),
               device == "emulator" ? "the emulator" : "device " + device,
               double(array.bytes()) / 1e6 / seconds);
  }

  // Every 2^level-th value of each chunk.
  void write_preview(const StreamReader& stream, const ByteSource& source, double start) const {
    const Header& header = stream.header();
    DecompressOptions options;
    options.check_decoded = !no_check;
    options.execution = work.execution("decompressing");
    Array array(header.dtype, preview_shape(header, level));
    OutputFile out(output_path(), force);
    preview_into(stream, level, array.view(), options);
    write_array(array, array.shape(), out);
    out.commit();
    std::FILE* const to = out.can_map() ? stdout : stderr;
    const Region shown{{{}, array.shape()}, array.shape()};
    if (json)
      print_json(shown, header, {}, source, seconds_now() - start, to);
    else if (!work.quiet)
      fmt::print(to,
                 "{} {}: every value {} apart, within the bound {}; read {:.1f} % of the stream\n",
                 name_of(header.dtype), to_string(array.shape()), u64(1) << std::min(level, 40u),
                 number(header.abs_bound),
                 100.0 * double(std::min(source.touched(), source.size())) / double(source.size()));
  }

  void write_array(const Array& array, const Shape& shown, OutputFile& out) const {
    const std::string path = output_path();
    const std::string head = wants_npy(path) ? npy_header(array.dtype(), shown) : "";
    out.write({reinterpret_cast<const u8*>(head.data()), head.size()});
    out.write({reinterpret_cast<const u8*>(array.data()), size_t(array.bytes())});
  }

  // A variable becomes an array; a whole file becomes one that needs no filter.
  void run_variables(const h5::Address& address) const {
    if (address.names.empty())
      return DecompressVariables{address, output, force, json, work.quiet}.run();
    if (output.empty()) fail_argument("where to? give -o OUT");
    if (format.empty()) h5::refuse_container_name(output);
    Region region;
    const Array array = read_variable(address, [&](const Shape& shape) {
      region = region_text.empty() ? Region{{{}, shape}, shape} : parse_region(region_text, shape);
      return region.box;
    });
    OutputFile out(output, force);
    write_array(array, region.shown, out);
    out.commit();
    if (!work.quiet && !json)
      fmt::print(out.can_map() ? stdout : stderr, "{} {}: {}\n", name_of(array.dtype()),
                 to_string(region.shown), readable_bytes(array.bytes()));
  }

  static bool is_float(DType dtype) {
    return visit_dtype(dtype, []<class T>(std::type_identity<T>) { return is_floating<T>; });
  }

  // A pipe takes values in order: decode as many rows of chunks as a chunk is thick.
  static DecompressReport write_in_slabs(const StreamReader& stream, const Box& box,
                                         const DecompressOptions& options, OutputFile& out) {
    DecompressReport total;
    const Shape& chunk = stream.header().chunk;
    const u64 extent = box.shape.rank() > 0 ? box.shape[0] : 1;
    for (u64 done = 0; done < extent;) {
      // Up to the next border between chunks.
      const u64 at = box.first[0] + done,
                thickness = box.shape.rank() > 0 ? chunk[0] - at % chunk[0] : 1;
      const Shape shape = slab(box.shape, done, thickness).shape;
      Index first = box.first;
      first[0] = at;
      Array part(stream.header().dtype, shape);
      const DecompressReport report = decompress_into(stream, first, part.view(), options);
      total.damaged_chunks += report.damaged_chunks;
      total.damaged_values += report.damaged_values;
      out.write({reinterpret_cast<const u8*>(part.data()), size_t(part.bytes())});
      done += thickness;
    }
    return total;
  }

  std::string output_path() const {
    if (output.empty() && input != "-" && !input.ends_with(".lwy"))
      fail_argument("where to? give -o OUT");
    const std::string path = !output.empty() ? output
                             : input == "-"  ? "-"
                                             : input.substr(0, input.size() - 4);
    if (format.empty()) h5::refuse_container_name(path);
    return path;
  }

  static void print_json(const Region& region, const Header& header, const DecompressReport& report,
                         const ByteSource& source, double seconds, std::FILE* to) {
    Json json;
    json["dtype"] = name_of(header.dtype);
    json["shape"] = json_of(region.shown);
    json["output_bytes"] = region.box.shape.size() * size_of(header.dtype);
    json["stream_bytes"] = source.size();
    json["stream_bytes_read"] = std::min(source.touched(), source.size());
    json["seconds"] = seconds;
    json["damaged_chunks"] = report.damaged_chunks;
    json["damaged_values"] = report.damaged_values;
    print(json, to);
  }
};

}  // namespace

void add_decompress(CLI::App& verb) {
  const auto self = std::make_shared<Decompress>();
  verb.add_option(
          "IN", self->input,
          "stream; file.nc:NAME for a variable, file.nc for a file without the filter; - for "
          "standard input")
      ->required();
  verb.add_option(
          "-o,--output", self->output,
          "array to write: .npy, or raw otherwise; for a whole file.nc another .nc or .h5; - for "
          "standard output")
      ->type_name("OUT");
  add_device_option(verb, self->device);
  verb.add_option("--region", self->region_text, "part of the array, as in NumPy: 0:10,:,250")
      ->type_name("REGION");
  verb.add_option(
          "--level", self->level,
          "a coarse picture: every 2^K-th value along each axis; 'small' and 'smallest' need "
          "only a part of the stream for it")
      ->type_name("K");
  verb.add_option("--format", self->format, "npy or raw, whatever the name of OUT")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"npy", "raw"}));
  verb.add_flag("--salvage", self->salvage,
                "decode what is not damaged; gaps become NaN, or 0 for integers");
  verb.add_flag("--no-check", self->no_check, "do not compare decoded values with their checksum");
  self->work.add_to(verb);
  verb.add_flag("-f,--force", self->force, "replace OUT if it exists");
  verb.add_flag("--json", self->json, "report as JSON");
  verb.callback([self] { self->run(); });
}

}  // namespace leeway::cli
