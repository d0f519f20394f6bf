// SPDX-License-Identifier: BSD-3-Clause
// The verb `model`: what a piece of hardware would do with a field, cycle by cycle.
#include <algorithm>
#include <cmath>
#include <memory>

#include "tools/array_file.h"
#include "tools/cli.h"
#include "tools/fpga_model.h"
#include "tools/gpu.h"
#include "tools/wafer.h"

namespace leeway::cli {
namespace {

struct Model {
  std::string input, design = "wavesz";
  std::optional<double> clock;
  std::optional<u64> depth, lanes;
  bool json = false;
  BoundOptions bound;
  ArrayOptions array;

  void run() const {
    WaveDesign wave;
    GhostDesign ghost;
    CeazDesign ceaz;
    if (clock) wave.clock = ghost.clock = ceaz.clock = *clock * 1e6;
    if (depth) wave.depth = ghost.depth = ceaz.depth = *depth;
    if (lanes) wave.lanes = ghost.lanes = *lanes;
    if ((clock && !(*clock > 0)) || (lanes && *lanes == 0))
      fail_argument("clock and lanes must be positive");
    if (design == "wavesz")
      input.empty() ? print(printed_by_wavesz(wave)) : simulate_wave(wave);
    else if (design == "wavesz-rtl")
      simulate_wave(wave, rtl_wave_schedule);
    else if (design == "ghostsz")
      input.empty() ? print(printed_by_ghostsz(ghost)) : simulate_ghost(ghost);
    else if (design == "ceaz")
      input.empty() ? print(printed_by_ceaz(ceaz)) : simulate_ceaz(ceaz);
    else
      fail_argument("there is no design '" + design + "'; there are wavesz, wavesz-rtl, ghostsz, ceaz");
  }

  void simulate_wave(const WaveDesign& with,
                     Schedule (*schedule_of)(u64, u64, const WaveDesign&) = wave_schedule) const {
    if (input.empty()) fail_argument("this design takes a field");
    const ArrayFile in = open_array(input, array);
    const Table table(in.view.shape);
    const Schedule schedule = schedule_of(table.rows, table.length, with);
    const double e = absolute_bound(in.view);
    bool exact = false;
    if (in.view.dtype == DType::f32)
      exact = is_exact<float>(in.view, table, e);
    else if (in.view.dtype == DType::f64)
      exact = is_exact<double>(in.view, table, e);
    else
      fail_argument("the model takes fields of f32 or f64");
    report(in.view, schedule, with.clock,
           {{"starts_before_its_neighbours_end", schedule.too_early},
            {"codes_equal_those_of_wavesz", exact}});
    if (schedule.too_early > 0 || !exact) throw Ended{kFailed};
  }

  void simulate_ghost(const GhostDesign& with) const {
    const ArrayFile in = open_array(input, array);
    const Table table(in.view.shape);
    report(in.view, ghost_schedule(table.rows, table.length, with), with.clock, Json::object());
  }

  // The ratio is that of the recipe on the field: it decides whether the link keeps up.
  void simulate_ceaz(CeazDesign with) const {
    const ArrayFile in = open_array(input, array);
    if (lanes) with.bytes_a_cycle = *lanes * size_of(in.view.dtype);
    const CompressReport done = compress(in.view, options("ceaz"), [](ByteView) {});
    const double ratio = double(done.input_bytes) / double(std::max<u64>(done.output_bytes, 1));
    report(in.view, ceaz_schedule(in.view.shape.size(), size_of(in.view.dtype), ratio, with),
           with.clock, {{"ratio", ratio}});
  }

  CompressOptions options(const std::string& recipe) const {
    CompressOptions result;
    result.recipe = recipe;
    result.bound = bound.any() ? bound.bound() : Bound::rel(1e-3);
    return result;
  }
  double absolute_bound(const View& view) const {
    const CompressReport report = compress(view, options("fast"), [](ByteView) {});
    if (!(report.abs_bound > 0)) fail_argument("the model needs a bound above 0");
    return report.abs_bound;
  }
  template <class T>
  static bool is_exact(const View& view, const Table& table, double e) {
    std::vector<T> values(size_t(view.shape.size()));
    gather(view, values.data());
    for (T& value : values)
      if (!std::isfinite(value)) value = 0;
    return wave_order_is_exact<T>(values, table.rows, table.length, e);
  }
  void report(const View& view, const Schedule& schedule, double hertz, const Json& more) const {
    const double seconds = schedule.seconds(hertz),
                 bytes = double(view.shape.size()) * double(size_of(view.dtype));
    Json result;
    result["design"] = design;
    result["points"] = schedule.points;
    result["cycles"] = schedule.cycles;
    result["seconds"] = seconds;
    result["mb_s"] = seconds > 0 ? bytes / 1e6 / seconds : 0;
    for (const Phase& phase : schedule.phases)
      result["phases"].push_back({{"name", phase.name},
                                  {"turns", phase.turns},
                                  {"points", phase.points},
                                  {"stalls", phase.stalls}});
    result.update(more);
    if (json) {
      fmt::print("{}\n", result.dump(2));
      return;
    }
    fmt::print("{} on {} {} at {:.5g} MHz: {} cycles, {:.4g} ms, {:.1f} MB/s\n", design,
               name_of(view.dtype), to_string(view.shape), hertz / 1e6, schedule.cycles,
               seconds * 1e3, result["mb_s"].get<double>());
    for (const Phase& phase : schedule.phases)
      fmt::print("{:<6} {:>10} turns {:>12} points {:>12} stalled cycles\n", phase.name,
                 phase.turns, phase.points, phase.stalls);
    for (const auto& [key, value] : more.items()) {
      std::string name = key;
      std::ranges::replace(name, '_', ' ');
      fmt::print("{}: {}\n", name, value.dump());
    }
  }

  void print(const std::vector<Printed>& all) const {
    json ? cli::print(json_of(all)) : print_text(all);
  }
};

}  // namespace

void add_model(CLI::App& verb) {
  const auto self = std::make_shared<Model>();
  verb.require_subcommand(1);
  add_wafer(verb);
  add_gpu_model(verb);
  CLI::App& fpga = *verb.add_subcommand("fpga", "the pipelines of waveSZ, GhostSZ and CEAZ");
  fpga.add_option("FIELD", self->input,
                  "raw or .npy file of f32 or f64; without one, the tables of the papers");
  fpga.add_option("--design", self->design, "wavesz, wavesz-rtl (the one in rtl/), ghostsz or ceaz; wavesz if not given")
      ->type_name("NAME");
  fpga.add_option("--lanes", self->lanes, "independent lanes, or pipelines of ceaz")
      ->type_name("N");
  fpga.add_option("--clock", self->clock, "in MHz")->type_name("F");
  fpga.add_option("--depth", self->depth, "cycles from start to end of a point")->type_name("N");
  self->bound.add_to(fpga);
  self->array.add_to(fpga);
  fpga.add_flag("--json", self->json, "report as JSON");
  fpga.callback([self] { self->run(); });
}

}  // namespace leeway::cli
