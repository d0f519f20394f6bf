// SPDX-License-Identifier: BSD-3-Clause
// The verbs `recipes` and `stages`: what there is, from the library's own tables.
#include <memory>

#include "leeway/choose/choose.h"
#include "leeway/recipe/recipe.h"
#include "tools/cli.h"

namespace leeway::cli {

void add_recipes(CLI::App& verb) {
  const auto json = std::make_shared<bool>(false);
  verb.add_flag("--json", *json, "report as JSON");
  verb.callback([json] {
    Json list = Json::array();
    if (!*json)
      fmt::print(
          "Names of other systems (sz..., cuszp2-..., ceresz, ceaz, wavesz..., ghostsz, cpsz, "
          "fpzip-like) stand\nfor re-implementations of their methods: streams are leeway's, and the "
          "originals do not read them.\n\n");
    for (const NamedRecipe& named : named_recipes()) {
      if (*json)
        list.push_back({{"name", named.name}, {"recipe", named.recipe}, {"about", named.about}});
      else
        fmt::print("{:<16}{}{}\n{:<16}{}\n", named.name, named.about,
                   named.name == kDefaultRecipe ? " (default)" : "", "", named.recipe);
    }
    for (const NamedChoice& choice : named_choices()) {
      if (*json)
        list.push_back({{"name", choice.name}, {"recipe", nullptr}, {"about", choice.about}});
      else
        fmt::print("{:<16}{}\n{:<16}chosen for each array\n", choice.name, choice.about, "");
    }
    if (*json)
      fmt::print("{}\n", list.dump(2));
    else
      fmt::print(
          "\nAny recipe may be written out: stage[:key=value,...]+stage+...  See 'leeway "
          "stages'.\n");
  });
}

// Traits that are not what they usually are.
Json traits_of(const StageInfo& stage) {
  Json traits = Json::object();
  stage.traits.fields([&](std::string_view name, auto value, std::string_view) {
    if (value != decltype(value)()) traits[std::string(name)] = value;
  });
  return traits;
}

// What the names of traits mean.
void print_legend(bool markdown) {
  fmt::print("{}", markdown ? "\n| trait | meaning |\n|---|---|\n" : "\ntraits:\n");
  Traits{}.fields([&](std::string_view name, auto, std::string_view about) {
    if (markdown)
      fmt::print("| `{}` | {} |\n", name, about);
    else
      fmt::print("  {:<22}{}\n", name, about);
  });
}

void add_stages(CLI::App& verb) {
  struct Stages {
    bool json = false, markdown = false;
  };
  const auto self = std::make_shared<Stages>();
  verb.add_flag("--json", self->json, "report as JSON");
  verb.add_flag("--markdown", self->markdown, "as the table in docs/ARCHITECTURE.md");
  verb.callback([self] {
    Json list = Json::array();
    if (self->markdown)
      fmt::print("| kind | stage | what it does | parameters | traits |\n|---|---|---|---|---|\n");
    for (const StageInfo& stage : all_stages()) {
      const std::string kind(kKindNames[int(stage.kind)]);
      Json params = Json::array();
      std::string table;
      for (const ParamInfo& p : stage.params) {
        params.push_back(
            {{"name", p.name}, {"default", p.value}, {"range", p.range}, {"about", p.about}});
        table += fmt::format("{}`{}={}` ({}): {}", table.empty() ? "" : "; ", p.name, p.value,
                             p.range, p.about);
      }
      list.push_back({{"name", stage.name},
                      {"kind", kind},
                      {"about", stage.about},
                      {"params", params},
                      {"traits", traits_of(stage)}});
      const std::string traits = print_traits(stage.traits);
      if (self->markdown) {
        fmt::print("| {} | `{}` | {} | {} | {} |\n", kind, stage.name, stage.about,
                   table.empty() ? "-" : table, traits.empty() ? "-" : traits);
      } else if (!self->json) {
        fmt::print("{:<14}{:<10}{}\n", kind, stage.name, stage.about);
        for (const ParamInfo& p : stage.params)
          fmt::print("{:<24}{}={}  ({}) {}\n", "", p.name, p.value, p.range, p.about);
        if (!traits.empty()) fmt::print("{:<24}[{}]\n", "", traits);
      }
    }
    if (self->json)
      fmt::print("{}\n", list.dump(2));
    else
      print_legend(self->markdown);
  });
}

}  // namespace leeway::cli
