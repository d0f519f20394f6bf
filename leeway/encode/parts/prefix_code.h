// SPDX-License-Identifier: BSD-3-Clause
// Prefix code: canonical codes of at most 12 bits over tokens of one or two bytes, written to and
// read from interleaved bit streams; used by huffman and adaptive.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

#include "leeway/base/bytes.h"

namespace leeway::prefix {

inline constexpr int kMaxLength = 12;
inline constexpr size_t kStreams = 4;

// Quarter k of n tokens is [quarter(n, k), quarter(n, k + 1)).
constexpr size_t quarter(size_t n, size_t k) {
  return std::min(n, (n + kStreams - 1) / kStreams * k);
}
template <class Token>
std::span<const Token> stream_of(std::span<const Token> tokens, size_t k) {
  const size_t first = quarter(tokens.size(), k);
  return tokens.subspan(first, quarter(tokens.size(), k + 1) - first);
}

// How symbols are put in the order of their counts before the tree is built.
enum class Sort : u8 {
  approximate,  // for counts that fall off on both sides of the most frequent one [CEAZ]: by their
                // distance from it, of two the rarer first
  exact,
};
constexpr std::array<std::string_view, 2> param_words(Sort) { return {"approximate", "exact"}; }

// The symbols that occur, from the rarest to the most frequent.
std::vector<u16> sorted(std::span<const u32> counts, Sort sort);

// Lengths of the codes of the symbols that occur, which must be at least two.
std::vector<u8> code_lengths(std::span<const u32> counts, Sort sort = Sort::exact);

// Throws unless the lengths, each 0 or up to 12, form a code that uses every bit pattern.
void check_lengths(std::span<const u8> lengths);

// Writes two lengths in a byte, the first in the low half; an unused half is 0.
void write_lengths(std::span<const u8> lengths, Writer& out);
std::vector<u8> read_lengths(Reader& in, size_t count);
// The same in few bytes where most symbols have no code (huffman.md): up to the last that has one,
// at most `most` symbols.
void write_sparse_lengths(std::span<const u8> lengths, Writer& out);
std::vector<u8> read_sparse_lengths(Reader& in, size_t most);

// Canonical codes, by length and then by symbol; bits reversed, because streams fill from the low
// bit.
std::vector<u16> canonical_codes(std::span<const u8> lengths);

// The code in the highest bits, its length in the lowest. A shift by the whole entry is a shift by
// the length, because only six bits count; the low bits of a sum of entries are the sum of lengths.
std::vector<u64> encode_table(std::span<const u8> lengths);
constexpr int length_of(u64 entry) { return int(entry & 63); }

// A stream that is being written, in exactly the bytes it needs. Bits enter the window from above;
// below the pending bits are bits that were written already, and sums of lengths.
struct StreamWriter {
  u8* to;
  u64 window = 0;
  u64 used = 0;  // bits pending, in the low six bits

  [[gnu::always_inline]] void put(u64 entry) {
    window = window >> (entry & 63) | entry;
    used += entry;
  }
  // At most 60 bits may be pending.
  u64 pending() {
    used &= 63;
    return used > 0 ? window >> (64 - used) : 0;
  }
  // Writes eight bytes; the last of them may belong to the next stream.
  template <class Token>
  [[gnu::always_inline]] void put_four(const Token* tokens, const u64* table) {
    put(table[tokens[0]]), put(table[tokens[1]]), put(table[tokens[2]]), put(table[tokens[3]]);
    used &= 63;
    const u64 bits = window >> (-used & 63);  // never none
    std::memcpy(to, &bits, 8);
    to += used / 8;
    used &= 7;
  }
  // Writes whole bytes only; fewer than eight bits stay pending.
  template <class Token>
  void put_some(std::span<const Token> tokens, const u64* table) {
    for (const Token token : tokens) {
      put(table[token]);
      u64 bits = pending();
      for (; used >= 8; used -= 8, bits >>= 8) *to++ = u8(bits);
    }
  }
  void finish() {
    if (used > 0) *to++ = u8(pending());
    used = 0;
  }
};

// Writes tokens [0, n) of two streams, four at a time; returns how many were written.
size_t put_fours(const u8* first, const u8* second, size_t n, const u64* table, StreamWriter& a,
                 StreamWriter& b);
size_t put_fours(const u16* first, const u16* second, size_t n, const u64* table, StreamWriter& a,
                 StreamWriter& b);

// Writes two streams side by side, so that their chains of shifts overlap; the second has no more
// tokens than the first. The last `tail` tokens of a stream write no byte beyond its end.
template <class Token>
void encode_two(std::span<const Token> first, std::span<const Token> second, const u64* table,
                size_t tail, StreamWriter& a, StreamWriter& b) {
  const size_t n = second.size() - std::min(second.size(), tail);
  const size_t done = put_fours(first.data(), second.data(), n, table, a, b);
  a.put_some(first.subspan(done), table), a.finish();
  b.put_some(second.subspan(done), table), b.finish();
}

// What some bits mean: one token, or two if both fit. put() always writes two.
template <class Token>
class Entry;

template <>
class Entry<u8> {
 public:
  Entry() = default;
  Entry(size_t token, u32 bits)
      : first_(u8(token)), bits_(u8(bits)), count_(1), first_bits_(u8(bits & 15)) {}
  void add(const Entry& next) {
    second_ = next.first_;
    bits_ = u8(bits_ + next.first_bits_);
    count_ = 2;
  }
  void put(u8* to) const {
    to[0] = first_;
    to[1] = second_;
  }
  u32 count() const { return count_; }  // 1 or 2
  u32 bits() const { return bits_; }    // length of all tokens of the entry
  u32 first_bits() const { return first_bits_; }

 private:
  u8 first_, second_ = 0, bits_, count_ : 4, first_bits_ : 4;
};

// For tokens below 2048. The bits that put() writes outside of kTokenMask are to be ignored.
inline constexpr u16 kTokenMask = 2047;
template <>
class Entry<u16> {
 public:
  Entry() = default;
  Entry(size_t token, u32 bits) : packed_(u32(token) | bits << 11 | bits << 27) {}
  void add(const Entry& next) {
    const u32 bits = first_bits() + next.first_bits();
    packed_ = (packed_ & 0x780007ff) | bits << 11 | (next.packed_ & kTokenMask) << 16 | 1u << 31;
  }
  void put(u16* to) const { std::memcpy(to, &packed_, 4); }
  u32 count() const { return 1 + (packed_ >> 31); }
  u32 bits() const { return packed_ >> 11 & 15; }
  u32 first_bits() const { return packed_ >> 27 & 15; }

 private:
  // First token 11 bits, bits 4, nothing 1; second token 11, bits of the first 4, whether there is
  // a second 1.
  u32 packed_;
};

// A table of what the next bits of a stream mean. It has 12 bits; for few tokens only as many as
// the longest code, because making it would take longer than decoding.
template <class Token>
class DecodeTable {
 public:
  static constexpr size_t kFew = 8192;  // number of tokens

  DecodeTable() = default;
  DecodeTable(std::span<const u8> lengths, size_t tokens) { build(lengths, tokens); }
  void build(std::span<const u8> lengths, size_t tokens) {
    const u32 width = tokens < kFew ? u32(std::ranges::max(lengths)) : u32(kMaxLength);
    mask_ = (1u << width) - 1;
    const auto codes = canonical_codes(lengths);
    for (size_t s = 0; s < lengths.size(); ++s)
      if (lengths[s] > 0)
        for (u32 bits = codes[s]; bits <= mask_; bits += 1u << lengths[s])
          entries_[bits] = Entry<Token>(s, lengths[s]);
    // A second token is known if its code ends within these bits: look it up in the single-token
    // table.
    for (u32 bits = mask_ + 1; bits-- > 0;) {
      const Entry<Token> next = entries_[bits >> entries_[bits].first_bits()];
      if (entries_[bits].first_bits() + next.first_bits() <= width) entries_[bits].add(next);
    }
  }
  Entry<Token> operator[](u64 window) const { return entries_[window & mask_]; }

 private:
  u32 mask_ = 0;
  std::array<Entry<Token>, 1u << kMaxLength> entries_;
};

template <class Token>
struct StreamReader {
  const u8* from;
  u32 used;  // number of bits of *from that are decoded
  Token *to, *end;

  void four(const DecodeTable<Token>& table) {
    u64 window;
    std::memcpy(&window, from, 8);
    window >>= used;
    u32 bits = used;
    for (int k = 0; k < 4; ++k) {
      const Entry<Token> entry = table[window];
      entry.put(to);
      to += entry.count();
      bits += entry.bits();
      window >>= entry.bits();
    }
    from += bits / 8;
    used = bits % 8;
  }
  bool has_room(const u8* limit) const { return end - to >= 8 && limit - from >= 8; }

  // Decodes the rest, one token at a time; never reads at `limit` or after it.
  void finish(const DecodeTable<Token>& table, const u8* limit) {
    while (to < end) {
      u64 window = 0;
      if (from > limit) fail_corrupt("Huffman stream ends too early");
      std::memcpy(&window, from, size_t(std::min<std::ptrdiff_t>(8, limit - from)));
      const Entry<Token> entry = table[window >> used];
      Token both[2];
      entry.put(both);
      *to++ = both[0];
      from += (used + entry.first_bits()) / 8;
      used = (used + entry.first_bits()) % 8;
    }
  }
  // Throws unless only zero bits are left before this place.
  void expect_end(const u8* place) const {
    if (from + (used > 0) != place) fail_corrupt("Huffman stream has the wrong length");
    if (used > 0 && *from >> used) fail_corrupt("Huffman padding is not zero");
  }
};

// The bytes of four streams.
inline std::array<size_t, kStreams> read_sizes(Reader& in) {
  std::array<size_t, kStreams> bytes;
  for (size_t& n : bytes) n = size_t(in.get_varint(in.remaining(), "Huffman stream too long"));
  return bytes;
}
inline u64 sum_of(const std::array<size_t, kStreams>& bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), u64(0));
}

// Decodes all tokens of one stream.
template <class Token>
void decode_stream(ByteView body, const DecodeTable<Token>& table, std::span<Token> tokens) {
  const u8* const limit = body.data() + body.size();
  StreamReader<Token> stream{body.data(), 0, tokens.data(), tokens.data() + tokens.size()};
  while (stream.has_room(limit)) stream.four(table);
  stream.finish(table, limit);
  stream.expect_end(limit);
}

// Decodes all tokens of four streams, which follow each other in `body`.
template <class Token>
void decode_streams(ByteView body, const std::array<size_t, kStreams>& bytes,
                    const DecodeTable<Token>& table, std::span<Token> tokens) {
  const u8* const limit = body.data() + body.size();
  std::array<StreamReader<Token>, kStreams> streams;
  const u8* from = body.data();
  for (size_t k = 0; k < kStreams; from += bytes[k++])
    streams[k] = {from, 0, tokens.data() + quarter(tokens.size(), k),
                  tokens.data() + quarter(tokens.size(), k + 1)};
  auto [a, b, c, d] = streams;  // copies, to be kept in registers
  while (a.has_room(limit) && b.has_room(limit) && c.has_room(limit) && d.has_room(limit))
    a.four(table), b.four(table), c.four(table), d.four(table);
  streams = {a, b, c, d};
  from = body.data();
  for (size_t k = 0; k < kStreams; ++k) {
    streams[k].finish(table, limit);
    streams[k].expect_end(from += bytes[k]);
  }
}

}  // namespace leeway::prefix
