// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/encode/huffman.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "leeway/encode/token.h"

namespace leeway {
namespace {

constexpr int kMaxLength = 12;
constexpr size_t kStreams = 4;
constexpr size_t kSymbols = 256;

using Counts = std::array<u32, kSymbols>;
using Lengths = std::array<u8, kSymbols>;

// Quarter k of n tokens is [quarter(n, k), quarter(n, k + 1)).
constexpr size_t quarter(size_t n, size_t k) {
  return std::min(n, (n + kStreams - 1) / kStreams * k);
}

std::span<const u8> stream_of(std::span<const u8> tokens, size_t k) {
  const size_t first = quarter(tokens.size(), k);
  return tokens.subspan(first, quarter(tokens.size(), k + 1) - first);
}

// A table for each stream, filled side by side, so that equal neighbours do not wait for each
// other.
std::array<Counts, kStreams> count_tokens(std::span<const u8> tokens) {
  std::array<Counts, kStreams> tables{};
  const size_t together = stream_of(tokens, kStreams - 1).size(), step = quarter(tokens.size(), 1);
  for (size_t i = 0; i < together; ++i)
    for (size_t k = 0; k < kStreams; ++k) ++tables[k][tokens[k * step + i]];
  for (size_t k = 0; k < kStreams; ++k)
    for (const u8 token : stream_of(tokens, k).subspan(together)) ++tables[k][token];
  return tables;
}

// Depths of a Huffman tree, built with two queues: sorted leaves, and inner nodes in the order of
// making.
Lengths tree_depths(const Counts& counts) {
  std::vector<u16> leaves;
  for (size_t s = 0; s < kSymbols; ++s)
    if (counts[s] > 0) leaves.push_back(u16(s));
  std::ranges::stable_sort(leaves, {}, [&](u16 s) { return counts[s]; });
  const size_t n = leaves.size();
  std::vector<u64> weight(2 * n);
  std::vector<size_t> parent(2 * n);
  for (size_t i = 0; i < n; ++i) weight[i] = counts[leaves[i]];
  size_t leaf = 0, inner = n;
  const auto lightest = [&](size_t next) {
    if (leaf < n && (inner == next || weight[leaf] <= weight[inner])) return leaf++;
    return inner++;
  };
  for (size_t node = n; node < 2 * n - 1; ++node) {
    const size_t a = lightest(node), b = lightest(node);
    weight[node] = weight[a] + weight[b];
    parent[a] = parent[b] = node;
  }
  std::vector<u8> depth(2 * n);
  for (size_t node = 2 * n - 2; node-- > 0;) depth[node] = u8(depth[parent[node]] + 1);
  Lengths lengths{};
  for (size_t i = 0; i < n; ++i) lengths[leaves[i]] = depth[i];
  return lengths;
}

// Cuts lengths at kMaxLength and repairs Kraft's sum: first longer codes for the rarest symbols
// that still can grow, then shorter ones for the most frequent where room is left.
Lengths limited_lengths(const Counts& counts) {
  Lengths lengths = tree_depths(counts);
  std::vector<u16> order;
  for (size_t s = 0; s < kSymbols; ++s)
    if (lengths[s] > 0) order.push_back(u16(s));
  std::ranges::stable_sort(order, {}, [&](u16 s) { return counts[s]; });
  constexpr u32 kWhole = 1u << kMaxLength;
  u32 used = 0;
  for (const u16 s : order) {
    lengths[s] = std::min<u8>(lengths[s], kMaxLength);
    used += kWhole >> lengths[s];
  }
  while (used > kWhole)
    for (const u16 s : order) {
      if (used <= kWhole) break;
      if (lengths[s] < kMaxLength) used -= kWhole >> ++lengths[s];
    }
  for (size_t i = order.size(); i-- > 0;)
    while (lengths[order[i]] > 1 && used + (kWhole >> lengths[order[i]]) <= kWhole)
      used += kWhole >> lengths[order[i]]--;
  return lengths;
}

// Canonical codes, by length and then by symbol; bits reversed, because streams fill from the low
// bit.
std::array<u16, kSymbols> canonical_codes(const Lengths& lengths) {
  std::array<u16, kSymbols> codes{};
  u32 next = 0;
  for (int length = 1; length <= kMaxLength; ++length, next <<= 1)
    for (size_t s = 0; s < kSymbols; ++s)
      if (lengths[s] == length) {
        u32 reversed = 0;
        for (int bit = 0; bit < length; ++bit)
          reversed |= ((next >> bit) & 1) << (length - 1 - bit);
        codes[s] = u16(reversed);
        ++next;
      }
  return codes;
}

void write_lengths(const Lengths& lengths, Writer& out) {
  size_t highest = kSymbols - 1;
  while (lengths[highest] == 0) --highest;
  out.put(u8(highest));
  for (size_t s = 0; s <= highest; s += 2)
    out.put(u8(lengths[s] | (s < highest ? lengths[s + 1] << 4 : 0)));
}

Lengths read_lengths(Reader& in) {
  Lengths lengths{};
  const size_t highest = in.get<u8>();
  u32 used = 0;
  for (size_t s = 0; s <= highest; ++s) {
    static_assert(kMaxLength < 16);
    u8 pair = 0;
    if (s % 2 == 0) {
      pair = in.get<u8>();
      lengths[s] = pair & 15;
      if (s < highest)
        lengths[s + 1] = pair >> 4;
      else if (pair >> 4)
        fail_corrupt("code length behind the last");
    }
    if (lengths[s] > kMaxLength) fail_corrupt("code too long");
    if (lengths[s] > 0) used += (1u << kMaxLength) >> lengths[s];
  }
  if (used != 1u << kMaxLength) fail_corrupt("code lengths do not form a code");
  return lengths;
}

// The code in the highest bits, its length in the lowest. A shift by the whole entry is one by the
// length, because a shift looks at six bits only, and a sum of entries ends in the sum of lengths.
using EncodeTable = std::array<u64, kSymbols>;
constexpr int length_of(u64 entry) { return int(entry & 63); }

EncodeTable encode_table(const Lengths& lengths) {
  const auto codes = canonical_codes(lengths);
  EncodeTable table{};
  for (size_t s = 0; s < kSymbols; ++s)
    if (lengths[s] > 0) table[s] = u64(codes[s]) << (64 - lengths[s]) | lengths[s];
  return table;
}

// A stream being written, in exactly the bytes it needs. Bits enter the window from above; below
// the pending ones lies what was written before, and the lengths.
struct StreamWriter {
  u8* to;
  u64 window = 0;
  u64 used = 0;  // bits pending, in the low six bits

  void put(u64 entry) {
    window = window >> (entry & 63) | entry;
    used += entry;
  }
  // At most 60 bits may be pending.
  u64 pending() {
    used &= 63;
    return used > 0 ? window >> (64 - used) : 0;
  }
  // Writes eight bytes, of which the last may not belong to it: not for the last kTail tokens.
  void put_four(const u8* tokens, const EncodeTable& table) {
    put(table[tokens[0]]), put(table[tokens[1]]), put(table[tokens[2]]), put(table[tokens[3]]);
    used &= 63;
    const u64 bits = window >> (-used & 63);  // never none
    std::memcpy(to, &bits, 8);
    to += used / 8;
    used &= 7;
  }
  void finish(std::span<const u8> tokens, const EncodeTable& table) {
    for (const u8 token : tokens) {
      put(table[token]);
      u64 bits = pending();
      for (; used >= 8; used -= 8, bits >>= 8) *to++ = u8(bits);
    }
    if (used > 0) *to++ = u8(pending());
  }
};
constexpr size_t kTail = 64;  // tokens that take at least eight bytes

// All streams, two at a time, so that neither chain of shifts is waited for.
void encode_streams(std::span<const u8> tokens, const std::array<Counts, kStreams>& counts,
                    const EncodeTable& table, Writer& out) {
  std::array<size_t, kStreams> bytes{};
  for (size_t k = 0; k < kStreams; ++k) {
    u64 bits = 0;
    for (size_t s = 0; s < kSymbols; ++s) bits += u64(counts[k][s]) * u64(length_of(table[s]));
    bytes[k] = size_t((bits + 7) / 8);
    out.put_varint(bytes[k]);
  }
  u8* to = out.extend(bytes[0] + bytes[1] + bytes[2] + bytes[3]).data();
  for (size_t k = 0; k < kStreams; k += 2) {
    const auto first = stream_of(tokens, k), second = stream_of(tokens, k + 1);  // never longer
    StreamWriter a{to}, b{to + bytes[k]};
    size_t i = 0;
    for (; i + 4 + kTail <= second.size(); i += 4) {
      a.put_four(first.data() + i, table);
      b.put_four(second.data() + i, table);
    }
    a.finish(first.subspan(i), table);
    b.finish(second.subspan(i), table);
    to += bytes[k] + bytes[k + 1];
  }
}

// What 12 bits say: one token, or two if both fit.
struct Entry {
  u8 first, second;
  u8 bits;       // of all tokens of the entry
  u8 count : 4;  // 1 or 2
  u8 first_bits : 4;
};

using DecodeTable = std::array<Entry, 1u << kMaxLength>;

void build_table(const Lengths& lengths, DecodeTable& table) {
  const auto codes = canonical_codes(lengths);
  for (size_t s = 0; s < kSymbols; ++s)
    if (lengths[s] > 0)
      for (u32 bits = codes[s]; bits < table.size(); bits += 1u << lengths[s])
        table[bits] = {u8(s), 0, lengths[s], 1, lengths[s]};
  // A second token is known if its code ends within the 12 bits: look it up in the single-token
  // table.
  for (u32 bits = u32(table.size()); bits-- > 0;) {
    Entry& entry = table[bits];
    const Entry next = table[bits >> entry.first_bits];
    if (entry.first_bits + next.first_bits <= kMaxLength) {
      entry.second = next.first;
      entry.bits = u8(entry.first_bits + next.first_bits);
      entry.count = 2;
    }
  }
}

struct Stream {
  const u8* from;
  u32 used;  // bits of *from that are done
  u8 *to, *end;

  void four(const DecodeTable& table) {
    u64 window;
    std::memcpy(&window, from, 8);
    window >>= used;
    u32 bits = used;
    for (int k = 0; k < 4; ++k) {
      const Entry entry = table[window & (table.size() - 1)];
      to[0] = entry.first;
      to[1] = entry.second;
      to += entry.count;
      bits += entry.bits;
      window >>= entry.bits;
    }
    from += bits / 8;
    used = bits % 8;
  }

  // The rest, one token at a time, never reading at `limit` or behind.
  void finish(const DecodeTable& table, const u8* limit) {
    while (to < end) {
      u64 window = 0;
      if (from > limit) fail_corrupt("Huffman stream ends too early");
      std::memcpy(&window, from, size_t(std::min<std::ptrdiff_t>(8, limit - from)));
      const Entry entry = table[(window >> used) & (table.size() - 1)];
      *to++ = entry.first;
      from += (used + entry.first_bits) / 8;
      used = (used + entry.first_bits) % 8;
    }
  }
};

void decode_tokens(Reader& in, const DecodeTable& table, std::span<u8> tokens) {
  std::array<size_t, kStreams> bytes;
  for (size_t& count : bytes)
    count = size_t(in.get_varint(in.remaining(), "Huffman stream too long"));
  const ByteView body = in.take(std::accumulate(bytes.begin(), bytes.end(), u64(0)));
  const u8* const limit = body.data() + body.size();
  std::array<Stream, kStreams> streams;
  const u8* from = body.data();
  for (size_t k = 0; k < kStreams; from += bytes[k++])
    streams[k] = {from, 0, tokens.data() + quarter(tokens.size(), k),
                  tokens.data() + quarter(tokens.size(), k + 1)};
  const auto has_room = [&](const Stream& s) { return s.end - s.to >= 8 && limit - s.from >= 8; };
  auto [a, b, c, d] = streams;  // copies, to be kept in registers
  while (has_room(a) && has_room(b) && has_room(c) && has_room(d))
    a.four(table), b.four(table), c.four(table), d.four(table);
  streams = {a, b, c, d};
  from = body.data();
  for (size_t k = 0; k < kStreams; ++k) {
    from += bytes[k];
    streams[k].finish(table, limit);
    if (streams[k].from + (streams[k].used > 0) != from)
      fail_corrupt("Huffman stream has the wrong length");
    if (streams[k].used > 0 && *streams[k].from >> streams[k].used)
      fail_corrupt("Huffman padding is not zero");
  }
}

enum class Mode : u8 { constant = 0, coded = 1 };

void write_tokens(std::span<const u8> tokens, BitWriter& bits, Writer& out) {
  const Writer raw = bits.take();
  out.put_varint(raw.size());
  out.put_bytes(raw.bytes());
  const auto stream_counts = count_tokens(tokens);
  Counts counts{};
  for (const Counts& table : stream_counts)
    for (size_t s = 0; s < kSymbols; ++s) counts[s] += table[s];
  const auto used = kSymbols - size_t(std::ranges::count(counts, 0u));
  if (used <= 1) {
    out.put(Mode::constant);
    out.put(tokens.empty() ? u8(0) : tokens[0]);
    return;
  }
  out.put(Mode::coded);
  const Lengths lengths = limited_lengths(counts);
  write_lengths(lengths, out);
  encode_streams(tokens, stream_counts, encode_table(lengths), out);
}

// Returns the raw bits.
ByteView read_tokens(Reader& in, std::span<u8> tokens) {
  const ByteView raw = in.take_section();
  const u8 mode = in.get<u8>();
  if (mode == u8(Mode::constant)) {
    std::ranges::fill(tokens, in.get<u8>());
  } else if (mode == u8(Mode::coded)) {
    DecodeTable table;
    build_table(read_lengths(in), table);
    decode_tokens(in, table, tokens);
  } else {
    fail_corrupt("unknown Huffman mode");
  }
  return raw;
}

template <class I>
class HuffmanSink final : public CodeSink<I> {
 public:
  HuffmanSink(size_t count, Writer& out) : tokens_(count), out_(out) {}
  I* room(size_t) override { return codes_.data(); }
  void put(size_t count, const u8*) override {
    tokenize(std::span<const I>(codes_).first(count), std::span(tokens_).subspan(done_, count),
             raw_);
    done_ += count;
  }
  void finish() override { write_tokens(std::span<const u8>(tokens_), raw_, out_); }

 private:
  std::array<I, kMostCodes> codes_;
  Buffer<u8> tokens_;
  size_t done_ = 0;
  BitWriter raw_;
  Writer& out_;
};

template <class I>
class HuffmanSource final : public CodeSource<I> {
 public:
  HuffmanSource(Reader& in, size_t count) : tokens_(count), raw_(read_tokens(in, tokens_)) {}
  void next(std::span<I> codes, const u8*) override {
    detokenize(std::span<const u8>(tokens_).subspan(done_, codes.size()), raw_, codes);
    done_ += codes.size();
    if (done_ == tokens_.size()) raw_.expect_end();
  }

 private:
  Buffer<u8> tokens_;
  BitReader raw_;
  size_t done_ = 0;
};

}  // namespace

template <class I>
std::unique_ptr<CodeSink<I>> Huffman::sink(size_t count, Writer& out) const {
  return std::make_unique<HuffmanSink<I>>(count, out);
}
template <class I>
std::unique_ptr<CodeSource<I>> Huffman::source(Reader& in, size_t count) const {
  return std::make_unique<HuffmanSource<I>>(in, count);
}
template std::unique_ptr<CodeSink<i32>> Huffman::sink<i32>(size_t, Writer&) const;
template std::unique_ptr<CodeSink<i64>> Huffman::sink<i64>(size_t, Writer&) const;
template std::unique_ptr<CodeSource<i32>> Huffman::source<i32>(Reader&, size_t) const;
template std::unique_ptr<CodeSource<i64>> Huffman::source<i64>(Reader&, size_t) const;

}  // namespace leeway
