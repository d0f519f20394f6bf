// SPDX-License-Identifier: BSD-3-Clause
// The verb `explain`: what the stages of a recipe make of a field.
#include <memory>

#include "leeway/choose/choose.h"
#include "leeway/choose/explain.h"
#include "leeway/leeway.hpp"
#include "leeway/recipe/recipe.h"
#include "leeway/report/explain_page.h"
#include "tools/array_file.h"
#include "tools/cli.h"
#include "tools/output_file.h"

namespace leeway::cli {
namespace {

struct Explain {
  std::string input, recipe = std::string(kDefaultRecipe), output;
  bool json = false, force = false;
  BoundOptions bound;
  ArrayOptions array;
  WorkOptions work;

  void run() const {
    if (is_stream()) {
      if (bound.any()) fail_argument("a stream has its bound already");
      return explain_stream(FileSource(input), nullptr);
    }
    check_recipe(recipe);
    const ArrayFile in = open_array(input, array);
    CompressOptions options;
    options.bound = bound.bound_for(recipe);
    options.recipe = recipe;
    options.execution = work.execution("compressing");
    const Bytes stream = compress(in.view, options);
    // A choice has become a recipe.
    options.recipe = inspect(stream).header.recipe;
    explain_stream(MemorySource(stream), &in.view, predictor_costs(in.view, options));
  }

  bool is_stream() const { return input.size() > 4 && input.ends_with(".lwy"); }

  void explain_stream(const ByteSource& source, const View* field,
                      const std::vector<PredictorCost>& costs = {}) const {
    const StreamReader stream(source);
    const Explanation found = leeway::explain(stream, work.execution("explaining"));
    // Bounds of regions and bounds value by value would need the options that made the stream.
    const bool is_timed = field && !found.header.is_bound_by_chunk();
    const StageTimes times = is_timed ? time_stages(*field, found.header) : StageTimes();
    if (!output.empty()) {
      const std::string page = report::explain_page(
          "What '" + recipe_name() + "' makes of " + input, found, field, costs, times);
      OutputFile out(output, force);
      out.write(ByteView(reinterpret_cast<const u8*>(page.data()), page.size()));
      out.commit();
    }
    if (json)
      cli::print(to_json(found, times, costs));
    else if (!work.quiet)
      print_text(found, times, costs);
  }
  std::string recipe_name() const { return is_stream() ? "its recipe" : recipe; }

  static Json to_json(const Explanation& e, const StageTimes& times,
                      const std::vector<PredictorCost>& costs) {
    Json json;
    json["recipe"] = e.header.recipe;
    json["stream_bytes"] = e.stream_bytes;
    json["payload_bytes"] = e.payload_bytes;
    json["bits_a_value"] = e.bits_a_value(e.stream_bytes);
    json["chunks"] = e.chunks;
    json["chunks_by_kind"] = e.chunks_by_kind;
    for (size_t k = 0; k < e.recipes.size(); ++k)
      json["chunks_by_recipe"][e.recipes[k]] = e.chunks_by_recipe[k];
    json["body_bytes"] = e.body_bytes;
    json["packed_bytes"] = e.packed_bytes;
    for (const Anatomy::Part& part : e.parts) json["parts"][part.name] = part.bytes;
    json["level_bytes"] = e.level_bytes;
    json["settings"] = e.settings;
    json["special_values"] = e.special;
    json["exact_values"] = e.exact;
    Json& codes = json["codes"];
    codes["count"] = e.codes.count();
    codes["contexts"] = e.codes.contexts();
    codes["entropy_bits"] = e.codes.entropy();
    codes["entropy_bits_in_contexts"] = e.codes.entropy_in_contexts();
    codes["exact"] = e.codes.exact();
    codes["larger"] = e.codes.larger();
    codes["histogram"] = Json::array();
    for (const auto& [code, count] : e.codes.near())
      codes["histogram"].push_back(Json::array({code, count}));
    for (const PredictorCost& cost : costs)
      json["predictors"].push_back(
          {{"recipe", cost.recipe}, {"bits_a_value", cost.bits}, {"entropy_bits", cost.entropy}});
    if (times.all > 0)
      json["seconds"] = {{"predict_and_quantize", times.predict}, {"all", times.all}};
    return json;
  }

  static void print_text(const Explanation& e, const StageTimes& times,
                         const std::vector<PredictorCost>& costs) {
    const auto size = [&](u64 bytes) {
      return fmt::format("{:>12} bytes  {:7.4f} bits a value", bytes, e.bits_a_value(bytes));
    };
    Report report;
    report.add("recipe", e.header.recipe);
    report.add("stream", size(e.stream_bytes));
    for (const Anatomy::Part& part : e.parts)
      if (part.bytes > 0) report.add("  " + part.name, size(part.bytes));
    if (e.body_bytes != e.packed_bytes)
      report.add("  packed", size(e.packed_bytes) + fmt::format(", of {}", e.body_bytes));
    for (size_t level = 0; level < e.level_bytes.size(); ++level)
      report.add(fmt::format("  level {}", level), size(e.level_bytes[level]));
    for (const auto& [kind, chunks] : e.chunks_by_kind)
      report.add("chunks", fmt::format("{} {}", chunks, kind));
    if (e.recipes.size() > 1)
      for (size_t k = 0; k < e.recipes.size(); ++k)
        report.add("  by", fmt::format("{}: {}", e.recipes[k], e.chunks_by_recipe[k]));
    for (const auto& [settings, chunks] : e.settings)
      report.add("settings", fmt::format("{} ({} chunk{})", settings, chunks, chunks == 1 ? "" : "s"));
    report.add("codes", fmt::format("{}, {} of them for values kept exactly", e.codes.count(), e.codes.exact()));
    report.add("entropy", fmt::format("{:.4f} bits a code", e.codes.entropy()));
    if (e.codes.contexts() > 1)
      report.add("", fmt::format("{:.4f} in {} contexts", e.codes.entropy_in_contexts(), e.codes.contexts()));
    if (times.all > 0)
      report.add("time", fmt::format("{:.1f} ms to predict and quantize, {:.1f} ms to encode and pack; one thread",
                                     1e3 * times.predict, 1e3 * std::max(0.0, times.all - times.predict)));
    report.print();
    print_histogram(e);
    if (!costs.empty())
      fmt::print("\nOther predictors, on a sample: bits a value, entropy of a code\n");
    for (const PredictorCost& cost : costs)
      fmt::print("{:>9.4f} {:>9.4f}  {}\n", cost.bits, cost.entropy, cost.recipe);
  }

  // The codes around 0 as bars of text.
  static void print_histogram(const Explanation& e) {
    constexpr i64 kReach = 8;
    constexpr size_t kWidth = 50;
    u64 most = 1;
    for (const auto& [code, count] : e.codes.near()) most = std::max(most, count);
    for (const auto& [code, count] : e.codes.near())
      if (std::abs(code) <= kReach)
        fmt::print("{:>6} {:>7.3f} % {}\n", code, 100 * double(count) / double(e.codes.count()),
                   std::string(size_t(double(kWidth) * double(count) / double(most)), '#'));
  }
};

}  // namespace

void add_explain(CLI::App& verb) {
  const auto self = std::make_shared<Explain>();
  verb.add_option("FIELD", self->input, "raw or .npy file, or a stream (.lwy)")->required();
  self->bound.add_to(verb);
  verb.add_option("--recipe", self->recipe, "name or recipe; balanced if not given");
  verb.add_option("-o,--output", self->output, "write a page with pictures")->type_name("FILE.html");
  verb.add_flag("-f,--force", self->force, "replace the page if it exists");
  self->array.add_to(verb);
  self->work.add_to(verb);
  verb.add_flag("--json", self->json, "report as JSON, with the whole histogram");
  verb.callback([self] { self->run(); });
}

}  // namespace leeway::cli
