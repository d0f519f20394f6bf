// SPDX-License-Identifier: BSD-3-Clause
// The verb `update`: new values for a region of a stream, in its file.
#include <memory>

#include "leeway/stream/compact.h"
#include "tools/array_file.h"
#include "tools/cli.h"
#include "tools/output_file.h"
#include "tools/region.h"

namespace leeway::cli {
namespace {

struct Update {
  std::string stream_path, values_path, region_text;
  bool json = false, compact = false;
  ArrayOptions array;
  WorkOptions work;

  void run() const {
    if (values_path.empty() != region_text.empty() || (values_path.empty() && !compact))
      fail_argument(
          "VALUES and --region say what is to be written where; --compact may be given alone");
    if (!values_path.empty()) write_values();
    if (compact) drop_dead_bytes();
  }

  void write_values() const {
    const double start = seconds_now();
    FileStore store(stream_path);
    const Header header = StreamReader(store).header();
    const Region region = parse_region(region_text, header.shape);
    const ArrayFile values = open_array(values_path, with_defaults(header, region));
    if (values.view.shape != region.box.shape && values.view.shape != region.shown)
      fail_argument(fmt::format("'{}' holds {}, but the region is {}", values_path,
                                to_string(values.view.shape), to_string(region.shown)));
    // Axes of which one index was asked for come back.
    View view(values.view.data, values.view.dtype, region.box.shape);
    if (values.view.shape == region.box.shape) view = values.view;
    const UpdateReport report = update(store, region.box.first, view, work.execution("updating"));
    const double seconds = seconds_now() - start;
    if (json && !compact) {
      Json out;
      out["chunks"] = report.chunks;
      out["chunks_in_all"] = header.grid().size();
      out["bytes_written"] = report.bytes_written;
      out["stream_bytes"] = report.stream_bytes;
      out["dead_bytes"] = report.dead_bytes;
      out["max_error"] = report.statement.max_error;
      out["bound"] = header.abs_bound;
      out["seconds"] = seconds;
      print(out);
    } else if (!json && !work.quiet) {
      fmt::print("{} of {} chunks written again; {} written, largest error {} (bound {})\n",
                 report.chunks, header.grid().size(), readable_bytes(report.bytes_written),
                 number(report.statement.max_error), number(header.abs_bound));
      if (!compact && report.dead_bytes > report.stream_bytes / 2)
        fmt::print(
            "{} of the {} in the stream are replaced and only take up room: leeway update "
            "{} --compact\n",
            readable_bytes(report.dead_bytes), readable_bytes(report.stream_bytes), stream_path);
    }
  }

  // Into a new file, which takes the place of the old one when it is complete.
  void drop_dead_bytes() const {
    const FileStore store(stream_path);  // locks the stream against other writers
    const StreamReader stream(store);
    OutputFile out(stream_path, true);
    u64 bytes = 0;
    leeway::compact(stream, [&](ByteView part) {
      out.write(part);
      bytes += part.size();
    });
    out.commit();
    if (json) {
      Json report;
      report["stream_bytes"] = bytes;
      report["stream_bytes_before"] = store.size();
      print(report);
    } else if (!work.quiet) {
      fmt::print("{} before, {} now\n", readable_bytes(store.size()), readable_bytes(bytes));
    }
  }

  // A raw file that says nothing of itself holds the region, in the type of the stream.
  ArrayOptions with_defaults(const Header& header, const Region& region) const {
    ArrayOptions options = array;
    if (values_path.ends_with(".npy") || values_path.ends_with(".lwy")) return options;
    const NameInfo name = read_name(values_path);
    if (options.shape.empty() && !name.shape) options.shape = to_string(region.box.shape);
    if (options.dtype.empty() && !name.dtype) options.dtype = name_of(header.dtype);
    return options;
  }
};

}  // namespace

void add_update(CLI::App& verb) {
  const auto self = std::make_shared<Update>();
  verb.add_option("STREAM", self->stream_path,
                  "stream to be changed; if anything fails it is as it was")
      ->required();
  verb.add_option("VALUES", self->values_path, "array of the region's shape: raw or .npy");
  verb.add_option("--region", self->region_text, "where the values go, as in NumPy: 0:10,:,250")
      ->type_name("REGION");
  verb.add_flag("--compact", self->compact,
                "drop what updates have replaced, by writing the stream anew, in the standard "
                "form; may stand alone");
  self->array.add_to(verb);
  self->work.add_to(verb);
  verb.add_flag("--json", self->json, "report as JSON");
  verb.callback([self] { self->run(); });
}

}  // namespace leeway::cli
