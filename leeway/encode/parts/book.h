// SPDX-License-Identifier: BSD-3-Clause
// Book: lengths of prefix codes for an interval of symbols, and for classes of all other codes.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "leeway/base/bytes.h"
#include "leeway/encode/parts/prefix_code.h"

namespace leeway {

struct Book {
  static constexpr i32 kSymbols = 1024;  // codes from -512 to 511
  // The class of a code outside the interval is the number of bits of its zigzag number, which
  // follow raw.
  static constexpr std::array<int, 12> kClassBits = {10, 11, 12, 13, 14, 15,
                                                     16, 18, 21, 25, 32, 64};
  static constexpr size_t kClasses = kClassBits.size();
  static size_t class_of(u64 zigzag) {
    size_t k = 0;
    while (int(std::bit_width(zigzag)) > kClassBits[k]) ++k;
    return k;
  }

  struct Counts {
    std::array<u32, kSymbols> symbols{};
    std::array<u32, kClasses> classes{};  // of codes that are no symbols
    void add(i64 code);
    u64 total() const;
    void halve();
  };

  i32 low = 0;              // the code of the first token after the classes
  std::vector<u8> lengths;  // for all tokens: classes, low, low + 1, ...

  i32 high() const { return low + i32(lengths.size() - kClasses) - 1; }
  static size_t symbol_of(i64 code) { return size_t(code + kSymbols / 2); }

  // The interval takes all symbols but the rarest at both ends.
  static Book made_of(const Counts& counts, prefix::Sort sort);

  // The bits that the counted codes take with this book.
  u64 cost(const Counts& counts) const;
  // The entropy in bits: no book needs fewer.
  static u64 entropy(const Counts& counts);
  // Standard deviation of the codes, without those in classes, in units of 2^-16: in integers, so
  // that hardware finds the same.
  static u32 deviation(const Counts& counts);

  // low + 512, symbols of the interval, then two lengths to a byte.
  void write(Writer& out) const;
  size_t bytes() const { return 4 + (lengths.size() + 1) / 2; }
  static Book read(Reader& in);
};

}  // namespace leeway
