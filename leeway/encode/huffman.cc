// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/encode/huffman.h"

#include <algorithm>
#include <array>

#include "leeway/encode/parts/prefix_code.h"
#include "leeway/encode/parts/token.h"

namespace leeway {
namespace {

using prefix::kStreams, prefix::quarter, prefix::stream_of;

constexpr size_t kSymbols = 256;

using Counts = std::array<u32, kSymbols>;
using Lengths = std::vector<u8>;

// Counts each stream in a table of its own, side by side, so that equal tokens in a row do not wait
// for each other.
std::array<Counts, kStreams> count_tokens(std::span<const u8> tokens) {
  std::array<Counts, kStreams> tables{};
  const size_t together = stream_of(tokens, kStreams - 1).size(), step = quarter(tokens.size(), 1);
  for (size_t i = 0; i < together; ++i)
    for (size_t k = 0; k < kStreams; ++k) ++tables[k][tokens[k * step + i]];
  for (size_t k = 0; k < kStreams; ++k)
    for (const u8 token : stream_of(tokens, k).subspan(together)) ++tables[k][token];
  return tables;
}

void write_lengths(const Lengths& lengths, Writer& out) {
  size_t highest = kSymbols - 1;
  while (lengths[highest] == 0) --highest;
  out.put(u8(highest));
  prefix::write_lengths(std::span(lengths).first(highest + 1), out);
}

Lengths read_lengths(Reader& in) {
  const size_t highest = in.get<u8>();
  return prefix::read_lengths(in, highest + 1);
}

// From this many tokens on there are four streams, which are decoded side by side.
constexpr size_t kMany = 4096;

// This many tokens at the end of a stream take at least eight bytes.
constexpr size_t kTail = 64;

void encode_streams(std::span<const u8> tokens, const std::array<Counts, kStreams>& counts,
                    std::span<const u64> table, Writer& out) {
  std::array<size_t, kStreams> bytes{};
  for (size_t k = 0; k < kStreams; ++k) {
    u64 bits = 0;
    for (size_t s = 0; s < kSymbols; ++s)
      bits += u64(counts[k][s]) * u64(prefix::length_of(table[s]));
    bytes[k] = size_t((bits + 7) / 8);
    out.put_varint(bytes[k]);
  }
  u8* to = out.extend(size_t(prefix::sum_of(bytes))).data();
  for (size_t k = 0; k < kStreams; k += 2) {
    prefix::StreamWriter a{to}, b{to + bytes[k]};
    prefix::encode_two(stream_of(tokens, k), stream_of(tokens, k + 1), table.data(), kTail, a, b);
    to += bytes[k] + bytes[k + 1];
  }
}

void decode_tokens(Reader& in, const prefix::DecodeTable<u8>& table, std::span<u8> tokens) {
  const auto bytes = prefix::read_sizes(in);
  const ByteView body = in.take(prefix::sum_of(bytes));
  prefix::decode_streams(body, bytes, table, tokens);
}

enum class Mode : u8 { constant = 0, coded = 1, few = 2 };

void write_few(std::span<const u8> tokens, Writer& out) {
  Counts counts{};
  for (const u8 token : tokens) ++counts[token];
  size_t end = kSymbols;
  while (counts[end - 1] == 0) --end;
  const Lengths lengths = prefix::code_lengths(std::span(counts).first(end));
  const std::vector<u64> table = prefix::encode_table(lengths);
  out.put(Mode::few);
  prefix::write_sparse_lengths(lengths, out);
  u64 bits = 0;
  for (size_t s = 0; s < end; ++s) bits += u64(counts[s]) * u64(prefix::length_of(table[s]));
  prefix::StreamWriter stream{out.extend(size_t((bits + 7) / 8)).data()};
  size_t i = 0;
  for (; i + kTail < tokens.size(); i += 4) stream.put_four(tokens.data() + i, table.data());
  stream.put_some(tokens.subspan(i), table.data());
  stream.finish();
}

void write_many(std::span<const u8> tokens, Writer& out) {
  const auto stream_counts = count_tokens(tokens);
  Counts counts{};
  for (const Counts& table : stream_counts)
    for (size_t s = 0; s < kSymbols; ++s) counts[s] += table[s];
  out.put(Mode::coded);
  const Lengths lengths = prefix::code_lengths(counts);
  write_lengths(lengths, out);
  encode_streams(tokens, stream_counts, prefix::encode_table(lengths), out);
}

void write_tokens(std::span<const u8> tokens, BitWriter& bits, Writer& out) {
  const Writer raw = bits.take();
  out.put_varint(raw.size());
  out.put_bytes(raw.bytes());
  if (std::ranges::all_of(tokens, [&](u8 token) { return token == tokens[0]; })) {
    out.put(Mode::constant);
    out.put(tokens.empty() ? u8(0) : tokens[0]);
  } else if (tokens.size() < kMany) {
    write_few(tokens, out);
  } else {
    write_many(tokens, out);
  }
}

// Returns the raw bits.
ByteView read_tokens(Reader& in, std::span<u8> tokens) {
  const ByteView raw = in.take_section();
  const u8 mode = in.get<u8>();
  if (mode == u8(Mode::constant)) {
    std::ranges::fill(tokens, in.get<u8>());
  } else if (mode == u8(Mode::coded)) {
    decode_tokens(in, prefix::DecodeTable<u8>(read_lengths(in), tokens.size()), tokens);
  } else if (mode == u8(Mode::few)) {
    const Lengths lengths = prefix::read_sparse_lengths(in, kSymbols);
    prefix::decode_stream(in.rest(), prefix::DecodeTable<u8>(lengths, tokens.size()), tokens);
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
template std::unique_ptr<CodeSink<i16>> Huffman::sink<i16>(size_t, Writer&) const;
template std::unique_ptr<CodeSink<i32>> Huffman::sink<i32>(size_t, Writer&) const;
template std::unique_ptr<CodeSink<i64>> Huffman::sink<i64>(size_t, Writer&) const;
template std::unique_ptr<CodeSource<i16>> Huffman::source<i16>(Reader&, size_t) const;
template std::unique_ptr<CodeSource<i32>> Huffman::source<i32>(Reader&, size_t) const;
template std::unique_ptr<CodeSource<i64>> Huffman::source<i64>(Reader&, size_t) const;

}  // namespace leeway
