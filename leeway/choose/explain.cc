// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/choose/explain.h"

#include <algorithm>
#include <chrono>

#include "leeway/base/environment.h"
#include "leeway/choose/advise.h"
#include "leeway/codec/make_codec.h"
#include "leeway/engine/execution.h"
#include "leeway/leeway.hpp"
#include "leeway/recipe/recipe.h"

namespace leeway {
namespace {

const char* name_of(Payload kind) {
  switch (kind) {
    case Payload::constant:
      return "constant";
    case Payload::coded:
    case Payload::levels:
      return "coded";
    case Payload::narrow:
      return "coded, codes of 16 bits";
    case Payload::tightened:
      return "coded with a smaller bound";
    case Payload::lossless:
      return "without loss";
    case Payload::stored:
      return "stored";
    default:
      return "in layers";
  }
}

void add(const Anatomy& chunk, Explanation& all) {
  ++all.chunks_by_kind[name_of(chunk.kind)];
  if (follows_recipe(chunk.kind)) ++all.chunks_by_recipe[chunk.alternative];
  all.body_bytes += chunk.body_bytes;
  all.packed_bytes += chunk.packed_bytes;
  if (!chunk.settings.empty()) ++all.settings[chunk.settings];
  for (const Anatomy::Part& part : chunk.parts) {
    const auto known = std::ranges::find(all.parts, part.name, &Anatomy::Part::name);
    if (known == all.parts.end())
      all.parts.push_back(part);
    else
      known->bytes += part.bytes;
  }
  // An entry of the table has all coarser levels, too.
  if (const auto& ends = chunk.level_bytes; !ends.empty()) {
    all.level_bytes.resize(std::max(all.level_bytes.size(), ends.size() + 1));
    u64 finer = chunk.body_bytes;
    for (size_t level = 0; level <= ends.size(); ++level) {
      const u64 coarser = level < ends.size() ? ends[level] : 0;
      all.level_bytes[level] += finer - std::min(finer, coarser);
      finer = coarser;
    }
  }
  all.codes.add(chunk.codes);
}

// A recipe with every predictor there is, before and after the quantizer, and with none.
std::vector<std::string> with_other_predictors(const std::string& text) {
  const Recipe recipe{parse_recipe(text).stages, {}};
  std::string before, quantizer = "exact", after;
  for (const StageCall& call : recipe.stages) {
    if (call.kind == Kind::predictor) continue;
    const std::string stage = to_string(Recipe{{call}, {}});
    if (call.kind == Kind::preprocessor)
      before += stage + "+";
    else if (call.kind == Kind::quantizer)
      quantizer = stage;
    else
      after += "+" + stage;
  }
  std::vector<std::string> all{to_string(recipe), before + quantizer + after};
  for (const StageInfo& stage : all_stages()) {
    if (stage.kind != Kind::predictor) continue;
    const std::string name(stage.name);
    all.push_back(before + name + "+" + quantizer + after);
    all.push_back(before + quantizer + "+" + name + after);
  }
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Explanation explain(const StreamReader& stream, const Execution& execution) {
  const DefaultFloatingPoint environment;
  const Header& header = stream.header();
  Explanation all;
  all.header = header;
  all.stream_bytes = stream.bytes();
  all.chunks = stream.chunks();
  const Recipe recipe = parse_recipe(header.recipe);
  for (const Recipe& alternative : alternatives_of(recipe))
    all.recipes.push_back(to_string(alternative));
  all.chunks_by_recipe.resize(all.recipes.size());
  const auto codec = make_codec(recipe, header.dtype);
  Meter meter(execution.progress, double(stream.chunks()));
  for (u64 i = 0; i < stream.chunks(); ++i) {
    Bytes storage;
    const auto [head, payload] = stream.read_chunk(i, storage);
    all.payload_bytes += payload.size();
    all.special += head.special;
    all.exact += head.exact;
    Anatomy chunk;
    if (!payload.empty() && Payload(payload.front()) == Payload::layered)
      chunk.kind = Payload::layered;
    else
      codec->explain(payload, header.chunk_box(i).shape.squeezed(), head.bound, chunk);
    add(chunk, all);
    meter.add(1);
  }
  return all;
}

std::vector<PredictorCost> predictor_costs(const View& array, const CompressOptions& options) {
  const DefaultFloatingPoint environment;
  constexpr u64 kSample = u64(1) << 16;
  if (array.shape.size() == 0) return {};
  CompressOptions trial = options;
  trial.bound = absolute_limits(array, options);
  const View part = middle_part(array, kSample);
  std::vector<PredictorCost> costs;
  for (const std::string& recipe : with_other_predictors(options.recipe)) {
    trial.recipe = recipe;
    try {
      if (!is_for(parse_recipe(recipe), array.dtype)) continue;
      const Bytes stream = compress(part, trial);
      const MemorySource source(stream);
      const Explanation found = explain(StreamReader(source), options.execution);
      costs.push_back({found.header.recipe, found.bits_a_value(found.stream_bytes),
                       found.codes.entropy_in_contexts()});
    } catch (const Error&) {
      continue;  // stages that do not fit together
    }
  }
  std::ranges::stable_sort(costs, {}, &PredictorCost::bits);
  return costs;
}

StageTimes time_stages(const View& array, const Header& header) {
  const DefaultFloatingPoint environment;
  const auto codec = make_codec(parse_recipe(header.recipe), header.dtype);
  const Mask mask{header.fills, true};
  StageTimes times;
  const u64 chunks = header.grid().size();
  for (u64 i = 0; i < chunks; ++i) {
    const View chunk = array.part(header.chunk_box(i)).squeezed();
    Buffer<std::byte> values(size_t(chunk.shape.size()) * size_of(chunk.dtype));
    copy(chunk, MutableView(values.data(), chunk.dtype, chunk.shape));
    Writer payload;
    auto start = std::chrono::steady_clock::now();
    codec->compress(chunk, ChunkBound(header.abs_bound), mask, payload);
    times.all += seconds_since(start);
    if (!(header.abs_bound > 0)) continue;
    start = std::chrono::steady_clock::now();
    codec->measure(values.data(), chunk.shape, ChunkBound(header.abs_bound), mask);
    times.predict += seconds_since(start);
  }
  return times;
}

}  // namespace leeway
