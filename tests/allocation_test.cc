// SPDX-License-Identifier: BSD-3-Clause
// Runs everything while memory runs out: the first allocation fails, the second, the third, ...,
// once or from then on. What comes out is std::bad_alloc, LEEWAY_OUT_OF_MEMORY or the right result,
// never the end of the process; afterwards everything works. Threads that cannot be had change
// nothing.
#include <dlfcn.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include "leeway/leeway.h"
#include "leeway/leeway.hpp"

namespace {

std::atomic<bool> armed = false;      // whether allocations are counted
std::atomic<long> left = 0;           // until one fails
std::atomic<bool> stays_out = false;  // whether all after it fail, too
std::atomic<bool> failed = false;

bool shall_fail() {
  if (!armed) return false;
  const long now = left--;
  if (now > 0 || (now < 0 && !stays_out)) return false;
  return failed = true;
}

}  // namespace

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define LEEWAY_SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LEEWAY_SANITIZED
#endif

#if defined(__GLIBC__) && !defined(LEEWAY_SANITIZED)
// All memory, that of the libraries for lossless stages, too.
extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
void* malloc(size_t bytes) {
  if (!shall_fail()) return __libc_malloc(bytes);
  errno = ENOMEM;
  return nullptr;
}
void* aligned_alloc(size_t alignment, size_t bytes) {
  return shall_fail() ? nullptr : __libc_memalign(alignment, bytes);
}
}
#else
// A sanitizer has a malloc of its own.
void* operator new(size_t bytes) {
  void* const memory = shall_fail() ? nullptr : std::malloc(bytes > 0 ? bytes : 1);
  if (!memory) throw std::bad_alloc();
  return memory;
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return shall_fail() ? nullptr : std::malloc(bytes > 0 ? bytes : 1);
}
void* operator new(size_t bytes, std::align_val_t alignment) {
  const size_t line = size_t(alignment);
  void* const memory =
      shall_fail() ? nullptr : std::aligned_alloc(line, (bytes + line - 1) / line * line);
  if (!memory) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
#endif

#if !defined(LEEWAY_SANITIZED)
static std::atomic<bool> no_threads = false;
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*start)(void*), void* argument) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(::dlsym(RTLD_NEXT, "pthread_create"));
  return no_threads ? EAGAIN : create(thread, attributes, start, argument);
}
#endif

namespace leeway {
namespace {

std::string current;  // what is running, for whoever has to say that it ended the process
long current_number = 0;

[[noreturn]] void complain(const char* what) {
  std::fprintf(stderr, "%s, allocation %ld%s: %s\n", current.c_str(), current_number,
               stays_out ? " and all after it" : "", what);
  std::_Exit(1);
}

struct Fixture {
  std::vector<float> values = std::vector<float>(40 * 25);
  const Shape shape{40, 25};
  CompressOptions options;
  Bytes stream;
  Array decoded{DType::f32, shape};

  Fixture(const std::string& recipe, unsigned threads) {
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = float(i % 25) * 0.3f + (i % 97 == 0 ? 1e30f : float(i * i % 17) * 0.01f);
    options.recipe = recipe;
    options.bound = Bound::abs(0.01);
    options.chunk = {10, 25};
    options.execution.threads = threads;
    stream = compress(values.data(), shape, options);
    decoded = decompress(stream);
  }
  DecompressOptions reading() const {
    DecompressOptions result;
    result.execution = options.execution;
    return result;
  }
};

void expect(bool condition) {
  if (!condition) {
    armed = false;
    complain("a wrong result");
  }
}

bool same(const Array& a, const Array& b) {
  return a.bytes() == b.bytes() && std::equal(a.data(), a.data() + a.bytes(), b.data());
}

// An allocation that fails must not change the status of anything else.
bool is_ok(leeway_status status) {
  expect(status == LEEWAY_OK || status == LEEWAY_OUT_OF_MEMORY);
  return status == LEEWAY_OK;
}

void use_c(const Fixture& f) {
  const u64 shape[] = {40, 25}, part[] = {20, 10}, first[] = {5, 5};
  leeway_array array{const_cast<float*>(f.values.data()), LEEWAY_F32, 2, shape, nullptr};
  leeway_context* const context = leeway_create();
  if (!context) return;
  leeway_set_threads(context, f.options.execution.threads);
  leeway_add_fill(context, 1e30);
  leeway_buffer* stream = nullptr;
  if (is_ok(leeway_set_bound(context, "abs", 0.01)) &&
      is_ok(leeway_set_recipe(context, f.options.recipe.c_str())) &&
      is_ok(leeway_compress(context, &array, &stream))) {
    const void* const data = leeway_buffer_data(stream);
    const size_t size = leeway_buffer_size(stream);
    leeway_info info;
    is_ok(leeway_inspect(context, data, size, &info));
    static std::vector<float> memory(40 * 25);
    array.data = memory.data();
    is_ok(leeway_decompress(context, data, size, &array));
    array.shape = part;
    is_ok(leeway_decompress_region(context, data, size, first, &array));
    u64 coarse[LEEWAY_MAX_RANK];
    if (is_ok(leeway_preview_shape(context, data, size, 1, coarse))) {
      array.shape = coarse;
      is_ok(leeway_decompress_preview(context, data, size, 1, &array));
    }
    // A message that there may be no memory for.
    const leeway_status status = leeway_set_recipe(context, "no such stage");
    expect(status == LEEWAY_INVALID_ARGUMENT || status == LEEWAY_OUT_OF_MEMORY);
    leeway_message(context);
  }
  leeway_buffer_free(stream);
  leeway_destroy(context);
}

struct Task {
  const char* name;
  void (*run)(const Fixture&);
};
constexpr Task kTasks[] = {
    {"compress",
     [](const Fixture& f) { expect(compress(f.values.data(), f.shape, f.options) == f.stream); }},
    {"compress_into",
     [](const Fixture& f) {
       static Bytes memory(100000);
       const auto view = view_of(f.values.data(), f.shape);
       expect(compress_into(view, f.options, memory).output_bytes == f.stream.size());
     }},
    {"decompress",
     [](const Fixture& f) { expect(same(decompress(f.stream, f.reading()), f.decoded)); }},
    {"region",
     [](const Fixture& f) {
       decompress(f.stream, Box{{5, 5}, {20, 10}}, f.reading());
     }},
    {"preview", [](const Fixture& f) { preview(f.stream, 1, f.reading()); }},
    {"salvage",
     [](const Fixture& f) {
       DecompressOptions salvage = f.reading();
       salvage.salvage = true;
       expect(same(decompress(ByteView(f.stream).first(f.stream.size() - 9), salvage), f.decoded));
     }},
    {"inspect", [](const Fixture& f) { expect(inspect(f.stream).chunks == 4); }},
    {"update",
     [](const Fixture& f) {
       Bytes copy = f.stream;
       MemoryStore store(copy);
       update(store, {8, 3}, view_of(f.values.data(), Shape{20, 10}), f.options.execution);
     }},
    {"the C interface", use_c},
};

// Says whether an allocation failed.
bool run_with_failure(const Task& task, const Fixture& fixture, long number) {
  current_number = left = number;
  failed = false;
  armed = true;
  try {
    task.run(fixture);
  } catch (const std::bad_alloc&) {
    if (!failed) complain("out of memory, but no allocation failed");
  } catch (const std::exception& error) {
    armed = false;
    complain(error.what());
  }
  armed = false;
  return failed;
}

long fail_every_allocation(const Task& task, const Fixture& fixture) {
  long runs = 0;
  // The first ones one by one, then with growing steps.
  for (long number = 0; run_with_failure(task, fixture, number); number += 1 + number / 100) ++runs;
  stays_out = false;
  expect(decompress(fixture.stream).bytes() == fixture.decoded.bytes());
  return runs;
}

long try_all(const std::string& recipe, unsigned threads) {
  const Fixture fixture(recipe, threads);
  long runs = 0;
  for (const Task& task : kTasks)
    for (const bool stays : {false, true}) {
      current = recipe + ", " + std::to_string(threads) + " threads, " + task.name;
      stays_out = stays;
      runs += fail_every_allocation(task, fixture);
    }
#if !defined(LEEWAY_SANITIZED)
  no_threads = true;
  for (const Task& task : kTasks) task.run(fixture);
  no_threads = false;
#endif
  return runs;
}

}  // namespace
}  // namespace leeway

int main() {
  std::set_terminate([] {
    armed = false;
    leeway::complain("the process ended");
  });
  long runs = 0;
  for (const char* recipe :
       {"balanced", "small", "dft+linear+lorenzo+adaptive+lz4:level=9+deflate"})
    for (const unsigned threads : {1u, 3u}) runs += leeway::try_all(recipe, threads);
  std::printf("%ld runs with a failing allocation\n", runs);
  return runs > 1000 ? 0 : 1;
}
