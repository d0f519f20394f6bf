// SPDX-License-Identifier: BSD-3-Clause
// Regions: a 64^3 part of 256^3 of generated turbulence beside the whole, by one thread.
#include <benchmark/benchmark.h>

#include <algorithm>

#include "leeway/leeway.hpp"
#include "tools/sample_fields.h"

namespace leeway {
namespace {

const Shape kWhole{256, 256, 256};

const Bytes& stream_of(const std::string& recipe) {
  static const std::vector<float> values = [] {
    const auto kinds = cli::sample_kinds();
    const auto kind =
        std::ranges::find(kinds, std::string_view("turbulence"), &cli::SampleKind::name);
    std::vector<double> made(size_t(kWhole.size()));
    kind->make(kWhole, 1, made);
    return std::vector<float>(made.begin(), made.end());
  }();
  static std::map<std::string, Bytes> streams;
  Bytes& stream = streams[recipe];
  if (stream.empty()) {
    CompressOptions options;
    options.bound = Bound::rel(1e-3);
    options.recipe = recipe;
    stream = compress(values.data(), kWhole, options);
  }
  return stream;
}

void decompress_part(benchmark::State& state, const char* recipe, const Box& region) {
  const MemorySource source(stream_of(recipe));
  const StreamReader reader(source);
  Array part(DType::f32, region.shape);
  for (auto _ : state) decompress_into(reader, region.first, part.view());
}
#define LEEWAY_REGIONS(recipe)                                                  \
  BENCHMARK_CAPTURE(decompress_part, recipe##_whole, #recipe, Box{{}, kWhole}); \
  BENCHMARK_CAPTURE(decompress_part, recipe##_64, #recipe, Box{{64, 128, 0}, {64, 64, 64}})
LEEWAY_REGIONS(fast);
LEEWAY_REGIONS(balanced);
LEEWAY_REGIONS(small);

}  // namespace
}  // namespace leeway
