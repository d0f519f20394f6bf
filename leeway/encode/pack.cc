// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/encode/pack.h"

#include <algorithm>
#include <array>
#include <limits>

#include "leeway/base/bits.h"
#include "leeway/encode/pack_blocks.h"

namespace leeway {
using namespace pack_kernels;
namespace {

template <class I>
class PackSink final : public BlockSink<I, kPackBlock> {
 public:
  explicit PackSink(Writer& out) : BlockSink<I, kPackBlock>(kPackBlock), out_(out) {}

 private:
  void encode(I* codes, size_t count) override {
    const size_t start = out_.size(), blocks = (count + kPackBlock - 1) / kPackBlock;
    u8* const to = out_.extend(blocks * (1 + kPackBlock * sizeof(I))).data();
    out_.truncate(start + size_t(encode_blocks(codes, count, to) - to));
  }
  Writer& out_;
};

struct PatchList {
  ByteView positions, highs;
};

// Reads the patches of a block whose zigzag numbers have at most `bits` bits.
PatchList read_patches(Reader& in, size_t width, size_t bits) {
  const size_t count = in.get<u8>(), high_bytes = in.get<u8>();
  if (count == 0 || high_bytes < 1 || high_bytes > 4) fail_corrupt("impossible patches of a block");
  if (width + 8 * (high_bytes - 1) >= bits) fail_corrupt("patches of a block are too wide");
  const ByteView positions = in.take(count);
  return {positions, in.take(count * high_bytes)};
}

// Gives codes their high bits back. Errors are only noted in the loop, and thrown after it.
template <size_t high_bytes, class U>
void put_high_bits(const PatchList& patches, size_t n, size_t width, U* codes) {
  using I = std::make_signed_t<U>;
  const u8* high = patches.highs.data();
  bool wrong = patches.positions.back() >= n;
  int before = -1;
  for (const u8 position : patches.positions) {
    wrong |= position <= before;
    before = position;
    u64 above = 0;
    for (size_t k = 0; k < high_bytes; ++k) above |= u64(*high++) << 8 * k;
    const u64 z = zigzag(I(codes[position])) | above << width;
    wrong |= above == 0 || z > std::numeric_limits<U>::max();
    codes[position] = U(unzigzag(U(z)));
  }
  if (wrong) fail_corrupt("impossible patch of a block");
}
template <class U>
void put_high_bits(const PatchList& patches, size_t n, size_t width, U* codes) {
  switch (patches.highs.size() / patches.positions.size()) {
    case 1:
      return put_high_bits<1>(patches, n, width, codes);
    case 2:
      return put_high_bits<2>(patches, n, width, codes);
    case 3:
      return put_high_bits<3>(patches, n, width, codes);
    default:
      return put_high_bits<4>(patches, n, width, codes);
  }
}

// Reads the next block, of n codes.
template <class I>
void decode_block(Reader& in, I* codes, size_t n) {
  using U = std::conditional_t<sizeof(I) == 2, u16, u32>;
  constexpr size_t kBits = 8 * sizeof(U);
  const size_t rows = rows_of(n);
  const u8 head = in.get<u8>();
  if (head == kPackWide && sizeof(I) == 8) {
    for (size_t i = 0; i < n; ++i) codes[i] = I(unzigzag(in.get<u64>()));
    return;
  }
  const size_t width = head & 0x3f;
  if (head & kPackWide || width > kBits) fail_corrupt("impossible width of a block");
  PatchList patches;
  if (head & kPackPatched) patches = read_patches(in, width, kBits);
  const ByteView words = in.take(pack_bytes(rows, width));
  // A whole block of codes of this width is unpacked straight to its place.
  std::array<U, kPackBlock> block;
  const bool direct = sizeof(I) == sizeof(U) && n == kPackBlock;
  U* const to = direct ? reinterpret_cast<U*>(codes) : block.data();
  unpack(words.data(), rows, width, to);
  if (!patches.positions.empty()) put_high_bits(patches, n, width, to);
  if (!direct)
    for (size_t i = 0; i < n; ++i) codes[i] = I(std::make_signed_t<U>(block[i]));
}

template <class I>
class PackSource final : public BlockSource<I, kPackBlock> {
 public:
  PackSource(Reader& in, size_t count) : BlockSource<I, kPackBlock>(kPackBlock, count), in_(in) {}

 private:
  void decode(I* codes, size_t count) override {
    for (size_t first = 0; first < count; first += kPackBlock)
      decode_block(in_, codes + first, std::min(kPackBlock, count - first));
  }
  Reader& in_;
};

}  // namespace

template <class I>
std::unique_ptr<CodeSink<I>> Pack::sink(size_t, Writer& out) const {
  return std::make_unique<PackSink<I>>(out);
}
template <class I>
std::unique_ptr<CodeSource<I>> Pack::source(Reader& in, size_t count) const {
  return std::make_unique<PackSource<I>>(in, count);
}
template std::unique_ptr<CodeSink<i16>> Pack::sink<i16>(size_t, Writer&) const;
template std::unique_ptr<CodeSink<i32>> Pack::sink<i32>(size_t, Writer&) const;
template std::unique_ptr<CodeSink<i64>> Pack::sink<i64>(size_t, Writer&) const;
template std::unique_ptr<CodeSource<i16>> Pack::source<i16>(Reader&, size_t) const;
template std::unique_ptr<CodeSource<i32>> Pack::source<i32>(Reader&, size_t) const;
template std::unique_ptr<CodeSource<i64>> Pack::source<i64>(Reader&, size_t) const;

}  // namespace leeway
