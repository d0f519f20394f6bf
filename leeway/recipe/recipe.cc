// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/recipe/recipe.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "leeway/recipe/all_stages.h"

namespace leeway {
namespace {

// One line a name. What stands here may change its recipe until 1.0; streams carry the recipe itself.
constexpr NamedRecipe kNamed[] = {
    {"balanced", "linear+lorenzo+huffman+zstd", "the default: small streams at a good speed"},
    {"feedback", "lorenzo+linear+huffman+zstd", "predicts from reconstructed values, as SZ-1.4 does"},
    {"lossless", "exact+lorenzo+huffman+zstd", "every value bit for bit, whatever the bound"},
    {"plain", "linear+huffman", "no prediction: for values without neighbours"},
};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

[[noreturn]] void fail(const std::string& message) { throw Error(Errc::invalid_argument, message); }

template <class S>
S configured(std::string_view params) {
  S stage;
  if (params.empty()) return stage;
  for (const std::string_view assignment : split(params, ',')) {
    const size_t equals = assignment.find('=');
    if (equals == std::string_view::npos)
      fail("stage '" + std::string(S::kName) + "': expected key=number, not '" + std::string(assignment) + "'");
    set_param(stage.params, S::kName, assignment.substr(0, equals), assignment.substr(equals + 1));
  }
  return stage;
}

// Calls f(stage) with the configured stage of that name, if the list has one.
template <class... S, class F>
bool with_stage(List<S...>, const StageCall& call, F&& f) {
  return ((S::kName == call.name ? (f(configured<S>(call.params)), true) : false) || ...);
}

StageCall parse_stage(std::string_view text) {
  const size_t colon = text.find(':');
  StageCall call{std::string(text.substr(0, colon)),
                 colon == std::string_view::npos ? "" : std::string(text.substr(colon + 1)), Kind::predictor};
  if (colon != std::string_view::npos && call.params.empty())
    fail("stage '" + call.name + "': nothing follows the ':'");
  const bool known = with_stage(AllStages{}, call, [&]<class S>(const S& stage) {
    call.kind = S::kKind;
    call.params = print_params(stage.params);
  });
  if (known) return call;
  std::string names;
  for (const StageInfo& info : all_stages()) names += (names.empty() ? "" : ", ") + std::string(info.name);
  for (const NamedRecipe& named : kNamed) names += ", " + std::string(named.name);
  fail((call.name.empty() ? "a stage is missing" : "there is no stage or recipe '" + call.name + "'") +
       "; there are: " + names);
}

const StageCall* find(const Recipe& recipe, Kind kind) {
  const auto found = std::ranges::find(recipe.stages, kind, &StageCall::kind);
  return found == recipe.stages.end() ? nullptr : &*found;
}

// Where a kind may stand; predictor and quantizer share a place.
int place_of(Kind kind) { return kind == Kind::quantizer ? int(Kind::predictor) : int(kind); }

void check_order(const Recipe& recipe) {
  for (size_t i = 1; i < recipe.stages.size(); ++i) {
    const StageCall &before = recipe.stages[i - 1], &stage = recipe.stages[i];
    if (place_of(before.kind) > place_of(stage.kind))
      fail("'" + stage.name + "' (" + std::string(kKindNames[int(stage.kind)]) + ") cannot follow '" + before.name +
           "' (" + std::string(kKindNames[int(before.kind)]) +
           "); the order is preprocessors, predictor and quantizer, encoder, lossless");
  }
  for (const Kind kind : {Kind::predictor, Kind::quantizer, Kind::encoder})
    if (std::ranges::count(recipe.stages, kind, &StageCall::kind) > 1)
      fail("a recipe has at most one " + std::string(kKindNames[int(kind)]));
}

// Joins predictor and quantizer in the order the recipe names them.
template <class T>
std::unique_ptr<Transform<T>> make_transform(const Recipe& recipe) {
  const StageCall* predictor = find(recipe, Kind::predictor);
  const StageCall* quantizer = find(recipe, Kind::quantizer);
  const StageCall exact{std::string(Exact::kName), "", Kind::quantizer};
  const bool predicts_first = predictor && quantizer && predictor < quantizer;
  std::unique_ptr<Transform<T>> transform;
  with_stage(Quantizers{}, quantizer ? *quantizer : exact, [&]<class Q>(const Q& q) {
    if (!predictor) {
      transform = std::make_unique<Dual<T, Q, NoPredictor>>(q, NoPredictor());
      return;
    }
    with_stage(Predictors{}, *predictor, [&]<class P>(const P& p) {
      if (predicts_first) {
        if constexpr (FeedbackPredictor<P, T>) transform = std::make_unique<Feedback<T, P, Q>>(p, q);
      } else {
        if constexpr (IntegerPredictor<P>) transform = std::make_unique<Dual<T, Q, P>>(q, p);
      }
    });
  });
  if (!transform)
    fail("'" + predictor->name + "' cannot stand " + (predicts_first ? "before" : "behind") + " the quantizer");
  return transform;
}

template <class T>
std::shared_ptr<const ChunkCodec> make_typed_codec(const Recipe& recipe) {
  Pipeline<T> pipeline;
  pipeline.transform = make_transform<T>(recipe);
  pipeline.encoder = erase_encoder(Raw());
  for (const StageCall& call : recipe.stages) {
    with_stage(Encoders{}, call, [&](const auto& stage) { pipeline.encoder = erase_encoder(stage); });
    with_stage(LosslessStages{}, call,
               [&](const auto& stage) { pipeline.lossless.push_back(erase_lossless(stage)); });
  }
  return std::make_shared<const TypedChunkCodec<T>>(std::move(pipeline));
}

}  // namespace

std::span<const NamedRecipe> named_recipes() { return kNamed; }

std::vector<StageInfo> all_stages() {
  std::vector<StageInfo> infos;
  const auto add = [&]<class... S>(List<S...>) {
    (infos.push_back({S::kName, S::kAbout, S::kKind, param_table(S().params)}), ...);
  };
  add(AllStages{});
  return infos;
}

Recipe parse_recipe(std::string_view text) {
  if (text.empty()) fail("the recipe is empty");
  for (const NamedRecipe& named : kNamed)
    if (named.name == text) return parse_recipe(named.recipe);
  Recipe recipe;
  for (const std::string_view part : split(text, '+')) recipe.stages.push_back(parse_stage(part));
  check_order(recipe);
  make_transform<float>(recipe);  // throws if the order of predictor and quantizer is not possible
  return recipe;
}

std::string to_string(const Recipe& recipe) {
  std::string text;
  for (const StageCall& call : recipe.stages)
    text += (text.empty() ? "" : "+") + call.name + (call.params.empty() ? "" : ":" + call.params);
  return text;
}

std::shared_ptr<const ChunkCodec> make_codec(const Recipe& recipe, DType dtype) {
  return visit_dtype(dtype, [&]<class T>(std::type_identity<T>) { return make_typed_codec<T>(recipe); });
}

}  // namespace leeway
