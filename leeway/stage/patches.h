// SPDX-License-Identifier: BSD-3-Clause
// Patches: values kept bit for bit, by position, beside what the stages code (patches.md).
//
// Runs of equal values with a small palette cost a few bytes each, whatever their length: land
// masks, NaN regions and the odd value that no code can reach all fit the same list.
#pragma once

#include <algorithm>
#include <vector>

#include "leeway/base/bytes.h"
#include "leeway/base/field.h"

namespace leeway {

template <class T>
class Patches {
 public:
  static constexpr size_t kMaxPalette = 16;

  // Adds a value; positions must be added in ascending order.
  void add(size_t position, T value) {
    if (!runs_.empty() && runs_.back().end() == position && runs_.back().bits == bits_of(value)) {
      ++runs_.back().count;
    } else {
      runs_.push_back({u32(position), 1, bits_of(value)});
    }
    ++count_;
  }
  size_t count() const { return count_; }
  // Adds patches whose positions are all higher than those already here.
  void append(const Patches& later) {
    for (const Run& run : later.runs_)
      for (size_t i = 0; i < run.count; ++i) add(run.first + i, std::bit_cast<T>(run.bits));
  }

  // To the values from position `start` on.
  void apply(std::span<T> values, size_t start = 0) const {
    const size_t stop = start + values.size();
    auto run = std::ranges::upper_bound(runs_, start, {}, &Run::end);
    for (; run != runs_.end() && run->first < stop; ++run) {
      const size_t first = std::max<size_t>(run->first, start), end = std::min(run->end(), stop);
      std::fill_n(values.begin() + std::ptrdiff_t(first - start), end - first,
                  std::bit_cast<T>(run->bits));
    }
  }

  void write(Writer& out) const {
    const std::vector<Bits<T>> palette = choose_palette();
    out.put_varint(runs_.size());
    if (runs_.empty()) return;
    out.put(u8(palette.size()));
    out.put_array(std::span(palette));
    size_t position = 0;
    for (const Run& run : runs_) {
      const auto entry = std::ranges::find(palette, run.bits);
      out.put_varint(run.first - position);
      out.put_varint(run.count - 1);
      out.put(u8(entry - palette.begin()));
      if (entry == palette.end()) out.put(run.bits);
      position = run.end();
    }
  }

  // write() makes at most this many bytes of the patches of `size` values. The worst case is a run
  // for every value, none of them in the palette. A longer gap or run has a longer number, but only
  // one byte more for at least 128 values.
  static constexpr size_t most_bytes(size_t size) {
    constexpr size_t kNumber = 10;  // the longest varint
    return kNumber + 1 + kMaxPalette * sizeof(T) + size * (3 + sizeof(T));
  }

  static Patches read(Reader& in, size_t size) {
    Patches patches;
    const u64 runs = in.get_varint(size, "too many patches");
    if (runs == 0) return patches;
    if (runs > in.remaining() / 3) fail_corrupt("patches end too early");
    std::vector<Bits<T>> palette(in.get<u8>());
    if (palette.size() > kMaxPalette) fail_corrupt("palette too large");
    in.get_array(std::span(palette));
    patches.runs_.reserve(size_t(runs));
    size_t position = 0;
    for (u64 i = 0; i < runs; ++i) {
      const u64 gap = in.get_varint(size - position, "patch outside the chunk");
      position += size_t(gap);
      if (position == size) fail_corrupt("patch outside the chunk");
      const u64 count = in.get_varint(size - position - 1, "patch outside the chunk") + 1;
      const u8 entry = in.get<u8>();
      if (entry > palette.size()) fail_corrupt("patch outside the palette");
      const Bits<T> bits = entry < palette.size() ? palette[entry] : in.get<Bits<T>>();
      patches.runs_.push_back({u32(position), u32(count), bits});
      position += size_t(count);
      patches.count_ += size_t(count);
    }
    return patches;
  }

 private:
  // Positions in a chunk, which has at most 2^24 values.
  struct Run {
    u32 first, count;
    Bits<T> bits;
    size_t end() const { return size_t(first) + count; }
  };
  // The first kMaxPalette values that start more than one run.
  std::vector<Bits<T>> choose_palette() const {
    std::vector<Bits<T>> palette, once;
    for (const Run& run : runs_) {
      if (palette.size() == kMaxPalette) break;
      if (std::ranges::find(palette, run.bits) != palette.end()) continue;
      if (std::ranges::find(once, run.bits) != once.end())
        palette.push_back(run.bits);
      else if (once.size() < 4 * kMaxPalette)
        once.push_back(run.bits);
    }
    return palette;
  }

  std::vector<Run> runs_;
  size_t count_ = 0;
};

}  // namespace leeway
