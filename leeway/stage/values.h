// SPDX-License-Identifier: BSD-3-Clause
// ValueSink: takes the decoded values of a chunk, piece by piece, in order. Most sinks only look at
// a piece while it is in the first cache, for a checksum; some keep the values.
#pragma once

#include <algorithm>
#include <array>

#include "leeway/base/buffer.h"
#include "leeway/base/field.h"
#include "leeway/base/hash.h"

namespace leeway {

class ValueSink {
 public:
  // The largest piece, in bytes.
  static constexpr size_t kMost = size_t(1) << 14;

  virtual ~ValueSink() = default;
  // Room for the next `bytes` bytes, at most kMost; valid until put().
  virtual void* room(size_t bytes) = 0;
  // Takes the bytes that the caller has written to room().
  virtual void put(size_t bytes) = 0;
  // Takes any number of bytes from the memory of the caller.
  virtual void take(ByteView bytes) {
    for (; !bytes.empty(); bytes = bytes.subspan(std::min(bytes.size(), kMost))) {
      const size_t n = std::min(bytes.size(), kMost);
      std::copy_n(bytes.data(), n, static_cast<u8*>(room(n)));
      put(n);
    }
  }
  // Memory for the whole chunk, or null. A caller that writes there does not call put().
  virtual void* all() { return nullptr; }
};

// Keeps all values in memory of the caller.
class KeptValues final : public ValueSink {
 public:
  explicit KeptValues(void* memory) : memory_(static_cast<u8*>(memory)) {}
  void* room(size_t) override { return memory_ + done_; }
  void put(size_t bytes) override { done_ += bytes; }
  void* all() override { return memory_; }

 private:
  u8* memory_;
  size_t done_ = 0;
};

// Keeps only the checksum of the values.
class HashedValues final : public ValueSink {
 public:
  void* room(size_t) override { return piece_.data(); }
  void put(size_t bytes) override { hasher_.add({piece_.data(), bytes}); }
  void take(ByteView bytes) override { hasher_.add(bytes); }
  u64 hash() const { return hasher_.value(); }

 private:
  Hasher hasher_;
  alignas(64) std::array<u8, kMost> piece_;
};

// All values of a chunk in one piece of memory, for stages that need them like this.
template <class T>
class WholeField {
 public:
  WholeField(ValueSink& sink, const Shape& shape)
      : field{static_cast<T*>(sink.all()), shape}, sink_(sink) {
    if (field.data) return;
    own_ = Buffer<T>(field.size());
    field.data = own_.data();
  }
  // To be called when all values have been written.
  void finish() {
    if (!own_.empty()) sink_.take(bytes_of(field.values()));
  }
  Field<T> field;

 private:
  ValueSink& sink_;
  Buffer<T> own_;
};

}  // namespace leeway
