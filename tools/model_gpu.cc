// SPDX-License-Identifier: BSD-3-Clause
// `leeway model gpu`: how fast a GPU would be, and why not faster.
#include <memory>

#include "tools/array_file.h"
#include "tools/cli.h"
#include "tools/gpu.h"
#include "tools/gpu_model.h"

namespace leeway::cli {
namespace {

struct GpuModel {
  std::string input, device = "a100", recipe = kDeviceRecipe;
  bool json = false;
  BoundOptions bound;
  ArrayOptions array;

  void run() const {
    if (input.empty()) {
      const auto all = printed_by_cuszp2();
      return json ? print(json_of(all)) : print_text(all);
    }
    const Gpu& gpu = find_gpu(device);
    const ArrayFile in = open_array(input, array);
    CompressOptions options;
    options.recipe = recipe;
    options.bound = bound.any() ? bound.bound() : Bound::rel(1e-3);
    const Prediction prediction = predict(in.view, options);
    const Json result = report_of(gpu, in.view, prediction);
    json ? print(result) : print_lines(gpu, in.view, result);
  }

 private:
  static Json report_of(const Gpu& gpu, const View& view, const Prediction& prediction) {
    Json result;
    result["device"] = gpu.name;
    result["values"] = view.shape.size();
    result["ratio"] = prediction.ratio;
    result["chunks"] = prediction.chunks;
    result["chunks_tried"] = prediction.chunks_tried;
    result["compress"] = direction(gpu, view, prediction.compress, prediction.range);
    result["decompress"] = direction(gpu, view, prediction.decompress, 0);
    return result;
  }
  static Json direction(const Gpu& gpu, const View& view, const Work& work, double range) {
    const double values = double(view.shape.size()), word = double(size_of(view.dtype));
    const Limits limits = limits_of(gpu, work);
    const double seconds = seconds_of(gpu, work, range, values);
    const auto gb = [&](double values_a_second) { return values_a_second * word / 1e9; };
    return {{"bytes_read_a_value", work.read + range},
            {"bytes_written_a_value", work.written},
            {"bytes_moved_a_value", work.moved + range},
            {"instructions_a_value", work.instructions},
            {"share_on_fast_path", work.fast},
            {"limits_gb_s",
             {{"memory", gb(limits.memory)},
              {"arithmetic", gb(limits.arithmetic)},
              {"issue", gb(limits.issue)}}},
            {"limited_by", limits.name()},
            {"seconds", seconds},
            {"gb_s", values * word / seconds / 1e9}};
  }

  static void print_lines(const Gpu& gpu, const View& view, const Json& result) {
    fmt::print("{} {} on {}: a model, measured by nobody; {} of {} chunks tried\n",
               name_of(view.dtype), to_string(view.shape), gpu.title,
               result["chunks_tried"].get<u64>(), result["chunks"].get<u64>());
    fmt::print("{:<12}{:>8}{:>12}{:>14}{:>8}   {}\n", "", "GB/s", "bytes", "instructions", "fast",
               "GB/s that each limit allows");
    for (const char* name : {"compress", "decompress"}) {
      const Json& row = result[name];
      const auto of = [&](const char* key) { return row[key].get<double>(); };
      std::string limits;
      for (const auto& [limit, speed] : row["limits_gb_s"].items())
        limits +=
            fmt::format("{}{} {:.0f}", limits.empty() ? "" : ", ", limit, speed.get<double>());
      fmt::print("{:<12}{:>8.0f}{:>12.2f}{:>14.1f}{:>7.0f}%   {}\n", name, of("gb_s"),
                 of("bytes_moved_a_value"), of("instructions_a_value"),
                 100 * of("share_on_fast_path"), limits);
    }
    fmt::print("ratio {:.4g}; bytes and instructions are for a value\n",
               result["ratio"].get<double>());
  }
};

}  // namespace

void add_gpu_model(CLI::App& model) {
  const auto self = std::make_shared<GpuModel>();
  std::string names;
  for (const Gpu& gpu : known_gpus()) names += (names.empty() ? "" : ", ") + std::string(gpu.name);
  CLI::App& verb = *model.add_subcommand("gpu", "the kernels of cuSZp2 and ours on a GPU");
  verb.add_option("FIELD", self->input,
                  "raw or .npy file of f32 or f64; without one, what the paper of cuSZp2 prints "
                  "beside what the model says");
  verb.add_option("--device", self->device, names + "; a100 if not given")->type_name("NAME");
  verb.add_option("--recipe", self->recipe, "one that GPUs have; cuszp2-outlier if not given")
      ->type_name("TEXT");
  self->bound.add_to(verb);
  self->array.add_to(verb);
  verb.add_flag("--json", self->json, "report as JSON");
  verb.footer(
      "Examples:\n"
      "  leeway model gpu\n"
      "  leeway model gpu field_512x512x512.f32 --rel 1e-3 --device h100");
  verb.callback([self] { self->run(); });
}

}  // namespace leeway::cli
