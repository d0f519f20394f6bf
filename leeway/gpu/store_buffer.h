// SPDX-License-Identifier: BSD-3-Clause
// Store buffer: what a CTA has stored and others cannot see yet.
#pragma once

#include <array>
#include <cstring>
#include <unordered_map>
#include <vector>

#include "leeway/gpu/watched.h"

namespace leeway::gpu::emulator {

class StoreBuffer {
 public:
  // At most 16 bytes, aligned.
  void put(void* to, const void* from, std::size_t bytes) {
    const auto at = reinterpret_cast<std::uintptr_t>(to);
    const auto [entry, is_new] = lines_.try_emplace(at / kLine);
    if (is_new) order_.push_back(at / kLine);
    Line& line = entry->second;
    std::memcpy(line.bytes.data() + at % kLine, from, bytes);
    for (std::size_t i = at % kLine; i < at % kLine + bytes; ++i) line.mask |= 1u << i;
  }

  // Lays over `to`, read from `from`, what is here; says whether all of it has been written.
  bool overlay(const void* from, void* to, std::size_t bytes, const WatchedGlobal& memory,
               bool watches) const {
    const auto at = reinterpret_cast<std::uintptr_t>(from);
    const auto entry = lines_.empty() ? lines_.end() : lines_.find(at / kLine);
    bool all = true;
    for (std::size_t i = 0; i < bytes; ++i) {
      const std::size_t place = at % kLine + i;
      if (entry != lines_.end() && entry->second.mask >> place & 1)
        static_cast<unsigned char*>(to)[i] = entry->second.bytes[place];
      else if (watches)
        all = all && memory.is_written(static_cast<const unsigned char*>(from) + i);
    }
    return all;
  }

  // Any of them.
  void drain_one(std::uint64_t random, WatchedGlobal& memory) {
    if (order_.empty()) return;
    std::swap(order_[random % order_.size()], order_.back());
    drain(order_.back(), memory);
    order_.pop_back();
  }
  void drain_all(WatchedGlobal& memory) {
    for (const auto line : order_) drain(line, memory);
    order_.clear();
  }

 private:
  static constexpr std::uintptr_t kLine = 16;
  struct Line {
    std::array<unsigned char, kLine> bytes;
    std::uint32_t mask = 0;
  };

  void drain(std::uintptr_t number, WatchedGlobal& memory) {
    const auto entry = lines_.find(number);
    auto* const to = reinterpret_cast<unsigned char*>(number * kLine);
    for (std::size_t i = 0; i < kLine; ++i)
      if (entry->second.mask >> i & 1) {
        to[i] = entry->second.bytes[i];
        memory.note_written(to + i, 1);
      }
    lines_.erase(entry);
  }

  std::unordered_map<std::uintptr_t, Line> lines_;
  std::vector<std::uintptr_t> order_;
};

}  // namespace leeway::gpu::emulator
