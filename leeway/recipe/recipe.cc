// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/recipe/recipe.h"

#include <algorithm>
#include <memory>

#include "leeway/base/environment.h"
#include "leeway/stage/erased.h"
#include "leeway/recipe/stage_call.h"

namespace leeway {
namespace {

// One line a name. What stands here may change its recipe until 1.0; streams carry the recipe
// itself.
constexpr NamedRecipe kNamed[] = {
    {"balanced",
     "pyramid:taps=0+linear:range=1+rans|linear:range=1+lorenzo+rans|"
     "interp+linear:range=1+huffman+zstd:level=6|linear:range=1+lorenzo:axes=0+pack",
     "the default: small streams at a good speed"},
    {"fast", "linear+lorenzo:axes=0+pack", "several times as fast, streams larger"},
    {"small",
     "pyramid+linear:range=1+rans|pyramid:taps=0+linear:range=1+rans|"
     "linear:range=1+lorenzo+rans|interp+linear:range=1+huffman+zstd:level=6|"
     "linear:range=1+lorenzo:axes=0+pack",
     "smaller streams, at some hundred MB/s"},
    {"smallest",
     "pyramid:taps=28,every=4,gain=0+linear:range=1+rans|pyramid+linear:range=1+rans|"
     "pyramid:taps=0+linear:range=1+rans|linear:range=1+lorenzo+rans|"
     "interp+linear:range=1+huffman+zstd:level=6|linear:range=1+lorenzo:axes=0+pack",
     "the smallest streams; takes its time"},
    {"ceaz", "linear+lorenzo+adaptive+zstd", "CEAZ: Huffman in one pass, with books that follow"},
    {"ceresz", "linear+blocks+fixed:outlier=0,head=4", "the block codec of CereSZ"},
    {"cuszp2-outlier", "linear+blocks+fixed", "the block codec of cuSZp2, outlier mode"},
    {"cuszp2-plain", "linear+blocks+fixed:outlier=0", "the block codec of cuSZp2, plain mode"},
    {"ghostsz", "ghost+linear:bins=16384+raw+deflate:level=1", "GhostSZ, the baseline of waveSZ"},
    {"lossless", "exact+lorenzo+huffman+zstd", "every value bit for bit, whatever the bound"},
    {"sz1.0", "ghost:through=decoded+linear:bins=2+raw+gzip:level=1",
     "SZ-1.0: the best of three curves, or the value as it is"},
    {"sz1.4", "lorenzo+linear:bins=65536+huffman+deflate:level=1",
     "SZ-1.4: predicts from reconstructed values"},
    {"sz-pwr", "lorenzo+linear+huffman+zstd",
     "SZ with bounds relative to each value: give it --pointwise"},
    {"sz-pastri", "linear+pattern:scale=peak+fixed-huffman", "PaSTRI, for electron integrals"},
    {"sz-pastri-zstd", "linear+pattern:scale=peak+fixed-huffman+zstd", "the same with zstd"},
    {"sz3-pastri", "linear:bins=128,beyond=planes+pattern+huffman+zstd",
     "SZ3 for electron integrals"},
    {"eri", "linear+cross+rans", "electron integrals: blocks as matrices of low rank"},
    {"fpzip-like", "lorenzo+exact+residual", "as FPZIP: no loss, whatever the bound"},
    {"sz2", "composite+linear+huffman+zstd:level=6", "SZ2, the same as sz3-lr"},
    {"sz3-lr", "composite+linear+huffman+zstd:level=6",
     "Lorenzo or regression for each block, as SZ3"},
    {"sz3-truncation", "truncate+raw", "values with as few bytes as the bound needs; fast, large"},
    {"wavesz", "wavefront+linear:step=pow2,bins=65536+raw+deflate:level=1",
     "waveSZ: SZ-1.4 for hardware, without a Huffman code"},
    {"wavesz-huffman", "wavefront+linear:step=pow2,bins=65536+huffman+deflate:level=1",
     "the same with a Huffman code before deflate"},
    {"wavesz-rtl", "wavefront+linear:step=pow2,bins=65536,second=0+raw+deflate:level=1",
     "waveSZ as the design in rtl/ computes it: in f32 alone"},
    {"sz3", "interp+linear+huffman+zstd:level=1|composite+linear+huffman+zstd:level=6",
     "SZ3's own choice: interpolation, or Lorenzo and regression"},
    {"sz3-interp", "interp+linear+huffman+zstd:level=1", "the interpolation of SZ3"},
    {"sz3-pastri-printed", "linear:bins=128,beyond=planes+pattern+fixed-huffman+zstd",
     "SZ3 for electron integrals with the encoder that its paper draws"},
    {"sz3-aps-printed",
     "transpose:order=231+lorenzo:axes=1+linear:bins=128,beyond=planes+fixed-huffman",
     "SZ3 for photon counts below a bound of 0.5 as its paper draws it"},
    {"plain", "linear+huffman", "no prediction: for values without neighbours"},
};

StageCall parse_stage(std::string_view text) {
  const size_t colon = text.find(':');
  StageCall call{std::string(text.substr(0, colon)),
                 colon == std::string_view::npos ? "" : std::string(text.substr(colon + 1)),
                 Kind::predictor,
                 {}};
  if (colon != std::string_view::npos && call.params.empty())
    fail_argument("stage '" + call.name + "': nothing follows the ':'");
  const bool known = with_type(AllStages{}, call.name, [&]<class S>(std::type_identity<S>) {
    const auto stage = std::make_shared<const S>(configured<S>(call.params));
    call.kind = S::kKind;
    call.params = print_params(stage->params);
    call.stage = stage;
  });
  if (known) return call;
  for (const NamedRecipe& named : kNamed)
    if (named.name == call.name)
      fail_argument("'" + call.name + "' is a whole recipe: it stands alone, without parameters. " +
                    "It is short for " + std::string(named.recipe));
  std::string names;
  for (const StageInfo& info : all_stages())
    names += (names.empty() ? "" : ", ") + std::string(info.name);
  for (const NamedRecipe& named : kNamed) names += ", " + std::string(named.name);
  fail_argument((call.name.empty() ? "a stage is missing"
                                   : "there is no stage or recipe '" + call.name + "'") +
                "; there are: " + names);
}

void check_kinds(const Recipe& recipe) {
  std::vector<Kind> kinds;
  const auto named = [&](size_t i) {
    return "'" + recipe.stages[i].name + "' (" + std::string(kKindNames[int(kinds[i])]) + ")";
  };
  for (size_t i = 0; i < recipe.stages.size(); ++i) {
    kinds.push_back(recipe.stages[i].kind);
    const Rule rule = broken_by(kinds);
    if (rule == Rule::order_of_kinds)
      fail_argument(named(i) + " cannot follow " + named(i - 1) + "; " +
                    std::string(text_of(rule)));
    if (rule != Rule::none) fail_argument("a recipe has " + std::string(text_of(rule)));
  }
}

// All rules but those of single element types.
void check_rules(const Recipe& recipe) {
  check_kinds(recipe);
  const Order order = order_of(recipe);
  const auto check = [&](Rule rule) {
    if (rule != Rule::none) fail_rule(recipe, rule);
  };
  with_join(recipe, [&]<class P, class Q>(const P&, const Q& q) {
    check(order == Order::predict_first ? broken_by<float, P, Q>(Order::predict_first)
                                        : broken_by<float, P, Q>(Order::quantize_first));
    check(broken_by_parameters<P>(q));
    for (const StageCall& call : recipe.stages)
      with_stage(Preprocessors{}, call, [&]<class S>(const S& stage) {
        check(order == Order::predict_first
                  ? broken_before<float, S>(Order::predict_first, Q::kTraits)
                  : broken_before<float, S>(Order::quantize_first, Q::kTraits));
        check(broken_before(stage, order));
      });
  });
}

Recipe parse_alternative(std::string_view text) {
  Recipe recipe;
  for (const std::string_view part : split(text, '+')) recipe.stages.push_back(parse_stage(part));
  check_rules(recipe);
  return recipe;
}

bool changes_bound(const Recipe& recipe) {
  bool changes = false;
  for (const StageCall& call : recipe.stages)
    with_stage(Preprocessors{}, call,
               [&]<class S>(const S&) { changes |= detail::ChangesBound<S, float>; });
  return changes;
}

// What all alternatives of a recipe must have in common: they share bounds.
void check_alternatives(const Recipe& recipe) {
  if (recipe.others.size() + 1 > kMostAlternatives)
    fail_argument("a recipe has at most " + std::to_string(kMostAlternatives) + " alternatives");
  for (const Recipe& other : recipe.others)
    if (changes_bound(other) != changes_bound(recipe) || is_by_value(other) != is_by_value(recipe))
      fail_argument("the alternatives '" + to_string(Recipe{recipe.stages, {}}) + "' and '" +
                    to_string(other) + "' take bounds of different kinds");
}

}  // namespace

std::span<const NamedRecipe> named_recipes() { return kNamed; }

std::vector<StageInfo> all_stages() {
  std::vector<StageInfo> infos;
  const auto add = [&]<class... S>(List<S...>) {
    (infos.push_back({S::kName, S::kAbout, S::kKind, S::kTraits, param_table(S().params)}), ...);
  };
  add(AllStages{});
  return infos;
}

const std::type_info* library_stage(std::string_view name) {
  const std::type_info* type = nullptr;
  with_type(AllStages{}, name, [&]<class S>(std::type_identity<S>) { type = &typeid(S); });
  return type;
}

Recipe parse_recipe(std::string_view text) {
  const DefaultFloatingPoint environment;
  if (text.empty()) fail_argument("the recipe is empty");
  if (text.size() > kMostRecipeText)
    fail_argument("a recipe has at most " + std::to_string(kMostRecipeText) + " characters");
  for (const NamedRecipe& named : kNamed)
    if (named.name == text) return parse_recipe(named.recipe);
  if (text.find('|') == std::string_view::npos) return parse_alternative(text);
  Recipe recipe;
  for (const std::string_view part : split(text, '|'))
    for (Recipe& alternative : alternatives_of(parse_recipe(part)))
      recipe.others.push_back(std::move(alternative));
  recipe.stages = std::move(recipe.others.front().stages);
  recipe.others.erase(recipe.others.begin());
  check_alternatives(recipe);
  return recipe;
}

std::vector<Recipe> alternatives_of(const Recipe& recipe) {
  std::vector<Recipe> all{{recipe.stages, {}}};
  all.insert(all.end(), recipe.others.begin(), recipe.others.end());
  return all;
}

Recipe with_first(std::string_view stage, Recipe recipe) {
  const DefaultFloatingPoint environment;
  recipe.stages.insert(recipe.stages.begin(), parse_stage(stage));
  check_rules({recipe.stages, {}});
  for (Recipe& other : recipe.others) other = with_first(stage, std::move(other));
  return recipe;
}

bool has_stage(const Recipe& recipe, std::string_view name) {
  return std::ranges::any_of(recipe.stages,
                             [&](const StageCall& call) { return call.name == name; });
}

bool is_for(const Recipe& recipe, DType dtype) {
  const DefaultFloatingPoint environment;
  const bool floating =
      visit_dtype(dtype, []<class T>(std::type_identity<T>) { return is_floating<T>; });
  if (!visit_dtype(dtype, []<class T>(std::type_identity<T>) { return kIsCompiled<T>; }))
    return false;
  const auto is_possible = [&](const StageCall& call) {
    bool possible = true;
    with_stage(AllStages{}, call,
               [&]<class S>(const S&) { possible = floating || !S::kTraits.floating_only; });
    return possible;
  };
  return std::ranges::any_of(alternatives_of(recipe), [&](const Recipe& alternative) {
    return std::ranges::all_of(alternative.stages, is_possible);
  });
}

bool predicts_first(const Recipe& recipe) {
  const StageCall* predictor = find_stage(recipe, Kind::predictor);
  const StageCall* quantizer = find_stage(recipe, Kind::quantizer);
  return predictor && quantizer && predictor < quantizer;
}

Bound bound_of(const Recipe& recipe) {
  const DefaultFloatingPoint environment;
  if (!recipe.others.empty() || changes_bound(recipe)) return {};
  const StageCall* quantizer = find_stage(recipe, Kind::quantizer);
  if (!quantizer || quantizer->name == Exact::kName) {
    const bool computes = std::ranges::any_of(recipe.stages, [](const StageCall& call) {
      bool found = false;
      with_stage(Preprocessors{}, call, [&]<class S>(const S&) { found = !S::kTraits.moves_only; });
      return found;
    });
    return computes ? Bound() : Bound::lossless();
  }
  bool has_bits = false;
  with_stage(List<Truncate>{}, *quantizer,
             [&](const Truncate& stage) { has_bits = stage.params.bits > 0; });
  constexpr double kAny = 1e300;  // the largest bound that is usable
  return has_bits ? Bound::abs(kAny) : Bound();
}

bool is_by_value(const Recipe& recipe) {
  const DefaultFloatingPoint environment;
  const StageCall* quantizer = find_stage(recipe, Kind::quantizer);
  bool by_value = false;
  if (quantizer)
    with_stage(Quantizers{}, *quantizer,
               [&]<class Q>(const Q&) { by_value = Q::kTraits.by_value; });
  return by_value;
}

std::string to_string(const Recipe& recipe) {
  std::string text;
  for (const StageCall& call : recipe.stages)
    text += (text.empty() ? "" : "+") + call.name + (call.params.empty() ? "" : ":" + call.params);
  for (const Recipe& other : recipe.others) text += "|" + to_string(other);
  return text;
}

}  // namespace leeway
