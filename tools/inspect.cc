// SPDX-License-Identifier: BSD-3-Clause
#include <memory>

#include "leeway/recipe/recipe.h"
#include "tools/cli.h"
#include "tools/variables.h"

namespace leeway::cli {
namespace {

Json to_json(const Info& info) {
  const Header& header = info.header;
  Json json;
  json["format_version"] = kFormatVersion;
  json["form"] = name_of(info.form);
  json["dtype"] = name_of(header.dtype);
  json["shape"] = json_of(header.shape);
  json["chunk"] = json_of(header.chunk);
  json["growing"] = header.is_growing;
  json["chunks"] = info.chunks;
  json["bound"] = {{"asked", json_of(header.bound)}, {"absolute", header.abs_bound}};
  json["range"] = {header.min, header.max};
  json["recipe"] = header.recipe;
  if (!info.alternatives.empty()) json["chunks_by_alternative"] = info.alternatives;
  json["fill_values"] = fills_text(header.fills, header.dtype);
  for (const RegionBound& region : header.regions)
    json["regions"].push_back({{"first", std::vector<u64>(region.box.first.begin(),
                                                          region.box.first.begin() +
                                                              std::ptrdiff_t(header.shape.rank()))},
                               {"shape", json_of(region.box.shape)},
                               {"bound", region.bound}});
  if (!header.variable.empty()) json["variable"] = header.variable;
  for (const StatedPromise& promise : header.promises)
    json["promises"].push_back(
        {{"promise", promise.text}, {"bound", promise.bound}, {"reached", promise.reached}});
  json["max_error"] = info.statement.max_error;
  json["special_values"] = info.statement.special;
  json["exact_values"] = info.statement.exact;
  json["decoded_hash"] = fmt::format("{:016x}", info.statement.decoded_hash);
  json["input_bytes"] = header.shape.size() * size_of(header.dtype);
  json["stream_bytes"] = info.stream_bytes;
  json["ratio"] = double(header.shape.size() * size_of(header.dtype)) / double(info.stream_bytes);
  return json;
}

// A line for every chunk: what its frame says.
void print_chunks(const StreamReader& stream, bool as_json) {
  Json list = Json::array();
  if (!as_json)
    fmt::print("{:>8} {:>10} {:>14} {:>14} {:>9} {:>9}\n", "chunk", "bytes", "bound",
               "largest error", "special", "exact");
  for (u64 i = 0; i < stream.chunks(); ++i) {
    const FrameHead head = stream.read_head(i);
    const u64 bytes =
        stream.form() == Form::brief ? stream.bytes() : frame_bytes(head.payload_bytes);
    if (as_json)
      list.push_back({{"bytes", bytes},
                      {"bound", head.bound},
                      {"max_error", head.max_error},
                      {"special_values", head.special},
                      {"exact_values", head.exact}});
    else
      fmt::print("{:>8} {:>10} {:>14.8g} {:>14.8g} {:>9} {:>9}\n", i, bytes, head.bound,
                 head.max_error, head.special, head.exact);
  }
  if (as_json) print(list);
}

void print_info(const Info& info, const StreamReader& stream) {
  const Header& header = info.header;
  const u64 bytes = header.shape.size() * size_of(header.dtype);
  Report report;
  report.add("array", fmt::format("{} {}, {}", name_of(header.dtype), to_string(header.shape),
                                  readable_bytes(bytes)));
  report.add(
      "stream",
      fmt::format("{}, ratio {:.2f}, format version {}, {}", readable_bytes(info.stream_bytes),
                  double(bytes) / double(info.stream_bytes), kFormatVersion, name_of(info.form)));
  if (stream.dead_bytes() > 0)
    report.add("replaced", fmt::format("{} of it take up room only: leeway update FILE --compact",
                                       readable_bytes(stream.dead_bytes())));
  if (header.is_growing) report.add("growing", "along the first axis: leeway append FILE ROWS");
  if (stream.bytes_left_out() > 0 && header.is_growing)
    report.add("unfinished",
               fmt::format("rows are being appended, or were until somebody was interrupted: {} "
                           "behind the end",
                           readable_bytes(stream.bytes_left_out())));
  else if (stream.bytes_left_out() > 0)
    report.add("interrupted",
               fmt::format("an update was, after {}; the stream is what it was before",
                           readable_bytes(stream.bytes_left_out())));
  report.add("chunks", fmt::format("{} of {}", info.chunks, to_string(header.chunk)));
  if (info.alternatives.empty()) {
    report.add("recipe", header.recipe);
  } else {
    const std::vector<Recipe> alternatives = alternatives_of(parse_recipe(header.recipe));
    for (size_t k = 0; k < alternatives.size(); ++k)
      report.add(k == 0 ? "recipes" : "",
                 fmt::format("{}, {} chunk{}", to_string(alternatives[k]), info.alternatives[k],
                             info.alternatives[k] == 1 ? "" : "s"));
  }
  report.add("bound", header.abs_bound > 0
                          ? fmt::format("{} {} {} absolute", to_string(header.bound),
                                        header.is_bound_by_chunk() ? "at most" : "=",
                                        number(header.abs_bound))
                          : to_string(header.bound) + " = lossless");
  report.add("largest error", number(info.statement.max_error));
  if (header.min != 0 || header.max != 0)
    report.add("range", fmt::format("{} to {}", number(header.min), number(header.max)));
  if (!header.regions.empty()) {
    double least = header.abs_bound;
    for (const RegionBound& region : header.regions) least = std::min(least, region.bound);
    report.add("regions", fmt::format("{} with bounds of their own, the smallest {}",
                                      header.regions.size(), number(least)));
  }
  if (!header.fills.empty()) report.add("fill values", fills_text(header.fills, header.dtype));
  for (const StatedPromise& promise : header.promises)
    report.add("promise",
               printable(promise.text) +
                   (promise.bound > 0 ? ", largest error found " + number(promise.reached) : ""));
  report.add("special values", std::to_string(info.statement.special));
  report.add("exact values", std::to_string(info.statement.exact));
  report.add("decoded hash", fmt::format("{:016x}", info.statement.decoded_hash));
  report.print();
}

}  // namespace

void add_inspect(CLI::App& verb) {
  struct Inspect {
    std::string input;
    bool json = false, chunks = false;
  };
  const auto self = std::make_shared<Inspect>();
  verb.add_option("IN", self->input, "stream, or HDF5 or netCDF file")->required();
  verb.add_flag("--chunks", self->chunks, "size, bound and largest error of every chunk");
  verb.add_flag("--json", self->json, "report as JSON");
  verb.callback([self] {
    if (const auto container = h5::parse_address(self->input)) {
      if (self->chunks) fail_argument("--chunks is for streams");
      return inspect_variables(*container, self->json);
    }
    const FileSource source(self->input);
    const StreamReader stream(source);
    if (self->chunks) return print_chunks(stream, self->json);
    const Info info = inspect(stream);
    if (self->json) {
      Json json = to_json(info);
      json["dead_bytes"] = stream.dead_bytes();
      json["bytes_of_an_interrupted_update"] = stream.bytes_left_out();
      print(json);
    } else {
      print_info(info, stream);
    }
  });
}

}  // namespace leeway::cli
