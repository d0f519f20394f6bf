// SPDX-License-Identifier: BSD-3-Clause
// Kept: objects that a thread makes once and uses again, call after call: contexts of other
// libraries, tables, codecs.
#pragma once

#include <memory>

#include "leeway/base/buffer.h"

namespace leeway {

struct BufferPool::Kept {
  const void* type;
  std::shared_ptr<void> object;
  size_t (*bytes)(const void*) = nullptr;
};

// Returns the object of type O that this thread's pool keeps; a fresh one if the thread uses no
// pool. If O has a function bytes(), it says how much memory the object holds beside itself, and
// objects that hold much are dropped between calls.
template <class O>
std::shared_ptr<O> keep() {
  static const char type = 0;
  BufferPool::Kept* const kept = BufferPool::find(&type);
  if (!kept) return std::make_shared<O>();
  if (!kept->object) {
    kept->object = std::make_shared<O>();
    if constexpr (requires(const O& object) { object.bytes(); })
      kept->bytes = [](const void* object) { return static_cast<const O*>(object)->bytes(); };
  }
  return std::static_pointer_cast<O>(kept->object);
}

}  // namespace leeway
