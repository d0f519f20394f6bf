// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/encode/fixed.h"

#include <algorithm>
#include <array>

#include "leeway/encode/fixed_blocks.h"

namespace leeway {
using namespace fixed_kernels;
namespace {

constexpr size_t kMostBlock = 64;

// The parts of a block.
struct Planes {
  std::array<u64, kMostBlock> magnitudes;
  std::array<u8, kMostBlock / 8> signs;
};

// The scalar definition, for blocks of any size and codes of any width.
template <class I>
void split(const I* codes, size_t n, Planes& planes) {
  planes.signs = {};
  for (size_t i = 0; i < n; ++i) {
    const bool negative = codes[i] < 0;
    planes.magnitudes[i] = u64(negative ? u64(0) - u64(i64(codes[i])) : u64(codes[i]));
    planes.signs[i / 8] |= u8(u8(negative) << (7 - i % 8));
  }
}
void put_planes_of(const Planes& block, size_t n, size_t planes, u8* to) {
  for (size_t plane = 0; plane < planes; ++plane, to += n / 8) {
    std::memset(to, 0, n / 8);
    for (size_t i = 0; i < n; ++i)
      to[i / 8] |= u8((block.magnitudes[i] >> plane & 1) << (7 - i % 8));
  }
}

template <class I>
class FixedSink final : public BlockSink<I, kMostBlock> {
 public:
  FixedSink(const Fixed::Params& params, size_t count, Writer& out)
      : BlockSink<I, kMostBlock>(size_t(params.block)),
        params_(params),
        block_(size_t(params.block)),
        out_(out),
        heads_at_(out.size()) {
    const size_t heads = (count + block_ - 1) / block_ * size_t(params.head);
    heads_.reserve(heads);
    out_.extend(heads);
  }

 private:
  void encode(I* codes, size_t count) override {
    for (; count % block_ > 0; ++count) codes[count] = 0;
    if constexpr (sizeof(I) <= 4)
      if (block_ % kFixedGroup == 0) {
        const size_t start = out_.size();
        u8* const heads = heads_.extend(count / block_ * size_t(params_.head)).data();
        // A body has at most four bytes of an outlier, a sign plane and 32 bit planes.
        u8* const to = out_.extend(count / block_ * (4 + 33 * block_ / 8)).data();
        out_.truncate(start + encode_blocks(params_, codes, count, heads, to));
        return;
      }
    for (size_t first = 0; first < count; first += block_) encode_block(codes + first);
  }
  void end() override { out_.replace(heads_at_, heads_.size(), heads_.bytes()); }

  void encode_block(const I* codes) {
    Planes planes;
    split(codes, block_, planes);
    u64 others = 0;
    for (size_t i = 1; i < block_; ++i) others |= planes.magnitudes[i];
    const FixedHead head =
        choose_fixed(params_.outlier != 0, block_ / 8, planes.magnitudes[0], others);
    heads_.put(head.byte());
    for (i32 k = 1; k < params_.head; ++k) heads_.put(u8(0));
    if (head.body_bytes(block_ / 8) == 0) return;
    u8* to = out_.extend(head.body_bytes(block_ / 8)).data();
    for (size_t k = 0; k < head.outlier_bytes; ++k) *to++ = u8(planes.magnitudes[0] >> 8 * k);
    if (head.outlier_bytes) planes.magnitudes[0] = 0;
    std::memcpy(to, planes.signs.data(), block_ / 8);
    put_planes_of(planes, block_, head.planes, to + block_ / 8);
  }

  Fixed::Params params_;
  size_t block_;
  Writer heads_;
  Writer& out_;
  size_t heads_at_;
};

template <class I>
class FixedSource final : public BlockSource<I, kMostBlock> {
 public:
  FixedSource(const Fixed::Params& params, Reader& in, size_t count)
      : BlockSource<I, kMostBlock>(size_t(params.block), count),
        params_(params),
        block_(size_t(params.block)),
        in_(in),
        heads_(in.take((count + block_ - 1) / block_ * size_t(params.head))) {
    for (size_t byte = 0; byte < body_bytes_.size(); ++byte) {
      const FixedHead head = FixedHead::of(u8(byte));
      const bool possible =
          head.planes <= 8 * sizeof(I) && (head.outlier_bytes == 0 || params_.outlier != 0);
      body_bytes_[byte] = possible ? u16(head.body_bytes(block_ / 8)) : kImpossible;
    }
  }

 private:
  void decode(I* codes, size_t count) override {
    count = (count + block_ - 1) / block_ * block_;
    const size_t plane = block_ / 8, head_bytes = size_t(params_.head);
    const auto [heads, all] = take_blocks(count);
    if constexpr (sizeof(I) <= 4)
      if (block_ % kFixedGroup == 0) {
        const ByteView readable(all.data(), all.size() + in_.remaining());
        return decode_blocks(params_, heads.data(), readable, codes, count);
      }
    const u8* bodies = all.data();
    for (size_t i = 0; i < heads.size(); i += head_bytes, codes += block_) {
      const FixedHead head = FixedHead::of(heads[i]);
      decode_block(head, bodies, codes);
      bodies += head.body_bytes(plane);
    }
  }

  bool leave_out(size_t count) override {
    take_blocks(count);
    return true;
  }

  // Heads, which are all checked before any block is decoded, and bodies of the next blocks.
  struct Taken {
    ByteView heads, bodies;
  };
  Taken take_blocks(size_t count) {
    const size_t head_bytes = size_t(params_.head);
    const ByteView heads = heads_.subspan(at_, count / block_ * head_bytes);
    size_t body_bytes = 0;
    bool possible = true;
    for (size_t i = 0; i < heads.size(); i += head_bytes) {
      for (size_t k = 1; k < head_bytes; ++k) possible &= heads[i + k] == 0;
      possible &= body_bytes_[heads[i]] != kImpossible;
      body_bytes += body_bytes_[heads[i]];
    }
    if (!possible) fail_corrupt("impossible head of a block");
    at_ += heads.size();
    return {heads, in_.take(body_bytes)};
  }

  void decode_block(const FixedHead& head, const u8* body, I* codes) const {
    const size_t plane = block_ / 8;
    if (head.body_bytes(plane) == 0) return void(std::fill_n(codes, block_, I(0)));
    const u8 *signs = body + head.outlier_bytes, *planes = signs + plane;
    for (size_t i = 0; i < block_; ++i) {
      u64 magnitude = 0;
      for (size_t k = 0; i == 0 && k < head.outlier_bytes; ++k) magnitude |= u64(body[k]) << 8 * k;
      for (size_t k = 0; k < head.planes; ++k)
        magnitude |= u64(planes[k * plane + i / 8] >> (7 - i % 8) & 1) << k;
      codes[i] = I(signs[i / 8] >> (7 - i % 8) & 1 ? u64(0) - magnitude : magnitude);
    }
  }

  Fixed::Params params_;
  size_t block_;
  Reader& in_;
  ByteView heads_;
  size_t at_ = 0;  // position in heads_
  static constexpr u16 kImpossible = 0xffff;
  std::array<u16, 256> body_bytes_;  // size of a body by the first byte of its head
};

}  // namespace

template <class I>
std::unique_ptr<CodeSink<I>> Fixed::sink(size_t count, Writer& out) const {
  return std::make_unique<FixedSink<I>>(params, count, out);
}
template <class I>
std::unique_ptr<CodeSource<I>> Fixed::source(Reader& in, size_t count) const {
  return std::make_unique<FixedSource<I>>(params, in, count);
}
template std::unique_ptr<CodeSink<i16>> Fixed::sink<i16>(size_t, Writer&) const;
template std::unique_ptr<CodeSink<i32>> Fixed::sink<i32>(size_t, Writer&) const;
template std::unique_ptr<CodeSink<i64>> Fixed::sink<i64>(size_t, Writer&) const;
template std::unique_ptr<CodeSource<i16>> Fixed::source<i16>(Reader&, size_t) const;
template std::unique_ptr<CodeSource<i32>> Fixed::source<i32>(Reader&, size_t) const;
template std::unique_ptr<CodeSource<i64>> Fixed::source<i64>(Reader&, size_t) const;

}  // namespace leeway
