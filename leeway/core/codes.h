// SPDX-License-Identifier: BSD-3-Clause
// CodeSink and CodeSource: codes on their way between predictor and encoder, piece by piece, so
// that they stay in the first cache.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "leeway/core/buffer.h"
#include "leeway/core/bytes.h"

namespace leeway {

// The most codes that pass at once.
inline constexpr size_t kMostCodes = 2048;

// Takes codes in order. A writer passes contexts, one byte a code, for all codes or for none.
template <class I>
class CodeSink {
 public:
  virtual ~CodeSink() = default;
  // Room for the next `count` codes, at most kMostCodes; valid until put().
  virtual I* room(size_t count) = 0;
  // Takes what was written there.
  virtual void put(size_t count, const u8* contexts) = 0;
  // To be called once, behind the last put().
  virtual void finish() = 0;

  // Any number of codes.
  void put_all(std::span<const I> codes, std::span<const u8> contexts) {
    for (size_t first = 0; first < codes.size(); first += kMostCodes) {
      const size_t count = std::min(kMostCodes, codes.size() - first);
      std::copy_n(codes.data() + first, count, room(count));
      put(count, contexts.empty() ? nullptr : contexts.data() + first);
    }
  }
};

// Gives codes in the order they were put. A reader passes contexts for all codes or for none.
template <class I>
class CodeSource {
 public:
  virtual ~CodeSource() = default;
  virtual void next(std::span<I> codes, const u8* contexts) = 0;
};

// For encoders that need all codes at once.
template <class I, class Encode>
class CollectedSink final : public CodeSink<I> {
 public:
  CollectedSink(size_t count, Encode encode) : codes_(count), encode_(std::move(encode)) {}
  I* room(size_t) override { return codes_.data() + done_; }
  void put(size_t count, const u8*) override { done_ += count; }
  void finish() override { encode_(std::span<const I>(codes_)); }

 private:
  Buffer<I> codes_;
  size_t done_ = 0;
  Encode encode_;
};

// For encoders that give all codes at once.
template <class I, class Decode>
class CollectedSource final : public CodeSource<I> {
 public:
  CollectedSource(size_t count, const Decode& decode) : codes_(count) {
    decode(std::span<I>(codes_));
  }
  void next(std::span<I> codes, const u8*) override {
    std::copy_n(codes_.data() + done_, codes.size(), codes.data());
    done_ += codes.size();
  }

 private:
  Buffer<I> codes_;
  size_t done_ = 0;
};

// Where nobody wants the codes.
template <class I>
class NoSink final : public CodeSink<I> {
 public:
  I* room(size_t count) override {
    if (codes_.size() < count) codes_ = Buffer<I>(count);
    return codes_.data();
  }
  void put(size_t, const u8*) override {}
  void finish() override {}

 private:
  Buffer<I> codes_;
};

}  // namespace leeway
