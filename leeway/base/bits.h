// SPDX-License-Identifier: BSD-3-Clause
// Bits: numbers of any width in a row, low bits first, and signed numbers as unsigned ones.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>

#include "leeway/base/bytes.h"

namespace leeway {

// 0, -1, 1, -2, ... as 0, 1, 2, 3, ...
template <class I>
constexpr auto zigzag(I q) {
  using U = std::make_unsigned_t<I>;
  return U((U(q) << 1) ^ U(q >> (8 * sizeof(I) - 1)));
}
template <class U>
constexpr auto unzigzag(U z) {
  return std::make_signed_t<U>((z >> 1) ^ (U(0) - (z & 1)));
}

// Bits in a row, low ones first.
class BitWriter {
 public:
  void put(u64 value, int count) {  // count <= 63, no bits above
    window_ |= value << used_;
    if (used_ + count >= 64) {
      flush(8);
      window_ = used_ > 0 ? value >> (64 - used_) : 0;
      used_ += count - 64;
    } else {
      used_ += count;
    }
  }
  // Many numbers, without a branch: put(i) returns number i and its number of bits. `together`
  // numbers in a row, a divisor of their count, have at most 56 bits.
  template <size_t together, class Put>
  void put_run(size_t count, Put&& put) {
    const size_t start = bytes_.size();
    u8* const begin = bytes_.extend(8 * (count + 2)).data();
    u8* to = begin;
    u64 window = window_;
    auto used = unsigned(used_);
    const auto move_on = [&] {  // whole bytes go, at most 7 bits stay
      std::memcpy(to, &window, 8);
      to += used / 8;
      window >>= used & 56;
      used %= 8;
    };
    move_on();
    for (size_t i = 0; i < count; i += together) {
      u64 joined = 0;
      unsigned bits = 0;
      for (size_t k = i; k < i + together; ++k) {
        const auto [value, more] = put(k);
        joined |= value << bits;
        bits += unsigned(more);
      }
      window |= joined << used;
      used += bits;
      move_on();
    }
    bytes_.truncate(start + size_t(to - begin));
    window_ = window;
    used_ = int(used);
  }
  // The size in bytes, counting a last byte that is not full.
  size_t size() const { return bytes_.size() + size_t(used_ + 7) / 8; }
  Writer take() {
    flush(size_t(used_ + 7) / 8);
    return std::move(bytes_);
  }

 private:
  void flush(size_t count) { bytes_.put_bytes({reinterpret_cast<const u8*>(&window_), count}); }
  Writer bytes_;
  u64 window_ = 0;
  int used_ = 0;
};

class BitReader {
 public:
  explicit BitReader(ByteView bytes) : bytes_(bytes) {}
  u64 get(int count) {  // count <= 63
    const size_t byte = size_t(position_ / 8);
    const int offset = int(position_ % 8);
    if (offset + count <= 64 && byte + 8 <= bytes_.size()) {
      u64 window;
      std::memcpy(&window, bytes_.data() + byte, 8);
      position_ += u64(count);
      return window >> offset & ((u64(1) << count) - 1);
    }
    return get_near_end(count);
  }
  // Calls take(i, number i) for `count` numbers, a multiple of four, of at most 14 bits each.
  // Returns false and does nothing if they come too near to the end.
  template <class Take>
  [[gnu::always_inline]] bool get_run(const u8* bits, size_t count, Take&& take) {
    if (position_ / 8 + 2 * count + 8 > bytes_.size()) return false;
    u64 position = position_;
    for (size_t i = 0; i < count; i += 4) {
      u64 window;
      std::memcpy(&window, bytes_.data() + position / 8, 8);
      window >>= position % 8;
      for (size_t k = i; k < i + 4; ++k) {
        take(k, window & ((u64(1) << bits[k]) - 1));
        window >>= bits[k];
        position += bits[k];
      }
    }
    position_ = position;
    return true;
  }
  // Throws if anything is left but zero bits in the last byte.
  void expect_end() const {
    if ((position_ + 7) / 8 != bytes_.size() ||
        (position_ % 8 > 0 && bytes_.back() >> (position_ % 8) != 0))
      fail_corrupt("raw bits left over");
  }

 private:
  u64 get_near_end(int count) {
    u64 value = 0;
    for (int got = 0; got < count;) {
      const size_t byte = size_t(position_ / 8);
      if (byte >= bytes_.size()) fail_corrupt("raw bits end too early");
      const int offset = int(position_ % 8), n = std::min(8 - offset, count - got);
      value |= u64((bytes_[byte] >> offset) & ((1 << n) - 1)) << got;
      got += n;
      position_ += u64(n);
    }
    return value;
  }

  ByteView bytes_;
  u64 position_ = 0;
};

}  // namespace leeway
