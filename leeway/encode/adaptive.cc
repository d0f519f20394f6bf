// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/encode/adaptive.h"

#include <algorithm>
#include <utility>

#include "leeway/encode/parts/book.h"
#include "leeway/encode/parts/offline_books.h"
#include "leeway/encode/parts/prefix_code.h"
#include "leeway/encode/parts/token.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "leeway/encode/adaptive.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#ifndef LEEWAY_ENCODE_ADAPTIVE_BLOCK
#define LEEWAY_ENCODE_ADAPTIVE_BLOCK
namespace leeway::adaptive_kernels {
inline constexpr size_t kBlock = 64;  // codes looked at together
}
#endif

HWY_BEFORE_NAMESPACE();
namespace leeway::adaptive_kernels::HWY_NAMESPACE {

// Tokens of codes: kClasses + code - low, or 0 outside [low, high]. apart[b] is set if block b has
// a code outside. Codes at the end that do not fill a block are left to the caller.
template <class I>
void to_tokens(const I* HWY_RESTRICT codes, size_t n, I low, I high, u16* HWY_RESTRICT tokens,
               u8* HWY_RESTRICT apart) {
  using U = std::make_unsigned_t<I>;
  const auto width = U(U(high) - U(low));
  for (size_t done = 0; done + kBlock <= n; done += kBlock) {
    U largest = 0;
    for (size_t i = done; i < done + kBlock; ++i) {
      const auto place = U(U(codes[i]) - U(low));
      largest = std::max(largest, place);
      tokens[i] = place > width ? u16(0) : u16(place + Book::kClasses);
    }
    apart[done / kBlock] = largest > width;
  }
}
void to_tokens_16(const i16* codes, size_t n, i16 low, i16 high, u16* tokens, u8* apart) {
  to_tokens(codes, n, low, high, tokens, apart);
}
void to_tokens_32(const i32* codes, size_t n, i32 low, i32 high, u16* tokens, u8* apart) {
  to_tokens(codes, n, low, high, tokens, apart);
}
void to_tokens_64(const i64* codes, size_t n, i64 low, i64 high, u16* tokens, u8* apart) {
  to_tokens(codes, n, low, high, tokens, apart);
}

// Codes of tokens, in the same blocks; tokens of classes give a wrong code.
template <class I>
void from_tokens(const u16* HWY_RESTRICT tokens, size_t n, I low, I* HWY_RESTRICT codes,
                 u8* HWY_RESTRICT apart) {
  for (size_t done = 0; done + kBlock <= n; done += kBlock) {
    u16 least = prefix::kTokenMask;
    for (size_t i = done; i < done + kBlock; ++i) {
      const u16 token = tokens[i] & prefix::kTokenMask;
      least = std::min(least, token);
      codes[i] = I(I(token) - I(Book::kClasses) + low);
    }
    apart[done / kBlock] = least < Book::kClasses;
  }
}
void from_tokens_16(const u16* tokens, size_t n, i16 low, i16* codes, u8* apart) {
  from_tokens(tokens, n, low, codes, apart);
}
void from_tokens_32(const u16* tokens, size_t n, i32 low, i32* codes, u8* apart) {
  from_tokens(tokens, n, low, codes, apart);
}
void from_tokens_64(const u16* tokens, size_t n, i64 low, i64* codes, u8* apart) {
  from_tokens(tokens, n, low, codes, apart);
}

}  // namespace leeway::adaptive_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leeway::adaptive_kernels {
HWY_EXPORT(to_tokens_16);
HWY_EXPORT(to_tokens_32);
HWY_EXPORT(to_tokens_64);
HWY_EXPORT(from_tokens_16);
HWY_EXPORT(from_tokens_32);
HWY_EXPORT(from_tokens_64);
}  // namespace leeway::adaptive_kernels

namespace leeway {
using namespace adaptive_kernels;
namespace {

using Flags = std::array<u8, kMostCodes / kBlock>;

// Calls f(i) for all codes of blocks that are flagged, and for those that do not fill a block.
template <class F>
void for_each_flagged(size_t n, const Flags& flags, F&& f) {
  for (size_t block = 0; block * kBlock < n; ++block) {
    const size_t end = std::min(n, (block + 1) * kBlock);
    if (end == (block + 1) * kBlock && !flags[block]) continue;
    for (size_t i = block * kBlock; i < end; ++i) f(i);
  }
}

// Converts at most kMostCodes codes.
template <class I>
void to_tokens(const I* codes, size_t n, const Book& book, u16* tokens, Flags& apart) {
  const auto low = I(book.low), high = I(book.high());
  if constexpr (sizeof(I) == 2)
    HWY_DYNAMIC_DISPATCH(to_tokens_16)(codes, n, low, high, tokens, apart.data());
  else if constexpr (sizeof(I) == 4)
    HWY_DYNAMIC_DISPATCH(to_tokens_32)(codes, n, low, high, tokens, apart.data());
  else
    HWY_DYNAMIC_DISPATCH(to_tokens_64)(codes, n, low, high, tokens, apart.data());
  for (size_t i = n / kBlock * kBlock; i < n; ++i)
    tokens[i] =
        codes[i] < low || codes[i] > high ? u16(0) : u16(codes[i] - low + I(Book::kClasses));
}
template <class I>
void from_tokens(const u16* tokens, size_t n, const Book& book, I* codes, Flags& apart) {
  if constexpr (sizeof(I) == 2)
    HWY_DYNAMIC_DISPATCH(from_tokens_16)(tokens, n, I(book.low), codes, apart.data());
  else if constexpr (sizeof(I) == 4)
    HWY_DYNAMIC_DISPATCH(from_tokens_32)(tokens, n, I(book.low), codes, apart.data());
  else
    HWY_DYNAMIC_DISPATCH(from_tokens_64)(tokens, n, I(book.low), codes, apart.data());
  for (size_t i = n / kBlock * kBlock; i < n; ++i)
    codes[i] = I(I(tokens[i] & prefix::kTokenMask) - I(Book::kClasses) + I(book.low));
}

// The first byte of a page; larger numbers name an offline book.
enum Change : u8 { kSame = 0, kNew = 1, kOffline = 2 };

// The raw bits of a code outside the book; up to 64.
void put_raw(u64 z, int bits, BitWriter& out) {
  out.put(z & 0xffffffff, std::min(bits, 32));
  if (bits > 32) out.put(z >> 32, bits - 32);
}
u64 get_raw(int bits, BitReader& in) {
  const u64 z = in.get(std::min(bits, 32));
  return bits > 32 ? z | in.get(bits - 32) << 32 : z;
}

template <class I>
class AdaptiveSink final : public CodeSink<I> {
 public:
  AdaptiveSink(const Adaptive::Params& params, size_t count, Writer& out)
      : params_(params),
        left_(count),
        out_(out),
        tokens_(std::min(size_t(1) << params.page, count)) {
    for (Buffer<u8>& room : rooms_)
      room = Buffer<u8>(tokens_.size() / prefix::kStreams * 3 / 2 + 64);
  }

  I* room(size_t) override { return codes_.data() + waiting_; }
  // Codes are taken in pieces of one size, of which a page has a whole number.
  void put(size_t count, const u8*) override {
    waiting_ += count;
    if (waiting_ < kMostCodes) return;
    take(codes_.data(), kMostCodes);
    waiting_ -= kMostCodes;
    std::copy_n(codes_.data() + kMostCodes, waiting_, codes_.data());
  }
  void finish() override {
    if (waiting_ > 0) take(codes_.data(), waiting_);
  }

 private:
  void take(const I* codes, size_t count) {
    if (is_first_) begin(codes, count);
    u16* const tokens = tokens_.data() + done_;
    Flags apart;
    to_tokens(codes, count, book_, tokens, apart);
    // A quarter of the codes is enough to judge books by.
    const size_t some = (count + 3) / 4;
    for (size_t i = 0; i < some; ++i) ++token_counts_[tokens[i]];
    for_each_flagged(count, apart, [&](size_t i) {
      if (tokens[i] >= Book::kClasses) return;
      tokens[i] = u16(class_of(codes[i]));
      put_raw(zigzag(codes[i]), Book::kClassBits[tokens[i]], apart_);
      if (i < some) count_one(codes[i]);
    });
    done_ += count;
    left_ -= count;
    if (done_ == tokens_.size() || left_ == 0) end_page();
  }

  // One class for all outliers is one that has room for each.
  size_t class_of(I code) const {
    constexpr size_t kOne = Book::kClasses - (sizeof(I) <= 4 ? 2 : 1);
    static_assert(Book::kClassBits[kOne] >= 8 * int(sizeof(I)));
    return params_.outliers == Outliers::one ? kOne : Book::class_of(zigzag(code));
  }
  void count_one(I code) {
    if (code >= -Book::kSymbols / 2 && code < Book::kSymbols / 2)
      ++counts_.symbols[Book::symbol_of(code)];
    else
      ++counts_.classes[class_of(code)];
  }

  // Counts tokens of symbols; classes were counted when their codes were stored.
  void collect_counts() {
    for (size_t token = Book::kClasses; token < book_.lengths.size(); ++token)
      counts_.symbols[Book::symbol_of(book_.low) + token - Book::kClasses] += token_counts_[token];
    token_counts_.fill(0);
  }

  // Chooses the first book by the first codes.
  void begin(const I* codes, size_t count) {
    is_first_ = false;
    if (params_.rule == BookRule::cost) {
      for (size_t i = 0; i < count; ++i) count_one(codes[i]);
      choose(std::min(tokens_.size(), left_));
      counts_ = {};
    } else {
      use_offline(kCommonBook);
    }
    turn();
  }

  void end_page() {
    out_.put(change_);
    if (change_ == kNew) book_.write(out_);
    std::array<size_t, prefix::kStreams> bytes;
    const std::span<const u16> tokens = std::span<const u16>(tokens_).first(done_);
    for (size_t k = 0; k < prefix::kStreams; k += 2) {
      prefix::StreamWriter a{rooms_[k].data()}, b{rooms_[k + 1].data()};
      prefix::encode_two(prefix::stream_of(tokens, k), prefix::stream_of(tokens, k + 1),
                         table_.data(), 0, a, b);
      bytes[k] = size_t(a.to - rooms_[k].data());
      bytes[k + 1] = size_t(b.to - rooms_[k + 1].data());
    }
    for (const size_t n : bytes) out_.put_varint(n);
    const Writer apart = std::exchange(apart_, {}).take();
    out_.put_section(apart.bytes());
    for (size_t k = 0; k < prefix::kStreams; ++k)
      out_.put_bytes(ByteView(rooms_[k]).first(bytes[k]));
    done_ = 0;
    collect_counts();
    if (left_ == 0) return;
    if (params_.lag == 1) turn();  // to the book that the page before decided on
    decide();
    if (params_.lag == 0) turn();
  }

  // On the book of the next page; with a lag, of the one after it.
  void decide() {
    const size_t before = params_.lag == 1 ? std::min(tokens_.size(), left_) : 0;
    const size_t next = std::min(tokens_.size(), left_ - before);
    if (next == 0) return;
    if (params_.rule == BookRule::cost) {
      choose(next);
      counts_.halve();  // older codes count less
    }
    if (params_.rule == BookRule::paper) choose_by_deviation();
  }

  void use(Book book, u8 change) {
    next_book_ = std::move(book);
    next_change_ = change;
  }
  void turn() {
    change_ = std::exchange(next_change_, u8(kSame));
    if (change_ == kSame) return;
    book_ = std::move(next_book_);
    table_ = prefix::encode_table(book_.lengths);
  }
  void use_offline(size_t index) { use(offline_book(index), u8(kOffline + index)); }

  // The book that would be the cheapest if the page that it is for, of `size` codes, were like the
  // codes counted so far.
  void choose(size_t size) {
    const u64 counted = std::max<u64>(counts_.total(), 1);
    // Any book is better than none. Counts are at most those of two pages, so costs are smaller.
    constexpr u64 kMost = u64(1) << 38;
    u64 best = table_.empty() ? kMost : book_.cost(counts_);
    // No book can cost less than the entropy, few come nearer than a hundredth, and a new one has a
    // table.
    u64 entropy = Book::entropy(counts_);
    entropy += entropy / 128;
    const auto pays = [&](u64 cost, size_t table) {
      return best * size > cost * size + 8 * table * counted;
    };
    if (!pays(entropy, 16)) return;
    size_t best_offline = kOfflineBooks;
    for (size_t k = 0; k < kOfflineBooks; ++k)
      if (const u64 cost = offline_book(k).cost(counts_); cost < best) {
        best = cost;
        best_offline = k;
      }
    if (pays(entropy, 16)) {
      Book made = Book::made_of(counts_, params_.sort);
      if (pays(made.cost(counts_), made.bytes())) return use(std::move(made), kNew);
    }
    if (best_offline < kOfflineBooks) use_offline(best_offline);
  }

  // The paper's rule. Counts are collected until they are cleared.
  void choose_by_deviation() {
    const auto in_units = [](i32 hundredths) { return u32((u64(hundredths) * 65536 + 50) / 100); };
    const u32 deviation = Book::deviation(counts_),
              change = std::max(deviation, deviation_) - std::min(deviation, deviation_);
    deviation_ = deviation;
    if (change >= in_units(params_.restart)) {
      use_offline(kCommonBook);
      counts_ = {};
    } else if (change > in_units(params_.keep)) {
      use(Book::made_of(counts_, params_.sort), kNew);
    }
  }

  const Adaptive::Params params_;
  size_t left_;  // number of codes still to come
  Writer& out_;
  std::array<I, 2 * kMostCodes> codes_;
  size_t waiting_ = 0;  // number of codes waiting
  Buffer<u16> tokens_;  // tokens of the page
  size_t done_ = 0;     // number of tokens done
  std::array<Buffer<u8>, prefix::kStreams> rooms_;
  BitWriter apart_;
  Book::Counts counts_{};
  std::array<u32, Book::kClasses + Book::kSymbols> token_counts_{};
  Book book_;
  std::vector<u64> table_;
  u8 change_ = kSame;
  Book next_book_;  // if there is a change, decided on and not yet in use
  u8 next_change_ = kSame;
  bool is_first_ = true;
  u32 deviation_ = 0;
};

template <class I>
class AdaptiveSource final : public CodeSource<I> {
 public:
  AdaptiveSource(const Adaptive::Params& params, Reader& in, size_t count)
      : tokens_(std::min(size_t(1) << params.page, count) + 8), left_(count), in_(in) {}

  void next(std::span<I> codes, const u8*) override {
    while (!codes.empty()) {
      if (at_ == filled_) read_page();
      const size_t n = std::min({codes.size(), filled_ - at_, kMostCodes});
      const u16* const tokens = tokens_.data() + at_;
      Flags apart;
      from_tokens(tokens, n, book_, codes.data(), apart);
      for_each_flagged(n, apart, [&](size_t i) {
        const size_t token = tokens[i] & prefix::kTokenMask;
        if (token >= Book::kClasses) return;
        codes[i] = unzigzag(std::make_unsigned_t<I>(get_raw(Book::kClassBits[token], apart_)));
      });
      at_ += n;
      codes = codes.subspan(n);
      if (at_ == filled_) apart_.expect_end();
    }
  }

 private:
  void read_page() {
    const u8 change = in_.get<u8>();
    if (change == kNew)
      book_ = Book::read(in_);
    else if (change >= kOffline && change < kOffline + kOfflineBooks)
      book_ = offline_book(change - kOffline);
    else if (change != kSame || book_.lengths.empty())
      fail_corrupt("there is no such book");
    if (change != kSame) table_.build(book_.lengths, left_);
    const auto bytes = prefix::read_sizes(in_);
    apart_ = BitReader(in_.take_section());
    const ByteView body = in_.take(prefix::sum_of(bytes));
    at_ = 0;
    filled_ = std::min(tokens_.size() - 8, left_);
    left_ -= filled_;
    prefix::decode_streams(body, bytes, table_, std::span<u16>(tokens_).first(filled_));
  }

  Buffer<u16> tokens_;  // tokens of the page, and room for vectors that are written beyond
  size_t at_ = 0, filled_ = 0;
  size_t left_;  // number of codes in pages to come
  Reader& in_;
  Book book_;
  prefix::DecodeTable<u16> table_;
  BitReader apart_{ByteView()};
};

}  // namespace

template <class I>
std::unique_ptr<CodeSink<I>> Adaptive::sink(size_t count, Writer& out) const {
  return std::make_unique<AdaptiveSink<I>>(params, count, out);
}
template <class I>
std::unique_ptr<CodeSource<I>> Adaptive::source(Reader& in, size_t count) const {
  return std::make_unique<AdaptiveSource<I>>(params, in, count);
}
template std::unique_ptr<CodeSink<i16>> Adaptive::sink<i16>(size_t, Writer&) const;
template std::unique_ptr<CodeSink<i32>> Adaptive::sink<i32>(size_t, Writer&) const;
template std::unique_ptr<CodeSink<i64>> Adaptive::sink<i64>(size_t, Writer&) const;
template std::unique_ptr<CodeSource<i16>> Adaptive::source<i16>(Reader&, size_t) const;
template std::unique_ptr<CodeSource<i32>> Adaptive::source<i32>(Reader&, size_t) const;
template std::unique_ptr<CodeSource<i64>> Adaptive::source<i64>(Reader&, size_t) const;

}  // namespace leeway
#endif
