// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <filesystem>
#include <memory>

#include "leeway/choose/choose.h"
#include "leeway/recipe/recipe.h"
#include "tools/array_file.h"
#include "tools/cli.h"
#include "tools/gpu.h"
#include "tools/output_file.h"
#include "tools/region.h"
#include "tools/together.h"
#include "tools/variables.h"

namespace leeway::cli {
namespace {

struct Compress {
  std::vector<std::string> inputs;
  std::string input, output, recipe, preset, chunk, bounds, bounds_file, keep, device;
  std::vector<std::string> fills, promises;
  std::optional<double> min, max, ssim;
  std::vector<std::string> variables, excluded, region_bounds;
  bool no_detect = false, force = false, json = false, brief = false, growing = false;
  BoundOptions bound;
  ArrayOptions array;
  WorkOptions work;

  void run() {
    if (!recipe.empty() && !preset.empty()) fail_argument("give --preset or --recipe, not both");
    input = inputs[0];
    const bool has_rules = !keep.empty() || min || max;
    const bool is_file = inputs.size() == 1 && h5::is_container_name(output) &&
                         h5::parse_address(input) && promises.empty() && !ssim;
    if (inputs.size() > 1 || !promises.empty() || ssim || (has_rules && !is_file))
      return compress_together();
    compress_one();
  }

  // With promises, and several arrays perhaps.
  void compress_together() const {
    if (promises.empty() && keep.empty() && !min && !max && !ssim)
      fail_argument(
          "several arrays are compressed together for --qoi, --keep, --min or --max; "
          "without these, one at a time");
    if (!region_bounds.empty() || !bounds.empty() || !bounds_file.empty() || !excluded.empty() ||
        brief || !device.empty())
      fail_argument(
          "--qoi, --keep, --min, --max and --ssim do not go together with "
          "--region-bound, --bounds, --bounds-file, --exclude, --brief and --device");
    CompressOptions options;
    options.bound = bound.given();
    options.recipe = !recipe.empty() ? recipe : !preset.empty() ? preset : "small";
    check_recipe(options.recipe);
    options.detect_fills = !no_detect;
    if (!chunk.empty()) options.chunk = parse_shape(chunk);
    options.execution = work.execution("compressing");
    options.execution.progress = nullptr;
    CompressTogether{inputs, output, options, variables, promises, fills,      keep,
                     min,    max,    ssim,    force,     json,     work.quiet, array}
        .run();
  }

  void compress_one() const {
    CompressOptions options;
    const auto container = h5::parse_address(input);
    if (!bounds_file.empty() && !container)
      fail_argument("--bounds-file is for HDF5 and netCDF files");
    const BoundsFile common = bounds_file.empty() ? BoundsFile() : read_bounds_file(bounds_file);
    if (container) options.bound = common.general;
    if (!common.recipe.empty()) options.recipe = common.recipe;
    if (!recipe.empty()) options.recipe = recipe;
    if (!preset.empty()) options.recipe = preset;
    if (!device.empty() && recipe.empty() && preset.empty()) options.recipe = kDeviceRecipe;
    check_recipe(options.recipe);  // before any file is touched
    if (bound.any() || !container) options.bound = bound.bound_for(options.recipe);
    if (const std::string complaint = recipe_complaint(options.bound); !complaint.empty())
      complain(complaint);
    options.detect_fills = !no_detect;
    options.brief = brief;
    options.growing = growing;
    if (brief && growing) fail_argument("give --brief or --growing, not both");
    if (!chunk.empty()) options.chunk = parse_shape(chunk);
    options.execution = work.execution("compressing");
    if (container && !device.empty()) fail_argument("--device is for raw and .npy files");
    if (container && (!region_bounds.empty() || !bounds.empty() || growing))
      fail_argument("--region-bound, --bounds and --growing are for raw and .npy files");
    if (brief && h5::is_container_name(output))
      fail_argument("--brief is for streams: chunks of HDF5 and netCDF files are brief anyway");
    if (container)
      return CompressVariables{*container, output,      options,    rules(),         variables,
                               excluded,   bounds_file, common.own, common.excluded, fills,
                               force,      json,        work.quiet}
          .run();
    if (!variables.empty() || !excluded.empty())
      fail_argument("--variable and --exclude are for HDF5 and netCDF files");
    if (input != "-" && !std::filesystem::exists(input))
      throw Error(Errc::io, "there is no file '" + input + "'");
    if (h5::is_container_name(output))
      fail_argument("only variables of HDF5 and netCDF files can be written to such a file");

    const double start = seconds_now();
    const ArrayFile in = open_array(input, array);
    for (const std::string& text : fills) declare_fill(options, in.view.dtype, text);
    for (const std::string& text : region_bounds)
      options.regions.push_back(parse_region_bound(text, in.view.shape));
    std::optional<ArrayFile> point_bounds;
    if (!bounds.empty()) {
      point_bounds.emplace(open_array(bounds, {}));
      options.bounds = point_bounds->view;
    }
    OutputFile out(output_path(), force);
    if (in.file) options.execution.pause = [&] { in.file->let_go(); };
    const Sink sink = [&](ByteView part) { out.write(part); };
    const CompressReport report = device.empty()
                                      ? compress(in.view, options, sink)
                                      : compress_on_device(device, in.view, options, sink);
    if (in.file) in.file->check_unchanged();
    if (point_bounds && point_bounds->file) point_bounds->file->check_unchanged();
    out.commit();
    if (const std::string complaint = size_complaint(report, options.bound); !complaint.empty())
      complain(complaint);
    if (json)
      print_json(report, options, in, seconds_now() - start, out.can_map() ? stdout : stderr);
    else if (!work.quiet)
      print_text(report, options, in, seconds_now() - start, out.can_map() ? stdout : stderr);
  }

  derived::PartRules rules() const {
    derived::PartRules rules;
    rules.take("keep", keep);
    rules.min = min, rules.max = max;
    return rules;
  }

  std::string output_path() const {
    if (!output.empty()) return output;
    return input == "-" ? "-" : input + ".lwy";
  }

  // Where a recipe was named that --lossless does not use: why.
  std::string recipe_complaint(const Bound& asked) const {
    const std::string& named = recipe.empty() ? preset : recipe;
    if (named.empty() || is_choice(named) || !asked.has(BoundKind::lossless)) return "";
    const Recipe given = parse_recipe(named), used = parse_recipe("lossless");
    if (to_string(given) == to_string(used)) return "";
    const bool is_lossless = std::ranges::all_of(given.stages, [](const StageCall& call) {
      return call.kind != Kind::quantizer || call.name == "exact";
    });
    if (is_lossless) return "";
    return fmt::format(
        "--lossless codes every chunk by '{}', not by '{}', which is for chunks with "
        "losses",
        to_string(used), named);
  }

  static double ratio(const CompressReport& report) {
    return double(report.input_bytes) / double(report.output_bytes);
  }

  // Where the size asked for was not reached: why.
  static std::string size_complaint(const CompressReport& report, const Bound& bound) {
    const double off = double(report.output_bytes) / double(std::max<u64>(report.asked_bytes, 1));
    if (report.asked_bytes == 0 || std::abs(off - 1) <= 0.03) return "";
    const std::string reached = fmt::format("{} asked for {}, the stream has {} (ratio {:.2f})",
                                            to_string(bound), readable_bytes(report.asked_bytes),
                                            readable_bytes(report.output_bytes), ratio(report));
    if (report.abs_bound == 0 && off < 1) return reached + ": no more is needed to lose nothing";
    if (off < 1) return reached + ": sizes between cannot be had";
    return reached + (bound.limits().size() > 1 ? ": the other bounds win"
                                                : ": this recipe cannot make it smaller");
  }

  static void print_json(const CompressReport& report, const CompressOptions& options,
                         const ArrayFile& in, double seconds, std::FILE* to) {
    Json json;
    json["input_bytes"] = report.input_bytes;
    json["output_bytes"] = report.output_bytes;
    json["ratio"] = ratio(report);
    if (report.asked_bytes > 0) {
      json["asked_bytes"] = report.asked_bytes;
      json["size_reached"] = size_complaint(report, options.bound).empty();
    }
    json["seconds"] = seconds;
    json["bound"] = {{"asked", json_of(options.bound)}, {"absolute", report.abs_bound}};
    json["max_error"] = report.statement.max_error;
    json["recipe"] = report.recipe;
    json["form"] = name_of(report.form);
    json["dtype"] = name_of(in.view.dtype);
    json["shape"] = json_of(in.view.shape);
    json["special_values"] = report.statement.special;
    json["exact_values"] = report.statement.exact;
    json["fill_values"] = fills_text(report.fills, in.view.dtype);
    print(json, to);
  }

  void print_text(const CompressReport& report, const CompressOptions& options, const ArrayFile& in,
                  double seconds, std::FILE* to) const {
    fmt::print(to, "{} {}: {} -> {}, ratio {:.2f}, {:.0f} MB/s\n", name_of(in.view.dtype),
               to_string(in.view.shape), readable_bytes(report.input_bytes),
               readable_bytes(report.output_bytes), ratio(report),
               double(report.input_bytes) / 1e6 / std::max(seconds, 1e-9));
    if (report.abs_bound > 0)
      fmt::print(to, "bound {} {} {} absolute; largest error {}\n", to_string(options.bound),
                 report.is_bound_by_chunk ? "at most" : "=", number(report.abs_bound),
                 number(report.statement.max_error));
    else
      fmt::print(to, "lossless\n");
    if (report.statement.special > 0)
      fmt::print(
          to, "{} special values kept exactly{}\n", report.statement.special,
          report.fills.empty() ? "" : "; fill values: " + fills_text(report.fills, in.view.dtype));
  }
};

void add_promises(Compress& self, CLI::App& verb) {
  const auto group = "Promises (docs/QUALITY.md)";
  verb.add_option("--qoi", self.promises,
                  "a bound of what is calculated from the values, checked and stated in the "
                  "stream: 'sqrt(u^2+v^2)=abs:0.1', 'gradient(x)=rel:0.01', 'mean(x)=abs:1e-4'; "
                  "may be repeated. An array without a name is x")
      ->type_name("EXPR=BOUND")
      ->group(group)
      ->expected(1)
      ->take_all();
  verb.add_option("--keep", self.keep,
                  "zeros: zeros stay zeros; sign: what is below, at or above 0 stays so")
      ->type_name("zeros,sign")
      ->group(group);
  verb.add_option("--min", self.min, "no value falls below this limit")
      ->type_name("V")
      ->group(group);
  verb.add_option("--max", self.max, "no value rises above this limit")
      ->type_name("V")
      ->group(group);
  verb.add_option("--ssim", self.ssim,
                  "smallest data SSIM of any map, as 'leeway report' defines it; measured")
      ->type_name("S")
      ->group(group);
}

}  // namespace

void add_compress(CLI::App& verb) {
  const auto self = std::make_shared<Compress>();
  verb.add_option(
          "IN", self->inputs,
          "raw or .npy file; file.nc:NAME or file.h5:NAME[,NAME] for variables, file.nc for all "
          "floating-point ones; - for standard input. With --qoi several: u=u.npy v=v.npy")
      ->required();
  verb.add_option(
          "-o,--output", self->output,
          "stream to write (IN.lwy); for variables also a netCDF or HDF5 file, or a folder; - for "
          "standard output")
      ->type_name("OUT");
  self->bound.add_to(verb);
  verb.add_option("--variable", self->variables,
                  "a variable with its own bound: t=abs:0.01, mask=lossless; or several: "
                  "'tas*=rel:1e-4'")
      ->type_name("NAME=BOUND")
      ->expected(1)
      ->take_all();
  verb.add_option(
          "--exclude", self->excluded,
          "a variable that stays as it is, or several: 'p*'; counts more than the bounds file")
      ->type_name("NAME")
      ->expected(1)
      ->take_all();
  verb.add_option(
          "--bounds-file", self->bounds_file,
          "bounds of many variables, in TOML: [variables], then lines like t = \"abs:0.01\" "
          "or 'tas*' = { rel = 1e-4 }; what the command line says counts more")
      ->type_name("FILE");
  verb.add_option("--preset", self->preset, "what matters: 'leeway recipes' lists them")
      ->type_name("NAME");
  verb.add_option("--recipe", self->recipe,
                  "stages by name, e.g. linear+lorenzo:order=2+huffman+zstd")
      ->type_name("RECIPE");
  verb.add_option("--region-bound", self->region_bounds,
                  "a smaller absolute bound in a part of the array, 0: no loss; may be repeated. "
                  "e.g. 0:10,:,:=1e-6")
      ->type_name("REGION=E")
      ->expected(1)
      ->take_all();
  verb.add_option("--bounds", self->bounds,
                  "absolute bounds value by value: a raw file named like b_100x500.f32, or .npy; "
                  "infinity where the bound is enough")
      ->type_name("FILE");
  add_promises(*self, verb);
  verb.add_option("--fill", self->fills,
                  "a value that means 'nothing here': kept exactly, not part of the range")
      ->type_name("V")
      ->expected(1)
      ->take_all();
  verb.add_flag("--no-detect-fill", self->no_detect, "do not look for fill values");
  verb.add_option("--chunk", self->chunk, "shape of the independent chunks, e.g. 64x64x64")
      ->type_name("SHAPE");
  verb.add_flag("--brief", self->brief,
                "the brief form of a stream, some 250 bytes smaller, for arrays of one chunk; it "
                "cannot be updated");
  add_device_option(verb, self->device);
  verb.add_flag("--growing", self->growing,
                "a stream that 'leeway append' can put rows behind, along the first axis");
  self->array.add_to(verb);
  self->work.add_to(verb);
  verb.add_flag("-f,--force", self->force,
                "replace OUT if it exists; take a bound that leaves nothing of a variable");
  verb.add_flag("--json", self->json, "report as JSON");
  verb.callback([self] { self->run(); });
}

}  // namespace leeway::cli
