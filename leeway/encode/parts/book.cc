// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/encode/parts/book.h"

#include <algorithm>

#include "leeway/base/log2.h"
#include "leeway/encode/parts/token.h"

namespace leeway {

void Book::Counts::add(i64 code) {
  if (code >= -kSymbols / 2 && code < kSymbols / 2)
    ++symbols[symbol_of(code)];
  else
    ++classes[class_of(zigzag(code))];
}

u64 Book::Counts::total() const {
  u64 sum = 0;
  for (const u32 n : symbols) sum += n;
  for (const u32 n : classes) sum += n;
  return sum;
}

void Book::Counts::halve() {
  for (u32& n : symbols) n /= 2;
  for (u32& n : classes) n /= 2;
}

Book Book::made_of(const Counts& counts, prefix::Sort sort) {
  // Symbols at both ends are left out while they are at most one code in 4096 together; two stay.
  const u64 rare = counts.total() / 4096;
  size_t first = 0, last = kSymbols - 1;
  u64 left_out = 0;
  const auto leave_out = [&](size_t symbol) {
    if (left_out + counts.symbols[symbol] > rare) return false;
    left_out += counts.symbols[symbol];
    return true;
  };
  while (first + 1 < last && leave_out(first)) ++first;
  while (last > first + 1 && leave_out(last)) --last;

  Book book;
  book.low = i32(first) - kSymbols / 2;
  std::vector<u32> used(counts.classes.begin(), counts.classes.end());
  used[0] += u32(left_out);
  used.insert(used.end(), counts.symbols.begin() + std::ptrdiff_t(first),
              counts.symbols.begin() + std::ptrdiff_t(last) + 1);
  for (u32& n : used) n = std::max(n, 1u);
  book.lengths = prefix::code_lengths(used, sort);
  return book;
}

u64 Book::cost(const Counts& counts) const {
  const size_t first = symbol_of(low), end = symbol_of(high()) + 1;
  u64 bits = 0, outside = 0;
  for (size_t s = 0; s < first; ++s) outside += counts.symbols[s];
  for (size_t s = first; s < end; ++s)
    bits += u64(counts.symbols[s]) * lengths[kClasses + s - first];
  for (size_t s = end; s < size_t(kSymbols); ++s) outside += counts.symbols[s];
  for (size_t k = 0; k < kClasses; ++k)
    bits += (counts.classes[k] + (k == 0 ? outside : 0)) * u64(lengths[k] + kClassBits[k]);
  return bits;
}

u64 Book::entropy(const Counts& counts) {
  const u64 total = counts.total();
  if (total == 0) return 0;
  const u64 log_total = log2_of(total);
  u64 bits = 0;
  const auto add = [&](u64 n) {
    if (n > 0) bits += n * (log_total - std::min<u64>(log_total, log2_of(n)));
  };
  for (const u32 n : counts.symbols) add(n);
  for (size_t k = 0; k < kClasses; ++k) {
    add(counts.classes[k]);
    bits += u64(counts.classes[k]) * u64(kClassBits[k]) << 16;
  }
  return bits >> 16;
}

namespace {

// The largest integer whose square is at most x, for x < 2^62.
u64 integer_root(u64 x) {
  u64 root = 0;
  for (u64 bit = u64(1) << 30; bit > 0; bit /= 2)
    if ((root + bit) * (root + bit) <= x) root += bit;
  return root;
}

}  // namespace

u32 Book::deviation(const Counts& counts) {
  // With fewer than 2^20 codes, n squares - sum^2 < 2^58.
  constexpr int kMostBits = 20;
  u64 all = 0;
  for (const u32 n : counts.symbols) all += n;
  const int shift = std::max(0, int(std::bit_width(all)) - kMostBits);
  u64 total = 0, sum = 0, squares = 0;
  for (u64 s = 0; s < counts.symbols.size(); ++s) {
    const u64 n = counts.symbols[s] >> shift;
    total += n;
    sum += n * s;
    squares += n * s * s;
  }
  if (total == 0) return 0;
  return u32((integer_root((total * squares - sum * sum) << 4) << 14) / total);
}

void Book::write(Writer& out) const {
  out.put(u16(low + kSymbols / 2));
  out.put(u16(lengths.size() - kClasses));
  prefix::write_lengths(lengths, out);
}

Book Book::read(Reader& in) {
  Book book;
  const size_t first = in.get<u16>(), count = in.get<u16>();
  if (count == 0 || first + count > size_t(kSymbols)) fail_corrupt("a book outside the alphabet");
  book.low = i32(first) - kSymbols / 2;
  book.lengths = prefix::read_lengths(in, kClasses + count);
  if (std::ranges::count(book.lengths, u8(0)) > 0) fail_corrupt("a symbol without a code");
  return book;
}

}  // namespace leeway
