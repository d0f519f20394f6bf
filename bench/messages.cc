// SPDX-License-Identifier: BSD-3-Clause
// Small messages through the C interface: the time to compress and decompress one.
#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

#include "leeway/leeway.h"

namespace {

void small_message(benchmark::State& state) {
  std::vector<float> values(size_t(state.range(0)) / sizeof(float)), decoded(values.size());
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(std::sin(0.02 * double(i)) + 0.01 * std::sin(double(i * i % 1009)));
  const uint64_t shape[] = {values.size()};
  const leeway_array array{values.data(), LEEWAY_F32, 1, shape, nullptr};
  const leeway_array target{decoded.data(), LEEWAY_F32, 1, shape, nullptr};
  leeway_context* context = leeway_create();
  leeway_set_recipe(context, "fast");
  leeway_set_bound(context, "abs", 1e-3);
  size_t capacity = 0, size = 0;
  leeway_max_compressed_size(context, &array, &capacity);
  std::vector<char> stream(capacity);
  for (auto _ : state) {
    if (leeway_compress_into(context, &array, stream.data(), capacity, &size) != LEEWAY_OK ||
        leeway_decompress(context, stream.data(), size, &target) != LEEWAY_OK)
      state.SkipWithError(leeway_message(context));
  }
  state.counters["ratio"] = double(state.range(0)) / double(size);
  leeway_destroy(context);
}
BENCHMARK(small_message)->Arg(1 << 10)->Arg(4 << 10)->Arg(16 << 10)->Arg(64 << 10);

}  // namespace
