// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/core/buffer.h"

#include <algorithm>
#include <new>

namespace leeway {
namespace {

constexpr size_t kSmallest = size_t(64) << 10;  // smaller blocks are the heap's business
constexpr size_t kKept = 16;

thread_local BufferPool* current = nullptr;

}  // namespace

BufferPool::BufferPool() : outer_(std::exchange(current, this)) { free_.reserve(kKept); }

BufferPool::~BufferPool() {
  current = outer_;
  for (const Block& block : free_) ::operator delete(block.data);
}

BufferPool::Block BufferPool::take(size_t bytes) {
  if (bytes == 0) return {};
  if (current && bytes >= kSmallest) {
    auto& blocks = current->free_;
    const auto fit = std::ranges::find_if(
        blocks, [&](const Block& block) { return block.bytes >= bytes && block.bytes <= 2 * bytes; });
    if (fit != blocks.end()) {
      const Block found = *fit;
      blocks.erase(fit);
      return found;
    }
  }
  return {::operator new(bytes), bytes};
}

std::shared_ptr<void>* BufferPool::find(const void* type) {
  if (!current) return nullptr;
  auto& kept = current->kept_;
  const auto found = std::ranges::find(kept, type, &std::pair<const void*, std::shared_ptr<void>>::first);
  if (found != kept.end()) return &found->second;
  return &kept.emplace_back(type, nullptr).second;
}

void BufferPool::give(Block block) noexcept {
  if (current && block.bytes >= kSmallest && current->free_.size() < kKept)
    current->free_.push_back(block);
  else
    ::operator delete(block.data);
}

}  // namespace leeway
