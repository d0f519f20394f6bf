// SPDX-License-Identifier: BSD-3-Clause
// The verb `append`: rows behind the array of a growing stream, in its file.
#include <filesystem>
#include <memory>

#include "tools/array_file.h"
#include "tools/cli.h"
#include "tools/output_file.h"

namespace leeway::cli {
namespace {

struct Append {
  std::string stream_path, rows_path, recipe, chunk;
  std::vector<std::string> fills;
  bool json = false;
  BoundOptions bound;
  ArrayOptions array;
  WorkOptions work;

  void run() const {
    if (std::filesystem::exists(stream_path))
      append_rows();
    else
      begin();
  }

  // The first rows, in a file that appears when it is whole.
  void begin() const {
    const ArrayFile rows = open_array(rows_path, array);
    CompressOptions options;
    options.growing = true;
    options.bound = bound.bound();
    if (!recipe.empty()) options.recipe = recipe;
    if (!chunk.empty()) options.chunk = parse_shape(chunk);
    for (const std::string& text : fills) declare_fill(options, rows.view.dtype, text);
    options.execution = work.execution("compressing");
    OutputFile out(stream_path, false);
    const CompressReport report =
        compress(rows.view, options, [&](ByteView part) { out.write(part); });
    out.commit();
    tell(rows.view.shape[0], 0, report.output_bytes, report.output_bytes, report.statement);
  }

  void append_rows() const {
    if (bound.any() || !recipe.empty() || !chunk.empty() || !fills.empty()) check_settings();
    FileStore store(stream_path);
    const Header header = StreamReader(store).header();
    const ArrayFile rows = open_array(rows_path, with_defaults(header));
    View view = rows.view;
    if (view.shape.rank() + 1 == header.shape.rank()) view = as_one_row(view);
    const UpdateReport report = append(store, view, work.execution("appending"));
    tell(view.shape[0], header.shape[0], report.bytes_written, report.stream_bytes,
         report.statement);
  }

  // What counts for the first rows only may be said again, so that one command line does for all.
  void check_settings() const {
    const FileSource source(stream_path);
    const Header header = StreamReader(source).header();
    if (bound.any() && bound.given().limits() != header.bound.limits())
      fail_argument(fmt::format("'{}' has the bound {}, which holds for all of its rows",
                                stream_path, to_string(header.bound)));
  }

  void tell(u64 rows, u64 before, u64 written, u64 bytes, const Statement& statement) const {
    if (json) {
      Json out;
      out["rows"] = rows;
      out["rows_in_all"] = before + rows;
      out["bytes_written"] = written;
      out["stream_bytes"] = bytes;
      out["max_error"] = statement.max_error;
      print(out);
    } else if (!work.quiet) {
      fmt::print("{} rows behind {}; {} written, largest error {}\n", rows, before,
                 readable_bytes(written), number(statement.max_error));
    }
  }

  // An array with one axis less is one row.
  static View as_one_row(const View& view) {
    std::array<u64, kMaxRank> extents{1};
    Strides strides{};
    for (size_t axis = 0; axis < view.shape.rank(); ++axis) {
      extents[axis + 1] = view.shape[axis];
      strides[axis + 1] = view.strides[axis];
    }
    strides[0] = std::ptrdiff_t(view.shape.size() * size_of(view.dtype));
    return {view.data, view.dtype,
            Shape(std::span<const u64>(extents).first(view.shape.rank() + 1)), strides};
  }

  // A raw file that says nothing of itself holds rows of the stream, as many as fit.
  ArrayOptions with_defaults(const Header& header) const {
    ArrayOptions options = array;
    if (rows_path.ends_with(".npy") || rows_path.ends_with(".lwy") || rows_path == "-")
      return options;
    const NameInfo name = read_name(rows_path);
    if (options.dtype.empty() && !name.dtype) options.dtype = name_of(header.dtype);
    if (options.shape.empty() && !name.shape) {
      Header one = header;
      set_extent(one, 1);
      const u64 row = one.shape.size() * size_of(header.dtype);
      set_extent(one, row > 0 ? std::filesystem::file_size(rows_path) / row : 0);
      options.shape = to_string(one.shape);
    }
    return options;
  }
};

}  // namespace

void add_append(CLI::App& verb) {
  const auto self = std::make_shared<Append>();
  verb.add_option("STREAM", self->stream_path,
                  "growing stream, which is made if there is none; if anything fails it is as it "
                  "was, and whoever reads it meanwhile finds whole rows only")
      ->required();
  verb.add_option("ROWS", self->rows_path,
                  "array like it, of any extent along the first axis, or one row without that "
                  "axis: raw, .npy or .lwy")
      ->required();
  self->bound.add_to(verb);
  verb.add_option("--recipe,--preset", self->recipe, "for a new stream: its recipe")
      ->type_name("RECIPE");
  verb.add_option("--chunk", self->chunk,
                  "for a new stream: shape of its chunks; appends of a multiple of their first "
                  "extent make the smallest streams")
      ->type_name("SHAPE");
  verb.add_option("--fill", self->fills, "for a new stream: a value that means 'nothing here'")
      ->type_name("V")
      ->expected(1)
      ->take_all();
  self->array.add_to(verb);
  self->work.add_to(verb);
  verb.add_flag("--json", self->json, "report as JSON");
  verb.callback([self] { self->run(); });
}

}  // namespace leeway::cli
