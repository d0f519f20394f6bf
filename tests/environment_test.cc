// SPDX-License-Identifier: BSD-3-Clause
// A host may round in another direction, flush denormals to zero or trap exceptions: streams and
// values are the same, byte for byte, and the host has its settings back.
#include <cfenv>
#include <cfloat>
#include <thread>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "leeway/base/environment.h"
#include "leeway/choose/advise.h"
#include "leeway/choose/choose.h"
#include "leeway/choose/critical_points.h"
#include "leeway/chunk_memory.h"
#include "leeway/leeway.h"
#include "leeway/quality/compare.h"
#include "tests/support.h"

namespace leeway::test {
namespace {

// Everything that the thread's settings consist of.
using Control = std::array<u64, 4>;
Control control() {
  Control found{u64(fegetround()), u64(fegetexcept())};
#if defined(__SSE2__)
  found[2] = _mm_getcsr();
#elif defined(__aarch64__)
  asm volatile("mrs %0, fpcr" : "=r"(found[2])::"memory");
  asm volatile("mrs %0, fpsr" : "=r"(found[3])::"memory");
#endif
  return found;
}

void flush_denormals() {
#if defined(__SSE2__)
  _mm_setcsr(_mm_getcsr() | 0x8040);  // results and operands
#elif defined(__aarch64__)
  // FZ, FZ16, and DN: every NaN becomes the default one.
  asm volatile("msr fpcr, %0" ::"r"(control()[2] | 1u << 24 | 1u << 19 | 1u << 25) : "memory");
#endif
}

struct Host {
  const char* name;
  void (*set)();
};
constexpr Host kHosts[] = {
    {"upward", [] { fesetround(FE_UPWARD); }},
    {"downward", [] { fesetround(FE_DOWNWARD); }},
    {"to zero", [] { fesetround(FE_TOWARDZERO); }},
    {"flush", flush_denormals},
    {"flush, upward", [] { fesetround(FE_UPWARD), flush_denormals(); }},
    {"traps", [] { feenableexcept(FE_ALL_EXCEPT); }},
};

class Settings {
 public:
  explicit Settings(const Host& host) {
    host.set();
    given_ = control();
  }
  void expect_unchanged(const char* name) const { EXPECT_EQ(control(), given_) << name; }
  ~Settings() {
    fesetenv(FE_DFL_ENV);
#if defined(__aarch64__)
    asm volatile("msr fpcr, %0" ::"r"(u64(0)) : "memory");
#endif
  }

 private:
  Control given_;
};

// What f returns in the environment of the host; f must not compute itself.
template <class F>
auto run_in(const Host& host, F&& f) {
  const Settings settings(host);
  auto result = f();
  settings.expect_unchanged(host.name);
  return result;
}

// f gives the same in every environment.
template <class F>
void expect_same(const std::string& what, F&& f) {
  const auto expected = f();
  for (const Host& host : kHosts)
    EXPECT_TRUE(run_in(host, f) == expected) << what << " with " << host.name;
}

Bytes bytes_of(const Array& array) {
  const auto* bytes = reinterpret_cast<const u8*>(array.data());
  return {bytes, bytes + array.bytes()};
}

// A smooth field, and one of denormals.
template <class T>
std::vector<T> field(const Shape& shape, bool tiny) {
  auto values = make_field<T>(shape, tiny ? Texture::smooth : Texture::hostile);
  if (tiny)
    for (T& value : values)
      value = T(double(value) * double(std::numeric_limits<T>::denorm_min()) * 1000);
  return values;
}

template <class T>
void check_streams(const std::string& recipe) {
  const Shape shape{5, 9, 20};
  for (const bool tiny : {false, true}) {
    const auto values = field<T>(shape, tiny);
    const double unit = tiny ? double(std::numeric_limits<T>::denorm_min()) * 100 : 1e-3;
    for (const Bound& bound :
         {Bound::abs(unit), Bound::rel(1e-3), Bound::rel(1e-15), Bound::pointwise(0.013),
          Bound::psnr(61.7), Bound::l2(20 * unit), Bound::ratio(7), Bound::rate(5.5),
          Bound::lossless(), Bound::abs(unit) && Bound::rel(0.01)}) {
      auto options = options_for<T>(bound, recipe);
      options.chunk = {3, 9, 20};
      if (!tiny) options.fills = {1e20};
      const View view = view_of(values.data(), shape);
      const std::string what = recipe + " " + to_string(bound) + (tiny ? " tiny" : "");
      expect_same(what, [&] { return compress(view, options); });
      const Bytes stream = compress(view, options);
      expect_same(what, [&] { return bytes_of(decompress(stream)); });
    }
  }
}

TEST(Environment, StreamsAndValuesAreTheSame) {
  for (const char* recipe : {"balanced", "small", "sz1.4", "sz3-lr", "sz3-interp",
                             "dft+linear+huffman", "lorenzo+logscale+huffman"})
    check_streams<float>(recipe);
  check_streams<double>("balanced");
  check_streams<double>("small");
}

TEST(Environment, RecipesThatLookAtTheArrayAreTheSame) {
  const Shape shape{2, 20, 21};
  const auto values = make_field<float>(shape, Texture::smooth);
  const View view = view_of(values.data(), shape);
  for (const char* recipe : {"auto", "sz3-aps", "cpsz"}) {
    const auto options = options_for<float>(Bound::rel(1.3e-3), recipe);
    expect_same(recipe, [&] { return compress(view, options); });
  }
}

TEST(Environment, ThreadsAndMemoryOfTheHost) {
  const Shape shape{40, 17, 20};
  const auto values = make_field<float>(shape, Texture::smooth);
  const View view = view_of(values.data(), shape);
  auto options = options_for<float>(Bound::rel(1e-4), "small");
  options.chunk = {5, 17, 20};
  options.execution.threads = 3;
  options.execution.progress = [](double) { return true; };
  expect_same("own threads", [&] { return compress(view, options); });
  Bytes memory(size_t(max_compressed_size(view.dtype, shape, options)));
  expect_same("memory", [&] {
    const auto used = compress_into(view, options, memory).output_bytes;
    return Bytes(memory.begin(), memory.begin() + std::ptrdiff_t(used));
  });
  options.execution.executor = [](unsigned count, const std::function<void(unsigned)>& work) {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < count; ++i) threads.emplace_back(work, i);
  };
  expect_same("the host's threads", [&] { return compress(view, options); });
}

// Threads that a host starts in its executor take over its own settings, not leeway's.
TEST(Environment, AnExecutorRunsInTheSettingsOfTheHost) {
  const Shape shape{40, 17, 20};
  const auto values = make_field<float>(shape, Texture::smooth);
  auto options = options_for<float>(Bound::abs(1e-4));
  options.chunk = {5, 17, 20};
  options.execution.threads = 2;
  for (const Host& host : kHosts) {
    Control expected{}, found{};
    options.execution.executor = [&](unsigned count, const std::function<void(unsigned)>& work) {
      found = control();
      for (unsigned i = 0; i < count; ++i) work(i);
      EXPECT_EQ(found, control());
    };
    run_in(host, [&] {
      expected = control();
      return compress(view_of(values.data(), shape), options);
    });
    EXPECT_EQ(found, expected) << host.name;
  }
}

TEST(Environment, EveryFunctionOfTheInterface) {
  const Shape shape{30, 40};
  const auto values = make_field<double>(shape, Texture::smooth, 1),
             others = make_field<double>(shape, Texture::smooth, 2);
  const View view = view_of(values.data(), shape), other = view_of(others.data(), shape);
  auto options = options_for<double>(Bound::abs(1.7e-3), "small");
  options.chunk = {15, 40};
  const Bytes stream = compress(view, options);

  expect_same("bound", [] { return Bound::abs(1e-312).limits(); });
  expect_same("relative_bound", [] { return relative_bound(1.1e-3, Range::of(-0.3, 0.1)); });
  const Array decoded = decompress(stream);
  expect_same("chunk memory", [&] {
    ChunkMemory memory;
    memory.remember(stream, view_of(decoded.as<double>().data(), shape));
    Bytes again(size_t(max_compressed_size(DType::f64, shape, options)));
    again.resize(size_t(memory.compress_into(other, options, again).output_bytes));
    return again;
  });
  expect_same("shortened", [] { return shortened(0.1234567890123); });
  expect_same("recipe",
              [] { return to_string(parse_recipe("interp:alpha=1.3,beta=2.7+linear+huffman")); });
  expect_same("is_for",
              [] { return is_for(parse_recipe("interp:alpha=1.3+linear+huffman"), DType::f32); });
  expect_same("value_range", [&] {
    const Range range = value_range(view, options).value();
    return std::pair(range.min, range.max);
  });
  expect_same("preview", [&] { return bytes_of(preview(stream, 1)); });
  expect_same("region", [&] { return bytes_of(decompress(stream, Box{{3, 4}, {20, 9}})); });
  expect_same("update", [&] {
    Bytes updated = stream;
    MemoryStore store(updated);
    update(store, {2, 3}, other.part({{0, 0}, {5, 40 - 3}}));
    return updated;
  });
  expect_same("inspect", [&] {
    const Info info = inspect(stream);
    return std::pair(info.header.abs_bound, info.statement.max_error);
  });
  expect_same("compare", [&] {
    const Comparison c = compare(view, other);
    return std::vector{c.max_abs, c.max_rel, c.max_pointwise, c.mean_error, c.rmse, c.nrmse,
                       c.psnr,    c.l2,      c.pearson,       c.ssim};
  });
  const std::vector<double> bounds(values.size(), 0.3);
  const View bound_each = view_of(bounds.data(), shape);
  expect_same("count_beyond", [&] { return count_beyond(view, other, bound_each); });
  expect_same("limits", [&] {
    CompressOptions relative = options;
    relative.bound = Bound::rel(1.1e-3);
    return absolute_limits(view, relative).limits();
  });
  expect_same("advise", [&] { return advise(view, options, {"balanced"})[0].max_error; });
  const auto vectors = make_field<float>({2, 20, 21}, Texture::noise);
  const View vector_field = view_of(vectors.data(), {2, 20, 21});
  expect_same("critical points", [&] { return critical_point_bounds(vector_field, 0.3, {}); });
  expect_same("critical points compared",
              [&] { return compare_critical_points(vector_field, vector_field).before; });

  const Compressor<double, Linear, Raw> compressor;
  expect_same("Compressor",
              [&] { return compressor.compress(values.data(), shape, Bound::rel(1.1e-3)); });
  const Bytes composed = compressor.compress(values.data(), shape, Bound::rel(1.1e-3));
  expect_same("Compressor", [&] { return bytes_of(compressor.decompress(composed)); });
}

TEST(Environment, TheCInterface) {
  const auto values = field<float>({30, 40}, true);
  const u64 shape[] = {30, 40};
  const leeway_array array = {const_cast<float*>(values.data()), LEEWAY_F32, 2, shape, nullptr};
  expect_same("a tiny bound", [] {
    leeway_context* c = leeway_create();
    const leeway_status status = leeway_set_bound(c, "abs", 1e-312);
    leeway_destroy(c);
    return status;
  });
  expect_same("denormals", [&] {
    leeway_context* c = leeway_create();
    leeway_set_bound(c, "rel", 1.3e-2);
    leeway_buffer* stream = nullptr;
    EXPECT_EQ(leeway_compress(c, &array, &stream), LEEWAY_OK) << leeway_message(c);
    const auto* data = static_cast<const u8*>(leeway_buffer_data(stream));
    const Bytes bytes(data, data + leeway_buffer_size(stream));
    std::vector<float> out(1200);
    const leeway_array target = {out.data(), LEEWAY_F32, 2, shape, nullptr};
    EXPECT_EQ(leeway_decompress(c, data, bytes.size(), &target), LEEWAY_OK) << leeway_message(c);
    leeway_buffer_free(stream);
    leeway_destroy(c);
    Bytes decoded(out.size() * sizeof(float));
    std::memcpy(decoded.data(), out.data(), decoded.size());
    return std::pair(bytes, decoded);
  });
}

TEST(Environment, ComesBackAfterAnException) {
  const auto values = make_field<float>({30, 40}, Texture::smooth);
  auto options = options_for<float>(Bound::rel(1e-3));
  Bytes damaged = compress(values.data(), {30, 40}, options);
  damaged[damaged.size() / 2] ^= 1;
  auto canceled = options;
  canceled.execution.progress = [](double) { return false; };
  const auto code_of = [](const auto& f) {
    try {
      f();
    } catch (const Error& error) {
      return error.code();
    }
    return Errc::internal;
  };
  for (const Host& host : kHosts) {
    EXPECT_EQ(run_in(host, [&] { return code_of([&] { decompress(damaged); }); }), Errc::corrupt);
    EXPECT_EQ(
        run_in(host, [&] { return code_of([&] {
                             compress(values.data(), {30, 40}, canceled);
                           }); }),
        Errc::canceled);
    EXPECT_EQ(run_in(host, [&] { return code_of([] { Bound::abs(-1); }); }),
              Errc::invalid_argument);
    EXPECT_EQ(run_in(host, [&] { return code_of([] { parse_recipe("interp:alpha=0.1"); }); }),
              Errc::invalid_argument);
  }
}

// Rounds to nearest, has denormals, and is not stopped by an inexact result.
bool computes_as_by_default() {
  volatile double one = 1, little = 0x1p-60, smallest = DBL_MIN;
  const double above = one + little, below = -one - little;
  return above == 1 && below == -1 && smallest / 2 > 0;
}

// One inside another, as when one function of the interface calls the next.
TEST(Environment, GuardsNest) {
  for (const Host& host : kHosts) {
    const Settings settings(host);
    const Control outside = control();
    {
      const DefaultFloatingPoint outer;
      EXPECT_TRUE(computes_as_by_default()) << host.name;
      {
        const DefaultFloatingPoint inner;
        EXPECT_TRUE(computes_as_by_default()) << host.name;
        const HostFloatingPoint back;
        EXPECT_EQ(control(), outside) << host.name;
        const DefaultFloatingPoint again;
        EXPECT_TRUE(computes_as_by_default()) << host.name;
      }
      EXPECT_TRUE(computes_as_by_default()) << host.name;
    }
    settings.expect_unchanged(host.name);
  }
}

}  // namespace
}  // namespace leeway::test
