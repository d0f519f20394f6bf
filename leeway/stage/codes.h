// SPDX-License-Identifier: BSD-3-Clause
// CodeSink and CodeSource: codes on their way between predictor and encoder, piece by piece, so
// that they stay in the first cache. AnySink and AnySource are the same for whoever only passes
// them on: how wide a code is, is a value there.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "leeway/base/buffer.h"
#include "leeway/base/bytes.h"
#include "leeway/base/export.h"
#include "leeway/base/shape.h"

namespace leeway {

// The most codes that pass at once.
inline constexpr size_t kMostCodes = 2048;

// How wide codes are: the number of bytes of one.
enum class CodeWidth : u8 { bits16 = 2, bits32 = 4, bits64 = 8 };
template <class I>
inline constexpr CodeWidth kWidthOf{sizeof(I)};

// Calls f(type) with the signed integers of that width.
template <class F>
decltype(auto) with_codes(CodeWidth width, F&& f) {
  if (width == CodeWidth::bits16) return f(std::type_identity<i16>());
  if (width == CodeWidth::bits32) return f(std::type_identity<i32>());
  return f(std::type_identity<i64>());
}

template <class I>
class CodeSink;
template <class I>
class CodeSource;

// A sink of codes of some width: a CodeSink, which typed<I>() gives.
class AnySink {
 public:
  virtual ~AnySink() = default;
  CodeWidth width() const { return width_; }
  // To be called once, after the last code.
  virtual void finish() = 0;
  // Whether contexts are of any use.
  virtual bool wants_contexts() const { return false; }
  // Level `level` begins: all codes of coarser levels, which have larger numbers, are put.
  virtual void begin_level(size_t) {}
  // After finish(): for level 0, 1, ..., how many of the bytes written hold all codes that were put
  // before the level began. Empty if no level began, or if the encoder cannot tell.
  virtual std::vector<size_t> level_ends() const { return {}; }

 private:
  template <class I>
  friend class CodeSink;
  explicit AnySink(CodeWidth width) : width_(width) {}
  CodeWidth width_;
};

// Takes codes in order. A writer passes contexts, one byte a code, for all codes or for none.
template <class I>
class CodeSink : public AnySink {
 public:
  CodeSink() : AnySink(kWidthOf<I>) {}
  // Room for the next `count` codes, at most kMostCodes; valid until put().
  virtual I* room(size_t count) = 0;
  // Takes what was written there.
  virtual void put(size_t count, const u8* contexts) = 0;
  // A sink of the next `count` codes, which a decoder shall be able to read without those before.
  // Several may be filled at a time, by several threads. It lives as long as this one and is not
  // finished by itself. Null if there is no such thing: then codes are put here, in order.
  virtual CodeSink* segment(size_t) { return nullptr; }

  // Any number of codes.
  void put_all(std::span<const I> codes, std::span<const u8> contexts) {
    for (size_t first = 0; first < codes.size(); first += kMostCodes) {
      const size_t count = std::min(kMostCodes, codes.size() - first);
      std::copy_n(codes.data() + first, count, room(count));
      put(count, contexts.empty() ? nullptr : contexts.data() + first);
    }
  }
};

// A source of codes of some width: a CodeSource, which typed<I>() gives.
class AnySource {
 public:
  virtual ~AnySource() = default;
  CodeWidth width() const { return width_; }
  virtual bool wants_contexts() const { return false; }

 private:
  template <class I>
  friend class CodeSource;
  explicit AnySource(CodeWidth width) : width_(width) {}
  CodeWidth width_;
};

// Gives codes in the order they were put. A reader passes contexts for all codes or for none.
template <class I>
class CodeSource : public AnySource {
 public:
  CodeSource() : AnySource(kWidthOf<I>) {}
  virtual void next(std::span<I> codes, const u8* contexts) = 0;
  // Leaves out the next `count` codes. Returns false and does nothing if they would have to be
  // decoded for that.
  virtual bool skip(size_t) { return false; }
  // The source of the next segment, of `count` codes; several may be read at a time, or left
  // unread. It lives as long as this one. Null if the encoder has no segments.
  virtual CodeSource* segment(size_t) { return nullptr; }
};

// A sink or source whose width is known to be that of I.
template <class I>
CodeSink<I>& typed(AnySink& sink) {
  return static_cast<CodeSink<I>&>(sink);
}
template <class I>
CodeSource<I>& typed(AnySource& source) {
  return static_cast<CodeSource<I>&>(source);
}

// What of a chunk shall be decoded: a coarse level of it, or what lies in a box. More may be.
struct Wanted {
  size_t last_level = 0;  // every 2^level-th value along all axes
  std::optional<Box> box{};
};

// |q| of each code, but at most 255.
LEEWAY_EXPORT void magnitudes_of(std::span<const i32> codes, u8* magnitudes);
LEEWAY_EXPORT void magnitudes_of(std::span<const i64> codes, u8* magnitudes);

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

// For encoders of blocks that know nothing of each other.
template <class I, size_t most>
class BlockSink : public CodeSink<I> {
 public:
  explicit BlockSink(size_t block) : block_(block) {}
  I* room(size_t) final { return codes_.data() + left_; }
  void put(size_t count, const u8*) final {
    left_ += count;
    const size_t whole = left_ / block_ * block_;
    if (whole > 0) encode(codes_.data(), whole);
    left_ -= whole;
    std::copy_n(codes_.data() + whole, left_, codes_.data());
  }
  void finish() final {
    if (left_ > 0) encode(codes_.data(), left_);
    end();
  }

 private:
  // Whole blocks, or what is left of the last one; it may be filled up to a whole one.
  virtual void encode(I* codes, size_t count) = 0;
  virtual void end() {}

  size_t block_;
  size_t left_ = 0;  // less than a block, from the put() before
  alignas(64) std::array<I, most + kMostCodes> codes_;
};

template <class I, size_t most>
class BlockSource : public CodeSource<I> {
 public:
  BlockSource(size_t block, size_t count) : block_(block), left_(count) {}
  void next(std::span<I> codes, const u8*) final {
    while (!codes.empty()) {
      const size_t whole = codes.size() / block_ * block_;
      if (waiting_.empty() && whole > 0) {
        decode(codes.data(), whole);
        left_ -= whole;
        codes = codes.subspan(whole);
        continue;
      }
      if (waiting_.empty()) {
        const size_t n = std::min(block_, left_);
        decode(last_.data(), n);
        left_ -= n;
        waiting_ = std::span<const I>(last_).first(n);
      }
      const size_t n = std::min(waiting_.size(), codes.size());
      std::copy_n(waiting_.data(), n, codes.data());
      waiting_ = waiting_.subspan(n);
      codes = codes.subspan(n);
    }
  }
  bool skip(size_t count) final {
    if (!waiting_.empty() || count % block_ > 0 || !leave_out(count)) return false;
    left_ -= count;
    return true;
  }

 private:
  // Whole blocks, or the last one of fewer codes, with room for a whole one.
  virtual void decode(I* codes, size_t count) = 0;
  // Whole blocks; false if their size is not known before they are decoded.
  virtual bool leave_out(size_t) { return false; }

  size_t block_;
  size_t left_;  // codes in blocks not yet decoded
  alignas(64) std::array<I, most> last_;
  std::span<const I> waiting_;  // in last_
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
