// SPDX-License-Identifier: BSD-3-Clause
// The verb `tune`: searches the parameters of a recipe.
#include "leeway/choose/tune.h"

#include <memory>

#include "tools/array_file.h"
#include "tools/cli.h"

namespace leeway::cli {
namespace {

struct Tune {
  std::string recipe, input;
  bool json = false;
  TuneOptions how;
  BoundOptions bound;
  ArrayOptions array;
  WorkOptions work;

  void run() const {
    const ArrayFile in = open_array(input, array);
    CompressOptions options;
    options.bound = bound.bound_for(recipe);
    options.recipe = recipe;
    options.execution = work.execution("tuning");
    const Tuned found = tune(in.view, options, how);
    if (json) return cli::print(to_json(found));
    if (!work.quiet) print_text(found);
  }

  static Json to_json(const Tuned& found) {
    Json json;
    json["recipe"] = found.best().recipe;
    json["bytes"] = found.best().bytes;
    json["bytes_before"] = found.steps.front().bytes;
    json["trials"] = found.trials;
    json["values"] = found.values;
    json["steps"] = Json::array();
    for (const Tuned::Step& step : found.steps)
      json["steps"].push_back({{"recipe", step.recipe}, {"bytes", step.bytes}});
    return json;
  }
  static void print_text(const Tuned& found) {
    for (const Tuned::Step& step : found.steps) fmt::print("{:>12}  {}\n", step.bytes, step.recipe);
    const double gain = 1 - double(found.best().bytes) / double(found.steps.front().bytes);
    fmt::print("{:.1f} % smaller after {} trials on {} values\n", 100 * gain, found.trials,
               found.values);
  }
};

}  // namespace

void add_tune(CLI::App& verb) {
  const auto self = std::make_shared<Tune>();
  verb.add_option("RECIPE", self->recipe, "name or recipe, whose parameters are searched")->required();
  verb.add_option("FIELD", self->input, "raw or .npy file")->required();
  self->bound.add_to(verb);
  verb.add_option("--trials", self->how.most_trials, "streams to make at most; 200 if not given")
      ->type_name("N");
  verb.add_option("--sample", self->how.most_values,
                  "values of the middle of the field to try on; 1048576 if not given")
      ->type_name("N");
  self->array.add_to(verb);
  self->work.add_to(verb);
  verb.add_flag("--json", self->json, "report as JSON");
  verb.callback([self] { self->run(); });
}

}  // namespace leeway::cli
