// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/base/buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <mutex>
#include <new>

#include "leeway/base/kept.h"

namespace leeway {
namespace {

constexpr size_t kSmallest = size_t(4) << 10;       // smaller blocks come from the heap
constexpr size_t kWorthKeeping = size_t(64) << 10;  // the smallest block that is kept between calls

thread_local BufferPool* current = nullptr;

// Large blocks ask for huge pages: hundreds of times fewer faults when they are first touched.
constexpr size_t kHugePage = size_t(2) << 20;
constexpr auto kHugeAlignment = std::align_val_t(kHugePage);
// Other blocks are aligned to a cache line: a vector that crosses two lines takes twice as long.
// For the smallest blocks that would cost more than it saves.
constexpr auto kLineAlignment = std::align_val_t(64);

BufferPool::Block allocate(size_t bytes) {
  if (bytes < kSmallest) return {::operator new(bytes), bytes};
  if (bytes < kHugePage / 2) return {::operator new(bytes, kLineAlignment), bytes};
  bytes = (bytes + kHugePage - 1) / kHugePage * kHugePage;
  const BufferPool::Block block{::operator new(bytes, kHugeAlignment), bytes};
#if defined(MADV_HUGEPAGE)
  ::madvise(block.data, block.bytes, MADV_HUGEPAGE);  // only a hint: it may fail
#endif
  return block;
}

void release(BufferPool::Block block) noexcept {
  if (block.bytes < kSmallest)
    ::operator delete(block.data);
  else if (block.bytes < kHugePage / 2)
    ::operator delete(block.data, kLineAlignment);
  else
    ::operator delete(block.data, kHugeAlignment);
}

// Blocks that no pool holds. A call takes the blocks that an earlier call has given back, instead
// of fresh pages that the system must clear.
class Reserve {
 public:
  static Reserve& get() {
    static auto* const reserve = new Reserve;  // never destroyed: hosts may write while they exit
    return *reserve;
  }
  BufferPool::Block take(size_t bytes) {
    if (bytes < kWorthKeeping) return {};
    const std::lock_guard lock(mutex_);
    const BufferPool::Block found = blocks_.take(bytes);
    held_ -= found.bytes;
    return found;
  }
  void give(BufferPool::Block block) noexcept {
    {
      const std::lock_guard lock(mutex_);
      if (block.bytes >= kWorthKeeping && held_ + block.bytes <= kBufferReserve &&
          !blocks_.is_full()) {
        held_ += block.bytes;
        return blocks_.add(block);
      }
    }
    release(block);
  }

 private:
  std::mutex mutex_;
  BufferPool::Blocks<64> blocks_;
  size_t held_ = 0;
};

// The pool that a thread keeps until it ends. If a host writes while the thread's objects are being
// destroyed, there is no pool any more.
class OwnPool {
 public:
  static BufferPool* get() {
    if (!is_over) {
      thread_local OwnPool own;
      return &own.pool_;
    }
    return nullptr;
  }
  ~OwnPool() { is_over = true; }

 private:
  static inline thread_local bool is_over = false;
  BufferPool pool_;
};

}  // namespace

BufferPool::BufferPool() = default;
BufferPool::~BufferPool() {
  for (const Block& block : free_) Reserve::get().give(block);
}

void BufferPool::trim() {
  for (Block* block = free_.begin(); block < free_.end();) {
    if (block->bytes <= kMostKept) {
      ++block;
      continue;
    }
    Reserve::get().give(*block);
    free_.remove(block);
  }
  for (Kept& kept : kept_)
    if (kept.object && kept.bytes && kept.bytes(kept.object.get()) > kMostKept) kept.object.reset();
}

BufferPool::Use::Use(BufferPool& pool) : outer_(std::exchange(current, &pool)) {}
BufferPool::Use::~Use() { current = outer_; }

BufferPool::UseOwn::UseOwn() : is_outermost_(!current) {
  if (is_outermost_) current = OwnPool::get();
}
BufferPool::UseOwn::~UseOwn() {
  if (!is_outermost_ || !current) return;
  current->trim();
  current = nullptr;
}

BufferPool::Block BufferPool::take(size_t bytes) {
  if (bytes == 0) return {};
  if (current && bytes >= kSmallest) {
    if (const Block kept = current->free_.take(bytes); kept.data) return kept;
    if (const Block kept = Reserve::get().take(bytes); kept.data) return kept;
  }
  return allocate(bytes);
}

BufferPool::Kept* BufferPool::find(const void* type) {
  if (!current) return nullptr;
  auto& kept = current->kept_;
  const auto found = std::ranges::find(kept, type, &Kept::type);
  return found != kept.end() ? &*found : &kept.emplace_back(Kept{type, nullptr, nullptr});
}

void BufferPool::give(Block block) noexcept {
  if (!current || block.bytes < kSmallest) return release(block);
  auto& blocks = current->free_;
  if (!blocks.is_full()) return blocks.add(block);
  // Large blocks are worth more than small ones.
  const auto smallest = std::ranges::min_element(blocks, {}, &Block::bytes);
  if (smallest->bytes < block.bytes) std::swap(*smallest, block);
  release(block);
}

}  // namespace leeway
