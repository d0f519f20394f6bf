// SPDX-License-Identifier: BSD-3-Clause
// The verb `advise`: which bound to take for a field; with a bound, which preset, and why.
#include "leeway/choose/advise.h"

#include <algorithm>
#include <memory>

#include "tools/advise_bound.h"
#include "tools/array_file.h"
#include "tools/cli.h"

namespace leeway::cli {
namespace {

double ratio_of(const Advice& advice) { return advice.ratio; }

// What matters, how it chooses among what was tried, and what to try beside the presets.
struct Aim {
  const char* name;
  const char* why;
  double (*merit)(const Advice&);
  std::vector<std::string> recipes{};
};
const Aim kAims[] = {
    {"ratio", "the smallest stream", ratio_of, {"plain", "sz3-lr", "linear+arithmetic"}},
    {"pastri",
     "the smallest stream of electron integrals",
     ratio_of,
     {"sz-pastri", "sz-pastri-zstd", "sz3-pastri", "eri"}},
    {"counts", "the smallest stream of counts", ratio_of, {"sz3-aps", "plain", "lossless"}},
    {"speed", "the fastest, compressing and decompressing together",
     [](const Advice& a) { return 1 / (1 / a.compress_mb_s + 1 / a.decompress_mb_s); }},
    {"disk", "the least time to compress and to write to a disk of 500 MB/s",
     [](const Advice& a) { return 1 / (1 / a.compress_mb_s + 1 / (500 * a.ratio)); }},
    {"network", "the least time to compress and to send over a line of 20 MB/s",
     [](const Advice& a) { return 1 / (1 / a.compress_mb_s + 1 / (20 * a.ratio)); }},
};

struct Advise {
  std::string input, aim = "disk";
  std::string output;
  std::vector<std::string> recipes, wants;
  bool json = false, force = false;
  BoundOptions bound;
  ArrayOptions array;
  WorkOptions work;

  void run() const {
    const auto* chosen_aim =
        std::ranges::find_if(kAims, [&](const Aim& known) { return known.name == aim; });
    if (chosen_aim == std::end(kAims))
      fail_argument("there is no aim '" + aim + "'; there are " + names_of_aims());
    if (!bound.any()) return which_bound();
    if (!wants.empty() || !output.empty())
      fail_argument("with a bound, advise says which recipe to take: leave out --want and -o");
    CompressOptions options;
    options.bound = bound.bound();
    options.execution = work.execution("trying");
    options.execution.progress = nullptr;
    const ArrayFile in = open_array(input, array);
    std::vector<std::string> tried = recipes;
    if (tried.empty()) {
      tried = presets();
      tried.insert(tried.end(), chosen_aim->recipes.begin(), chosen_aim->recipes.end());
    }
    const std::vector<Advice> all = advise(in.view, options, tried);
    const Advice& best = *std::ranges::max_element(all, {}, chosen_aim->merit);
    if (json)
      print_json(all, best, *chosen_aim);
    else
      print_text(all, best, *chosen_aim);
  }

  void which_bound() const {
    if (recipes.size() > 1) fail_argument("a bound is found for one recipe: --recipes NAME");
    const std::string recipe = recipes.empty() ? "small" : recipes[0];
    AdviseBound{input, output, wants, recipe, json, force, array, work}.run();
  }

  static std::string names_of_aims() {
    std::string names;
    for (const Aim& known : kAims) names += (names.empty() ? "" : ", ") + std::string(known.name);
    return names;
  }

  static void print_json(const std::vector<Advice>& all, const Advice& best, const Aim& aim) {
    Json result;
    result["choice"] = best.recipe;
    result["for"] = aim.name;
    result["why"] = aim.why;
    for (const Advice& advice : all)
      result["tried"].push_back({{"recipe", advice.recipe},
                                 {"ratio", advice.ratio},
                                 {"compress_mb_s", advice.compress_mb_s},
                                 {"decompress_mb_s", advice.decompress_mb_s},
                                 {"max_error", advice.max_error}});
    fmt::print("{}\n", result.dump(2));
  }

  void print_text(const std::vector<Advice>& all, const Advice& best, const Aim& aim) const {
    fmt::print("{:<24} {:>8} {:>10} {:>12}\n", "recipe", "ratio", "comp MB/s", "decomp MB/s");
    for (const Advice& advice : all)
      fmt::print("{:<24} {:>8.2f} {:>10.0f} {:>12.0f}\n", advice.recipe, advice.ratio,
                 advice.compress_mb_s, advice.decompress_mb_s);
    fmt::print("take {}: {} (--for {}); measured on a part of the field\n", best.recipe, aim.why,
               aim.name);
  }
};

}  // namespace

void add_advise(CLI::App& verb) {
  const auto self = std::make_shared<Advise>();
  verb.add_option("FIELD", self->input,
                  "raw or .npy file; file.nc:NAME, or file.nc for all its variables")
      ->required();
  verb.add_option("--want", self->wants,
                  "without a bound: the largest one that meets a requirement: dssim=0.9995, "
                  "ratio=30, spectrum=1%@0.5nyquist, gradient=1%, or a score of 'leeway report' "
                  "like r2>=0.99999")
      ->type_name("SCORE=V")
      ->expected(1)
      ->take_all();
  verb.add_option("-o,--output", self->output,
                  "without a bound, for a file: write the suggestions as a bounds file, which "
                  "'leeway compress --bounds-file' takes")
      ->type_name("OUT.toml");
  verb.add_flag("-f,--force", self->force, "replace OUT if it exists");
  self->bound.add_to(verb);
  verb.add_option("--for", self->aim,
                  "what matters: " + Advise::names_of_aims() + "; disk if not given")
      ->type_name("AIM");
  add_recipe_list(verb, self->recipes,
                  "names or recipes to try; the presets and some for the aim if not given. Without "
                  "a bound: the one to find it for, small if not given");
  self->array.add_to(verb);
  self->work.add_to(verb);
  verb.add_flag("--json", self->json, "report as JSON");
  verb.callback([self] { self->run(); });
}

}  // namespace leeway::cli
