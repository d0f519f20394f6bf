// SPDX-License-Identifier: BSD-3-Clause
// CausalContexts: what the codes of the row before and of the plane before tell about the next ones
// (lorenzo.md, "Contexts").
#pragma once

#include <algorithm>
#include <bit>
#include <span>

#include "leeway/base/buffer.h"
#include "leeway/base/shape.h"
#include "leeway/stage/codes.h"

namespace leeway {

class CausalContexts {
 public:
  // Shorter rows would mean short pieces: they are left out.
  static constexpr u64 kShortestRow = 32;

  // For codes in the order of the values of an array; empty() if that says too little.
  explicit CausalContexts(const Shape& shape) {
    const size_t rank = shape.rank();
    if (rank < 2 || shape[rank - 1] < kShortestRow) return;
    row_ = size_t(shape[rank - 1]);
    plane_ = rank > 2 ? row_ * size_t(shape[rank - 2]) : 0;
    before_ = std::max(row_, plane_) + 1;
    magnitudes_ = Buffer<u8>(before_ + size_t(shape.size()));
    std::fill_n(magnitudes_.data(), before_, u8(0));
  }
  bool empty() const { return magnitudes_.empty(); }
  // How many codes can be decoded at a time.
  size_t most() const { return std::min(row_ - 1, kMostCodes); }

  // The contexts of the next `count` codes, at most kMostCodes; those of the row before must have
  // been added. An encoder adds codes before it asks for their contexts, a decoder after that.
  const u8* next(size_t count) {
    const u8* const at = magnitudes_.data() + before_ + asked_;
    asked_ += count;
    const auto around = [&](const u8* s, size_t i) {
      return u32(s[i]) + s[i] + s[std::ptrdiff_t(i) - 1] + s[i + 1];
    };
    for (size_t i = 0; i < count; ++i) {
      const u32 sum = around(at - row_, i) + (plane_ > 0 ? around(at - plane_, i) : 0);
      // Half octaves, as the exponent and the first bit of a float tell them.
      contexts_[i] = u8((std::bit_cast<u32>(float(i32(sum + 1))) >> 22) - 254);
    }
    return contexts_.data();
  }
  template <class I>
  void add(std::span<const I> codes) {
    magnitudes_of(codes, magnitudes_.data() + before_ + added_);
    added_ += codes.size();
  }

 private:
  size_t row_ = 0, plane_ = 0, before_ = 0, asked_ = 0, added_ = 0;
  Buffer<u8> magnitudes_;  // zeros, then those of the codes
  std::array<u8, kMostCodes> contexts_;
};

// Gives codes their contexts on the way to the encoder.
template <class I>
class CausalSink final : public CodeSink<I> {
 public:
  CausalSink(CodeSink<I>& sink, const Shape& shape) : sink_(sink), contexts_(shape) {}
  I* room(size_t count) override { return room_ = sink_.room(count); }
  void put(size_t count, const u8*) override {
    if constexpr (sizeof(I) > 2)
      if (!contexts_.empty()) contexts_.add(std::span<const I>(room_, count));
    sink_.put(count, contexts_.empty() ? nullptr : contexts_.next(count));
  }
  void finish() override { sink_.finish(); }

 private:
  CodeSink<I>& sink_;
  CausalContexts contexts_;
  I* room_ = nullptr;
};

// The same on the way back. Any number of codes at a time.
template <class I>
class CausalSource final : public CodeSource<I> {
 public:
  CausalSource(CodeSource<I>& source, const Shape& shape) : source_(source), contexts_(shape) {}
  void next(std::span<I> codes, const u8*) override {
    if (contexts_.empty()) return source_.next(codes, nullptr);
    for (; !codes.empty(); codes = codes.subspan(std::min(codes.size(), contexts_.most()))) {
      const std::span<I> piece = codes.first(std::min(codes.size(), contexts_.most()));
      source_.next(piece, contexts_.next(piece.size()));
      if constexpr (sizeof(I) > 2) contexts_.add(std::span<const I>(piece));
    }
  }

 private:
  CodeSource<I>& source_;
  CausalContexts contexts_;
};

}  // namespace leeway
