// SPDX-License-Identifier: BSD-3-Clause
// Anatomy: what a payload consists of, found while it is decoded: sections, settings, and the codes
// with their entropy. For `leeway explain`.
#pragma once

#include <array>
#include <bit>
#include <memory>
#include <string>
#include <vector>

#include "leeway/base/export.h"
#include "leeway/codec/payload.h"
#include "leeway/join/grids.h"
#include "leeway/stage/codes.h"

namespace leeway {

// Counts codes, apart for every context. Codes nearer to 0 than kNear are counted one by one, the
// others by sign and number of bits.
class CodeCounts {
 public:
  static constexpr i64 kNear = 1024;

  template <class I>
  void add(std::span<const I> codes, const u8* contexts) {
    for (size_t i = 0; i < codes.size(); ++i) {
      Classes& classes = counts_[contexts ? contexts[i] : 0];
      classes.resize(kClasses);
      ++classes[class_of(codes[i])];
    }
  }
  LEEWAY_EXPORT void add(const CodeCounts& other);

  u64 count() const;
  size_t contexts() const;  // that occur
  // {code, count} of the codes near 0 that occur, in order.
  std::vector<std::pair<i64, u64>> near() const;
  // How many are farther away.
  u64 larger() const;
  // How many say that a value is kept exactly.
  u64 exact() const;
  // Bits a code, if each class has a code word by its frequency and the rest of a large code is
  // stored as it is: with the same words for all codes, or with words of its own for every context.
  double entropy() const;
  double entropy_in_contexts() const;

 private:
  // -kNear + 1 to kNear - 1, exact, then by bits: positive ones, negative ones.
  static constexpr size_t kExact = 2 * kNear, kLarge = kExact + 1, kBits = 65, kClasses = kLarge + 2 * kBits;
  using Classes = std::vector<u64>;

  template <class I>
  static size_t class_of(I code) {
    if (code == kExactCode<I>) return kExact;
    const i64 value = code;
    if (value > -kNear && value < kNear) return size_t(value + kNear);
    const size_t bits = size_t(std::bit_width(value < 0 ? u64(0) - u64(value) : u64(value)));
    return kLarge + (value < 0 ? kBits : 0) + bits;
  }
  static size_t raw_bits(size_t index) {
    return index <= kLarge ? 0 : (index - kLarge) % kBits - 1;
  }
  static double bits_of_all(const Classes& classes);
  Classes merged() const;

  std::array<Classes, 256> counts_;
};

// A source that counts what it gives.
template <class I>
class CountedSource final : public CodeSource<I> {
 public:
  CountedSource(CodeSource<I>& codes, CodeCounts& counts) : codes_(codes), counts_(counts) {}
  bool wants_contexts() const override { return codes_.wants_contexts(); }
  void next(std::span<I> codes, const u8* contexts) override {
    codes_.next(codes, contexts);
    counts_.add(std::span<const I>(codes), contexts);
  }
  CodeSource<I>* segment(size_t count) override {
    CodeSource<I>* const own = codes_.segment(count);
    if (!own) return nullptr;
    segments_.push_back(std::make_unique<Segment>(*own));
    return &segments_.back()->source;
  }
  // To be called when all codes are taken: segments are counted by themselves, as several threads
  // may read them.
  void finish() {
    for (const auto& segment : segments_) counts_.add(segment->counts);
  }

 private:
  struct Segment;
  CodeSource<I>& codes_;
  CodeCounts& counts_;
  std::vector<std::unique_ptr<Segment>> segments_;
};
template <class I>
struct CountedSource<I>::Segment {
  CodeCounts counts;
  CountedSource source;
  explicit Segment(CodeSource<I>& codes) : source(codes, counts) {}
};

struct Anatomy {
  Payload kind{};
  size_t alternative = 0;
  CodeWidth width{};
  struct Part {
    std::string name;
    u64 bytes;
  };
  std::vector<Part> parts;            // of the body, before the lossless stages
  u64 body_bytes = 0;                 // before them
  u64 packed_bytes = 0;               // after them
  std::vector<u64> level_bytes;       // of the body, that hold every second value, every fourth, ...
  std::string settings;               // of a predictor that chooses them
  CodeCounts codes;
};

}  // namespace leeway
