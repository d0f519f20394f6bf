// SPDX-License-Identifier: BSD-3-Clause
// Watched: the memory of the emulator, which knows who touched which byte and when.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "leeway/gpu/emulator.h"

namespace leeway::gpu::emulator {

// A thread at a moment: how many barriers of the CTA and how many tile_sync() of its tile there
// have been.
struct Toucher {
  std::uint32_t thread = 0, barriers = 0, tile_syncs = 0;

  // Whether what `this` did is over when `next` does something.
  bool is_before(const Toucher& next) const {
    return thread == next.thread || barriers != next.barriers ||
           (thread / 32 == next.thread / 32 && tile_syncs != next.tile_syncs);
  }
};

// The shared memory of a CTA. What a CTA leaves, the next one finds, but must not read.
class WatchedShared {
 public:
  void* data() { return memory_.data(); }

  void reset(std::size_t bytes) {
    const std::size_t units = (bytes + sizeof(Unit) - 1) / sizeof(Unit);
    if (memory_.size() < units)
      memory_.resize(units, Unit{{0xcd, 0xcd, 0xcd, 0xcd, 0xcd, 0xcd, 0xcd, 0xcd, 0xcd, 0xcd, 0xcd,
                                  0xcd, 0xcd, 0xcd, 0xcd, 0xcd}});
    bytes_ = bytes;
    notes_.assign(bytes, Note());
  }

  // What is wrong, or null.
  const char* access(const void* at, std::size_t bytes, Access kind, const Toucher& who,
                     bool watches) {
    const auto offset = std::size_t(static_cast<const unsigned char*>(at) -
                                    reinterpret_cast<const unsigned char*>(memory_.data()));
    if (offset > bytes_ || bytes > bytes_ - offset) return "access outside of shared memory";
    if (offset % bytes != 0) return "misaligned access to shared memory";
    if (!watches) return nullptr;
    for (std::size_t i = offset; i < offset + bytes; ++i) {
      Note& note = notes_[i];
      const bool is_ordered = !note.is_written || note.writer.is_before(who) ||
                              (note.is_atomic && kind == Access::atomic);
      if (!is_ordered)
        return kind == Access::read ? "race: reads shared memory that another thread just wrote"
                                    : "race: two threads write the same shared memory";
      if (kind == Access::read) {
        if (!note.is_written) return "reads shared memory that nobody has written";
        note_reader(note, who);
        continue;
      }
      if (kind == Access::atomic && !note.is_written)
        return "changes shared memory that nobody has written";
      if (note.is_read && !is_over(note, who))
        return "race: writes shared memory that another thread just read";
      note = {who, {}, true, kind == Access::atomic, false, false, false};
    }
    return nullptr;
  }

 private:
  struct Unit {
    alignas(16) std::array<unsigned char, 16> bytes;
  };
  // The last writer of a byte, and those that have read it since.
  struct Note {
    Toucher writer, reader;
    bool is_written = false, is_atomic = false, is_read = false;
    bool several = false;        // threads of one tile
    bool several_tiles = false;  // have read it since the last barrier
  };

  static void note_reader(Note& note, const Toucher& who) {
    if (!note.is_read || note.reader.barriers != who.barriers) {
      note.several = note.several_tiles = false;
    } else if (note.reader.thread / 32 != who.thread / 32) {
      note.several_tiles = true;
    } else if (note.reader.tile_syncs != who.tile_syncs) {
      note.several = false;
    } else if (note.reader.thread != who.thread) {
      note.several = true;
    }
    note.is_read = true;
    note.reader = who;
  }
  // Whether all that have read the byte are done with it.
  static bool is_over(const Note& note, const Toucher& who) {
    if (note.reader.barriers != who.barriers) return true;
    if (note.several_tiles) return false;
    if (note.several)
      return note.reader.thread / 32 == who.thread / 32 && note.reader.tile_syncs != who.tile_syncs;
    return note.reader.is_before(who);
  }

  std::vector<Unit> memory_;
  std::vector<Note> notes_;
  std::size_t bytes_ = 0;
};

// The regions of global memory.
class WatchedGlobal {
 public:
  WatchedGlobal(std::vector<Region> regions, bool watches)
      : regions_(std::move(regions)), written_(regions_.size()) {
    for (std::size_t i = 0; i < regions_.size(); ++i)
      if (watches && !regions_[i].is_written) written_[i].resize(regions_[i].bytes);
  }

  // What is wrong with an access, or null.
  const char* check(const void* at, std::size_t bytes, bool writes) const {
    const std::size_t found = find(at);
    if (found == regions_.size()) return "access outside of all global memory that it was given";
    const Region& region = regions_[found];
    if (offset(region, at) + bytes > region.bytes) return "access beyond the end of global memory";
    if (reinterpret_cast<std::uintptr_t>(at) % bytes != 0)
      return "misaligned access to global memory";
    if (writes && !region.writable) return "writes to global memory that it may only read";
    return nullptr;
  }
  void note_written(const void* at, std::size_t bytes) {
    const std::size_t found = find(at);
    if (written_[found].empty()) return;
    std::fill_n(written_[found].begin() + std::ptrdiff_t(offset(regions_[found], at)), bytes, true);
  }
  bool is_written(const void* at) const {
    const std::size_t found = find(at);
    return written_[found].empty() || written_[found][offset(regions_[found], at)];
  }

 private:
  std::size_t find(const void* at) const {
    return std::size_t(std::find_if(regions_.begin(), regions_.end(),
                                    [&](const Region& region) {
                                      return at >= region.begin &&
                                             offset(region, at) < region.bytes;
                                    }) -
                       regions_.begin());
  }
  static std::size_t offset(const Region& region, const void* at) {
    return std::size_t(static_cast<const unsigned char*>(at) -
                       static_cast<const unsigned char*>(region.begin));
  }

  std::vector<Region> regions_;
  std::vector<std::vector<bool>> written_;
};

// Counts requests of a tile: the n-th accesses of its lanes between two synchronizations are one,
// and take the sectors of 32 bytes that they touch together.
class Transactions {
 public:
  void add(unsigned lane, const void* at, std::size_t bytes, Counts& counts) {
    const std::size_t index = next_[lane]++;
    if (index >= sectors_.size()) {
      if (sectors_.size() >= kMost) {
        flush(counts);
        return;
      }
      sectors_.emplace_back();
    }
    const auto first = reinterpret_cast<std::uintptr_t>(at) / kSector,
               last = (reinterpret_cast<std::uintptr_t>(at) + bytes - 1) / kSector;
    for (auto sector = first; sector <= last; ++sector) sectors_[index].push_back(sector);
  }
  void flush(Counts& counts) {
    for (auto& sectors : sectors_) {
      std::sort(sectors.begin(), sectors.end());
      ++counts.requests;
      counts.sectors +=
          std::uint64_t(std::unique(sectors.begin(), sectors.end()) - sectors.begin());
    }
    sectors_.clear();
    next_.fill(0);
  }

 private:
  static constexpr std::uintptr_t kSector = 32;
  static constexpr std::size_t kMost = 256;
  std::array<std::size_t, 32> next_{};
  std::vector<std::vector<std::uintptr_t>> sectors_;
};

}  // namespace leeway::gpu::emulator
