// SPDX-License-Identifier: BSD-3-Clause
// The verb `bench`: recipes in memory on one field, beside memcpy in the same run. Medians of all
// repeats.
#include <algorithm>
#include <cstring>
#include <memory>

#include "leeway/choose/choose.h"
#include "leeway/quality/compare.h"
#include "leeway/recipe/recipe.h"
#include "tools/array_file.h"
#include "tools/cli.h"
#include "tools/gpu.h"

namespace leeway::cli {
namespace {

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

struct Row {
  std::string name;
  CompressOptions options;
  Bytes memory;     // as much as any stream of the array may need
  size_t size = 0;  // of the stream in it
  std::vector<double> compress_seconds, decompress_seconds;
  double error_over_bound = 0, psnr = 0;
};

struct Bench {
  std::string input, device;
  std::vector<std::string> recipes{std::string(kDefaultRecipe)};
  unsigned repeat = 5;
  bool json = false;
  BoundOptions bound;
  ArrayOptions array;
  WorkOptions work;

  void run() const {
    if (repeat == 0) fail_argument("--repeat must be at least 1");
    std::vector<Row> rows;
    for (const std::string& recipe : recipes) {
      Row row;
      row.name = recipe;
      row.options.recipe = recipe;
      row.options.bound = bound.bound_for(recipe);
      check_recipe(recipe);
      if (!device.empty() && recipe == kDefaultRecipe) row.name = row.options.recipe = kDeviceRecipe;
      row.options.execution.threads = work.threads > 0 ? work.threads : available_cores();
      rows.push_back(std::move(row));
    }
    const ArrayFile in = open_array(input, array);
    if (in.view.shape.size() == 0) fail_argument("the array is empty");
    Array original(in.view.dtype, in.view.shape), decoded(in.view.dtype, in.view.shape);
    copy(in.view, original.view());
    copy(in.view, decoded.view());  // touches its pages
    if (!device.empty()) return run_on_device(rows, original, decoded);

    for (Row& row : rows)
      row.memory.resize(size_t(max_compressed_size(in.view.dtype, in.view.shape, row.options)));
    std::vector<double> memcpy_seconds;
    for (unsigned pass = 0; pass < repeat; ++pass) {
      const double start = seconds_now();
      std::memcpy(decoded.view().data, original.data(), size_t(original.bytes()));
      memcpy_seconds.push_back(seconds_now() - start);
      for (Row& row : rows) measure(row, original, decoded);
    }
    report(rows, double(original.bytes()) / 1e6, median(memcpy_seconds));
  }

  // Kernels alone: arrays and streams are in the memory of the device.
  void run_on_device(std::vector<Row>& rows, const Array& original, Array& decoded) const {
    for (Row& row : rows) {
      row.options.detect_fills = false;
      DeviceTimes times = time_device(device, original, row.options, repeat, decoded);
      row.name += " on " + times.name;
      row.size = size_t(times.stream_bytes);
      row.compress_seconds = std::move(times.compress_seconds);
      row.decompress_seconds = std::move(times.decompress_seconds);
      const Comparison comparison =
          compare(View(original.data(), original.dtype(), original.shape()),
                  View(decoded.data(), decoded.dtype(), decoded.shape()), {}, false);
      row.psnr = comparison.psnr;
    }
    report(rows, double(original.bytes()) / 1e6, 0);
  }

  static void measure(Row& row, Array& original, Array& decoded) {
    const View truth(original.data(), original.dtype(), original.shape());
    const double start = seconds_now();
    row.size = size_t(compress_into(truth, row.options, row.memory).output_bytes);
    const double compressed = seconds_now();
    const MemorySource source(ByteView(row.memory).first(row.size));
    const StreamReader reader(source);
    DecompressOptions options;
    options.execution.threads = row.options.execution.threads;
    decompress_into(reader, {}, decoded.view(), options);
    row.decompress_seconds.push_back(seconds_now() - compressed);
    row.compress_seconds.push_back(compressed - start);
    if (row.compress_seconds.size() > 1) return;
    const Comparison comparison =
        compare(truth, View(decoded.data(), decoded.dtype(), decoded.shape()),
                reader.header().fills, false);
    row.error_over_bound =
        reader.header().abs_bound > 0 ? comparison.max_abs / reader.header().abs_bound : 0;
    row.psnr = comparison.psnr;
  }

  void report(const std::vector<Row>& rows, double megabytes, double memcpy_seconds) const {
    Json list = Json::array();
    if (!json)
      fmt::print("{:<36} {:>8} {:>10} {:>10} {:>10} {:>8} {:>8}\n", "recipe", "ratio", "comp MB/s",
                 "decomp MB/s", "memcpy", "err/bnd", "PSNR");
    for (const Row& row : rows) {
      const double ratio = megabytes * 1e6 / double(row.size),
                   comp = megabytes / median(row.compress_seconds),
                   decomp = megabytes / median(row.decompress_seconds),
                   copy_speed = memcpy_seconds > 0 ? megabytes / memcpy_seconds : 0;
      if (json)
        list.push_back({{"recipe", row.name},
                        {"ratio", ratio},
                        {"compress_mb_s", comp},
                        {"decompress_mb_s", decomp},
                        {"memcpy_mb_s", copy_speed},
                        {"error_over_bound", row.error_over_bound},
                        {"psnr", json_of(row.psnr)},
                        {"threads", row.options.execution.threads}});
      else
        fmt::print("{:<36} {:>8.3f} {:>10.0f} {:>10.0f} {:>10.0f} {:>8.4f} {:>8.2f}\n", row.name,
                   ratio, comp, decomp, copy_speed, row.error_over_bound, row.psnr);
    }
    if (json) fmt::print("{}\n", list.dump(2));
  }
};

}  // namespace

void add_bench(CLI::App& verb) {
  const auto self = std::make_shared<Bench>();
  verb.add_option("FIELD", self->input, "raw or .npy file")->required();
  self->bound.add_to(verb);
  add_recipe_list(verb, self->recipes, "names or recipes, separated by commas");
  verb.add_option("--repeat", self->repeat, "passes over all recipes; medians are reported")
      ->type_name("N");
  add_device_option(verb, self->device);
  self->array.add_to(verb);
  self->work.add_to(verb);
  verb.add_flag("--json", self->json, "report as JSON");
  verb.callback([self] { self->run(); });
}

}  // namespace leeway::cli
