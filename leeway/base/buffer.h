// SPDX-License-Identifier: BSD-3-Clause
// Buffer<T>: a fixed number of values in memory that is not cleared first.
//
// While a thread uses a BufferPool, buffers of that thread are kept and reused: chunk after chunk
// needs the same sizes, and fresh pages from the system cost more than a pass over the data.
// Between calls a thread keeps what small arrays need.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "leeway/base/export.h"
#include "leeway/base/types.h"

namespace leeway {

// The bytes that the library keeps at most between calls, for all threads together.
inline constexpr size_t kBufferReserve = size_t(96) << 20;
// Between calls, a thread keeps no block for itself that is larger than this.
inline constexpr size_t kMostKept = size_t(256) << 10;

class LEEWAY_EXPORT BufferPool {
 public:
  struct Block {
    void* data = nullptr;
    size_t bytes = 0;
  };
  // A list of at most `most` blocks. It never allocates, because giving memory back must not
  // fail.
  template <size_t most>
  class Blocks {
   public:
    Block* begin() { return blocks_.data(); }
    Block* end() { return blocks_.data() + count_; }
    bool is_full() const { return count_ == most; }
    void add(Block block) { blocks_[count_++] = block; }
    void remove(Block* block) { *block = blocks_[--count_]; }
    // Takes out a block that is large enough and not much larger. Without one, data is null.
    Block take(size_t bytes) {
      for (Block& block : *this)
        if (block.bytes >= bytes && block.bytes <= 2 * bytes) {
          const Block found = block;
          remove(&block);
          return found;
        }
      return {};
    }

   private:
    std::array<Block, most> blocks_;
    size_t count_ = 0;
  };

  BufferPool();
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  // Makes this thread use the pool until the end of a scope. Only one thread may use it at a time.
  class LEEWAY_EXPORT Use {
   public:
    explicit Use(BufferPool& pool);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    BufferPool* outer_;
  };
  // Makes this thread use its own pool until the end of a scope, unless it already uses a pool.
  class LEEWAY_EXPORT UseOwn {
   public:
    UseOwn();
    ~UseOwn();
    UseOwn(const UseOwn&) = delete;
    UseOwn& operator=(const UseOwn&) = delete;

   private:
    bool is_outermost_;
  };
  // Frees blocks and objects larger than kMostKept; for the end of a call of the library.
  void trim();

  // Memory from the pool of this thread if it uses one, else from the heap.
  static Block take(size_t bytes);
  static void give(Block block) noexcept;

  // An object that the pool keeps beside its buffers (base/kept.h).
  struct Kept;
  // The place of this thread's pool for an object of a type; null if the thread uses no pool.
  static Kept* find(const void* type);

 private:
  Blocks<16> free_;
  std::vector<Kept> kept_;
};

template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Buffer() = default;
  explicit Buffer(size_t size) : block_(BufferPool::take(size * sizeof(T))), size_(size) {}
  Buffer(Buffer&& other) noexcept
      : block_(std::exchange(other.block_, {})), size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(block_, other.block_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Buffer() { BufferPool::give(block_); }

  T* data() { return static_cast<T*>(block_.data); }
  const T* data() const { return static_cast<const T*>(block_.data); }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }

 private:
  BufferPool::Block block_;
  size_t size_ = 0;
};

}  // namespace leeway
