// SPDX-License-Identifier: BSD-3-Clause
// Micro-benchmarks of the stages on one chunk of a smooth random field; bytes are those of the
// values.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "leeway/base/hash.h"
#include "leeway/encode/adaptive.h"
#include "leeway/encode/huffman.h"
#include "leeway/encode/pack.h"
#include "leeway/leeway.hpp"
#include "leeway/lossless/zstd.h"
#include "leeway/predict/wavefront_test.h"
#include "leeway/quantize/linear.h"

namespace leeway {
namespace {

const Shape kShape{64, 64, 256};

template <class T>
std::vector<T> field() {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  std::vector<T> values(size_t(kShape.size()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = T(std::sin(double(i % 256) * 0.05) + std::cos(double(i / 256) * 0.03) +
                  0.004 * normal(random));
  return values;
}

template <class T>
void count_bytes(benchmark::State& state) {
  state.SetBytesProcessed(i64(state.iterations()) * i64(kShape.size() * sizeof(T)));
}

// The differences that the encoders get to see.
std::vector<i32> residuals() {
  auto values = field<float>();
  std::vector<i32> codes(values.size());
  Patches<float> exact;
  LinearGrid<float>(1e-3).quantize(std::span(values), std::span(codes), exact);
  Writer side;
  Lorenzo().forward(Field<u32>{reinterpret_cast<u32*>(codes.data()), kShape}, side);
  return codes;
}

void copy_memory(benchmark::State& state) {
  const auto values = field<float>();
  auto target = values;
  for (auto _ : state) {
    std::memcpy(target.data(), values.data(), values.size() * sizeof(float));
    benchmark::ClobberMemory();
  }
  count_bytes<float>(state);
}
BENCHMARK(copy_memory);

template <class T>
void linear_quantize(benchmark::State& state) {
  const auto original = field<T>();
  auto values = original;
  std::vector<Code<T>> codes(values.size());
  for (auto _ : state) {
    Patches<T> exact;
    benchmark::DoNotOptimize(
        LinearGrid<T>(1e-3).quantize(std::span(values), std::span(codes), exact));
  }
  count_bytes<T>(state);
}
BENCHMARK(linear_quantize<float>);
BENCHMARK(linear_quantize<double>);

void linear_recover(benchmark::State& state) {
  auto values = field<float>();
  std::vector<i32> codes(values.size());
  Patches<float> exact;
  const LinearGrid<float> grid(1e-3);
  grid.quantize(std::span(values), std::span(codes), exact);
  for (auto _ : state) {
    grid.recover(std::span<const i32>(codes), std::span(values));
    benchmark::ClobberMemory();
  }
  count_bytes<float>(state);
}
BENCHMARK(linear_recover);

void lorenzo_forward(benchmark::State& state) {
  std::vector<u32> codes(size_t(kShape.size()), 3);
  Writer side;
  for (auto _ : state) Lorenzo().forward(Field<u32>{codes.data(), kShape}, side);
  count_bytes<float>(state);
}
BENCHMARK(lorenzo_forward);

void lorenzo_backward(benchmark::State& state) {
  std::vector<u32> codes(size_t(kShape.size()), 3);
  Reader side({});
  for (auto _ : state) Lorenzo().backward(Field<u32>{codes.data(), kShape}, side);
  count_bytes<float>(state);
}
BENCHMARK(lorenzo_backward);

// The loop of SZ on one chunk, value by value and in waves.
template <class T, bool waves, bool decodes>
void feedback_loop(benchmark::State& state) {
  const Shape shape{16, 32, 256};
  const auto original = field<T>();
  test::Loop<T> loop{LinearGrid<T>(1e-3), waves};
  auto values = original;
  const Field<T> array{values.data(), shape};
  Lorenzo().walk(array, loop);
  loop.decodes_now = decodes;
  for (auto _ : state) {
    state.PauseTiming();
    std::copy_n(original.data(), array.size(), values.data());
    state.ResumeTiming();
    loop.done = 0;
    Lorenzo().walk(array, loop);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(i64(state.iterations()) * i64(shape.size() * sizeof(T)));
}
BENCHMARK(feedback_loop<float, false, false>);
BENCHMARK(feedback_loop<float, true, false>);
BENCHMARK(feedback_loop<float, false, true>);
BENCHMARK(feedback_loop<float, true, true>);
BENCHMARK(feedback_loop<double, false, false>);
BENCHMARK(feedback_loop<double, true, false>);
BENCHMARK(feedback_loop<double, false, true>);
BENCHMARK(feedback_loop<double, true, true>);

template <class E>
void encode(benchmark::State& state) {
  const std::vector<i32> codes = residuals();
  BufferPool pool;
  const BufferPool::Use use(pool);
  for (auto _ : state) {
    Writer out;
    const auto sink = make_sink<i32>(E(), codes.size(), out);
    sink->put_all(codes, {});
    sink->finish();
    benchmark::DoNotOptimize(out.bytes().data());
  }
  count_bytes<float>(state);
}
template <class E>
void decode(benchmark::State& state) {
  std::vector<i32> codes = residuals();
  BufferPool pool;
  const BufferPool::Use use(pool);
  Writer out;
  const auto sink = make_sink<i32>(E(), codes.size(), out);
  sink->put_all(codes, {});
  sink->finish();
  for (auto _ : state) {
    Reader in(out.bytes());
    const auto source = make_source<i32>(E(), in, codes.size());
    for (size_t first = 0; first < codes.size(); first += kMostCodes)
      source->next(std::span(codes).subspan(first, std::min(kMostCodes, codes.size() - first)),
                   nullptr);
  }
  count_bytes<float>(state);
}
BENCHMARK(encode<Huffman>);
BENCHMARK(decode<Huffman>);
BENCHMARK(encode<Adaptive>);
BENCHMARK(decode<Adaptive>);
BENCHMARK(encode<Pack>);
BENCHMARK(decode<Pack>);

void checksum(benchmark::State& state) {
  const auto values = field<float>();
  for (auto _ : state) benchmark::DoNotOptimize(hash_of(bytes_of(std::span(values))));
  count_bytes<float>(state);
}
BENCHMARK(checksum);

void whole_compress(benchmark::State& state, const char* recipe) {
  const auto values = field<float>();
  CompressOptions options;
  options.bound = Bound::abs(1e-3);
  options.recipe = recipe;
  for (auto _ : state) benchmark::DoNotOptimize(compress(values.data(), kShape, options).size());
  count_bytes<float>(state);
}
void whole_decompress(benchmark::State& state, const char* recipe) {
  const auto values = field<float>();
  CompressOptions options;
  options.bound = Bound::abs(1e-3);
  options.recipe = recipe;
  const Bytes stream = compress(values.data(), kShape, options);
  for (auto _ : state) benchmark::DoNotOptimize(decompress(stream).data());
  count_bytes<float>(state);
}
// Frames into their place: each waits for the one before it, or looks back for the sum of the sizes
// before it, as cuSZp2's blocks do. The argument is the number of threads.
void placed_compress(benchmark::State& state, bool looks_back) {
  const auto values = field<float>();
  const View view = view_of(values.data(), kShape);
  CompressOptions options;
  options.bound = Bound::abs(1e-3);
  options.recipe = "cuszp2-outlier";
  options.execution.threads = unsigned(state.range(0));
  Bytes memory(size_t(max_compressed_size(DType::f32, kShape, options)));
  for (auto _ : state) {
    if (looks_back) {
      benchmark::DoNotOptimize(compress_into(view, options, memory).output_bytes);
      continue;
    }
    size_t size = 0;
    compress(view, options, [&](ByteView part) {
      std::ranges::copy(part, memory.begin() + std::ptrdiff_t(size));
      size += part.size();
    });
    benchmark::DoNotOptimize(size);
  }
  count_bytes<float>(state);
}
BENCHMARK_CAPTURE(placed_compress, chained, false)->Arg(1)->Arg(2)->Arg(4)->UseRealTime();
BENCHMARK_CAPTURE(placed_compress, look_back, true)->Arg(1)->Arg(2)->Arg(4)->UseRealTime();
BENCHMARK_CAPTURE(whole_compress, balanced, "balanced");
BENCHMARK_CAPTURE(whole_decompress, balanced, "balanced");
BENCHMARK_CAPTURE(whole_compress, fast, "fast");
BENCHMARK_CAPTURE(whole_decompress, fast, "fast");
BENCHMARK_CAPTURE(whole_compress, sz14, "sz1.4");
BENCHMARK_CAPTURE(whole_decompress, sz14, "sz1.4");

}  // namespace
}  // namespace leeway
