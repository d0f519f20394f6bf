// SPDX-License-Identifier: BSD-3-Clause
// C context: what the functions of the C interface have in common: settings, messages, arrays.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <new>
#include <string>

#include "leeway/base/environment.h"
#include "leeway/leeway.h"
#include "leeway/leeway.hpp"

// What the functions leeway_set_...() and leeway_add_...() have set.
struct leeway_settings {
  leeway::CompressOptions options;
  bool salvage = false;
  bool lacks_memory = false;  // a setting was lost because there was no memory for it
};

struct leeway_context : leeway_settings {
  explicit leeway_context(const leeway_settings& settings) : leeway_settings(settings) {}

  std::string message;
  leeway::DecompressReport damage;  // in the array read last
  leeway::BufferPool pool;          // keeps memory between calls
};

struct leeway_buffer {
  leeway::Bytes bytes;
};

namespace leeway {

inline leeway_status status_of(Errc code) {
  switch (code) {
    case Errc::invalid_argument:
      return LEEWAY_INVALID_ARGUMENT;
    case Errc::corrupt:
      return LEEWAY_CORRUPT;
    case Errc::unsupported:
      return LEEWAY_UNSUPPORTED;
    case Errc::io:
      return LEEWAY_IO;
    case Errc::canceled:
      return LEEWAY_CANCELED;
    case Errc::too_small:
      return LEEWAY_TOO_SMALL;
    case Errc::internal:
      break;
  }
  return LEEWAY_INTERNAL;
}

// Keeps a message; none if there is no memory for it.
inline void set_message(leeway_context* context, const char* message) noexcept {
  try {
    context->message = message;
  } catch (const std::bad_alloc&) {
    context->message.clear();
  }
}

// Runs f and turns what it throws into a status and a message.
template <class F>
leeway_status guarded(leeway_context* context, F&& f) noexcept {
  if (!context) return LEEWAY_INVALID_ARGUMENT;
  const DefaultFloatingPoint environment;
  try {
    context->message.clear();
    if (context->lacks_memory) throw std::bad_alloc();
    const BufferPool::Use use(context->pool);
    f();
    context->pool.trim();
    return LEEWAY_OK;
  } catch (const Error& error) {
    set_message(context, error.what());
    return status_of(error.code());
  } catch (const std::bad_alloc&) {
    set_message(context, "out of memory");
    return LEEWAY_OUT_OF_MEMORY;
  } catch (const std::exception& error) {
    set_message(context, error.what());
    return LEEWAY_INTERNAL;
  } catch (...) {
    set_message(context, "a callback threw something that is no std::exception");
    return LEEWAY_INTERNAL;
  }
}

inline void require(bool condition, const char* message) {
  if (!condition) throw Error(Errc::invalid_argument, message);
}

template <class Byte>
BasicView<Byte> view_of_array(const leeway_array* array) {
  require(array, "no array given");
  require(array->dtype > 0 && array->dtype < 256 && is_dtype(u8(array->dtype)),
          "unknown element type");
  require(array->rank >= 0 && array->rank <= int(kMaxRank), "the rank must be between 0 and 8");
  require(array->rank == 0 || array->shape, "no shape given");
  const Shape shape(std::span<const u64>(array->shape, size_t(array->rank)));
  auto* data = static_cast<Byte*>(array->data);
  if (!array->strides) return {data, DType(array->dtype), shape};
  Strides strides{};
  std::copy_n(array->strides, array->rank, strides.begin());
  return {data, DType(array->dtype), shape, strides};
}

inline View view_to_read(const leeway_array* array) {
  const auto view = view_of_array<const std::byte>(array);
  require(view.data || view.shape.size() == 0, "the array has no data");
  return view;
}

// An array to be filled: no element may lie in another.
inline MutableView view_to_fill(const leeway_array* array) {
  const auto view = view_of_array<std::byte>(array);
  require(view.data || view.shape.size() == 0, "the array has no data");
  if (!array->strides || view.shape.size() == 0) return view;
  for (size_t axis = 0; axis < view.shape.rank(); ++axis) {
    if (view.shape[axis] < 2) continue;
    const auto step = std::abs(array->strides[axis]);
    require(step >= i64(size_of(view.dtype)), "the strides put elements into each other");
    for (size_t other = 0; other < axis; ++other)
      require(view.shape[other] < 2 || step != std::abs(array->strides[other]),
              "the strides of two axes are the same");
  }
  return view;
}

}  // namespace leeway
