// SPDX-License-Identifier: BSD-3-Clause
// The verb `update`: new values for a region of a stream, in its file.
#include "tools/array_file.h"
#include "tools/cli.h"
#include "tools/region.h"

namespace leeway::cli {
namespace {

struct Update {
  std::string stream_path, values_path, region_text;
  bool json = false;
  ArrayOptions array;
  WorkOptions work;

  void run() const {
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
    if (json) {
      Json out;
      out["chunks"] = report.chunks;
      out["chunks_moved"] = report.moved;
      out["chunks_in_all"] = header.grid().size();
      out["bytes_written"] = report.bytes_written;
      out["stream_bytes"] = report.stream_bytes;
      out["max_error"] = report.statement.max_error;
      out["bound"] = header.abs_bound;
      out["seconds"] = seconds;
      fmt::print("{}\n", out.dump(2));
    } else if (!work.quiet) {
      fmt::print(
          "{} of {} chunks written again, {} of them at the end; {} written, largest error {} "
          "(bound {})\n",
          report.chunks, header.grid().size(), report.moved, readable_bytes(report.bytes_written),
          number(report.statement.max_error), number(header.abs_bound));
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
  verb.add_option("STREAM", self->stream_path, "stream to be changed, in place")->required();
  verb.add_option("VALUES", self->values_path, "array of the region's shape: raw or .npy")
      ->required();
  verb.add_option("--region", self->region_text, "where the values go, as in NumPy: 0:10,:,250")
      ->type_name("REGION")
      ->required();
  self->array.add_to(verb);
  self->work.add_to(verb);
  verb.add_flag("--json", self->json, "report as JSON");
  verb.callback([self] { self->run(); });
}

}  // namespace leeway::cli
