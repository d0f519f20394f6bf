// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/encode/rans.h"

#include "leeway/encode/frequencies.h"
#include "leeway/encode/token.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "leeway/encode/rans.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#ifndef LEEWAY_ENCODE_RANS_STATE
#define LEEWAY_ENCODE_RANS_STATE
namespace leeway::rans {

inline constexpr size_t kMostStates = 32;
inline constexpr size_t kGroup = 8;  // states decoded together

// A state takes four bytes: few values get few.
constexpr size_t states_for(size_t count) { return count < 4096 ? kGroup : kMostStates; }

inline constexpr u32 kLowest = 1u << 16;  // of a state between two values

// One slot of a table: the token, its frequency less one, and the slot's place among the token's
// own.
constexpr u32 slot(u8 token, u32 frequency, u32 place) {
  return u32(token) << 24 | (frequency - 1) << 12 | place;
}

struct State {
  std::array<u32, kMostStates> x;
  size_t mask;      // number of states less one
  const u16* next;  // the next word
};

// Takes the next value out of a state; no check for the end of the words.
inline u8 decode_one(u32& x, const u32* table, const u16*& next) {
  const u32 entry = table[x & (kFrequencySum - 1)], high = x >> kFrequencyBits;
  x = (entry >> 12 & 0xfff) * high + high + (entry & 0xfff);
  if (x < kLowest) x = x << 16 | *next++;
  return u8(entry >> 24);
}

// For every set of eight lanes: where each of them finds its word among those loaded.
inline constexpr auto kPlaces = [] {
  std::array<std::array<u32, kGroup>, 256> places{};
  for (size_t set = 0; set < 256; ++set) {
    u32 place = 0;
    for (size_t lane = 0; lane < kGroup; ++lane) {
      places[set][lane] = place;
      place += set >> lane & 1;
    }
  }
  return places;
}();

// For every set of lanes: what moves its lanes to the end, in their order.
template <size_t lanes>
inline constexpr auto kLast = [] {
  std::array<std::array<u32, lanes>, size_t(1) << lanes> order{};
  for (size_t set = 0; set < order.size(); ++set)
    for (size_t lane = lanes, place = lanes; lane-- > 0;)
      if (set >> lane & 1) order[set][--place] = u32(lane);
  return order;
}();

// A token of a table, for coding: its frequency less one, and the sum of those before it.
constexpr u32 symbol(u32 frequency, u32 before) { return before << 12 | (frequency - 1); }

// Puts a value into a state, and before that, if the state would overflow, its low half to the
// words, which grow downwards: x -> (x / frequency) * 2^12 + x % frequency + before.
inline void encode_one(u32& x, u32 entry, u16*& next) {
  const u32 frequency = (entry & 0xfff) + 1, full = x >> 20 >= frequency;
  next[-1] = u16(x);
  next -= full;
  x >>= 16 * full;
  x = (x / frequency << kFrequencyBits) + x % frequency + (entry >> 12);
}

}  // namespace leeway::rans
#endif

HWY_BEFORE_NAMESPACE();
namespace leeway::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using namespace leeway::rans;

// Values [first, first + count) of the chunk, both multiples of kGroup; which[i] is a value's
// table.
void decode_groups(State& state, size_t first, size_t count, const u8* HWY_RESTRICT which,
                   const u32* HWY_RESTRICT tables, u8* HWY_RESTRICT tokens) {
  const hn::CappedTag<u32, kGroup> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::Rebind<u16, decltype(d)> d16;
  const hn::Rebind<u8, decltype(d)> d8;
  const size_t lanes = hn::Lanes(d);
  const u16* next = state.next;
  const auto low = hn::Set(d, kFrequencySum - 1), lowest = hn::Set(d, kLowest);
  for (size_t i = 0; i < count; i += lanes) {
    u32* const at = state.x.data() + ((first + i) & state.mask);
    auto x = hn::LoadU(d, at);
    const auto table = hn::ShiftLeft<kFrequencyBits>(hn::PromoteTo(d, hn::LoadU(d8, which + i)));
    const auto index = hn::Or(table, hn::And(x, low));
    const auto entry = hn::GatherIndex(d, tables, hn::BitCast(di, index));
    const auto high = hn::ShiftRight<kFrequencyBits>(x);
    const auto frequency = hn::And(hn::ShiftRight<12>(entry), low);
    x = hn::Add(hn::Add(hn::Mul(frequency, high), high), hn::And(entry, low));
    const auto short_of = hn::Lt(x, lowest);
    u8 set[8] = {};
    hn::StoreMaskBits(d, short_of, set);
    const auto words = hn::PromoteTo(d, hn::LoadU(d16, next));
    const auto places = hn::SetTableIndices(d, kPlaces[set[0]].data());
    const auto filled = hn::Or(hn::ShiftLeft<16>(x), hn::TableLookupLanes(words, places));
    hn::StoreU(hn::IfThenElse(short_of, filled, x), d, at);
    next += std::popcount(set[0]);
    hn::StoreU(hn::U8FromU32(hn::ShiftRight<24>(entry)), d8, tokens + i);
  }
  state.next = next;
}

// Values [first, first + count) of the chunk, both multiples of kGroup, from the last to the first.
// May write kGroup words below those it makes.
u16* encode_groups(u32* HWY_RESTRICT states, size_t mask, size_t first, size_t count,
                   const u8* HWY_RESTRICT contexts, const u8* HWY_RESTRICT tokens,
                   const u32* HWY_RESTRICT tables, u16* next) {
  const hn::CappedTag<u32, kGroup> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::RebindToFloat<decltype(d)> df;
  const hn::Rebind<u16, decltype(d)> d16;
  const hn::Rebind<u8, decltype(d)> d8;
  constexpr size_t lanes = hn::MaxLanes(decltype(d)());
  const auto low = hn::Set(d, kFrequencySum - 1), one = hn::Set(d, 1u), word = hn::Set(d, 0xffffu);
  for (size_t i = first + count; i > first;) {
    i -= lanes;
    u32* const at = states + (i & mask);
    auto x = hn::LoadU(d, at);
    const auto index = hn::Or(hn::ShiftLeft<8>(hn::PromoteTo(d, hn::LoadU(d8, contexts + i))),
                              hn::PromoteTo(d, hn::LoadU(d8, tokens + i)));
    const auto entry = hn::GatherIndex(d, tables, hn::BitCast(di, index));
    const auto less_one = hn::And(entry, low), frequency = hn::Add(less_one, one);
    // Low halves of full states go to the words.
    const auto full = hn::Gt(hn::BitCast(di, hn::ShiftRight<20>(x)), hn::BitCast(di, less_one));
    u8 set[8] = {};
    hn::StoreMaskBits(di, full, set);
    const auto order = hn::SetTableIndices(d, kLast<lanes>[set[0]].data());
    const auto halves = hn::And(hn::TableLookupLanes(x, order), word);
    hn::StoreU(hn::DemoteTo(d16, hn::BitCast(di, halves)), d16, next - lanes);
    next -= std::popcount(set[0]);
    x = hn::IfThenElse(hn::RebindMask(d, full), hn::ShiftRight<16>(x), x);
    // The quotient is below 2^20: in float it is off by one at most, which the rest shows.
    const auto half = hn::ConvertTo(df, hn::BitCast(di, hn::ShiftRight<1>(x)));
    const auto inverse = hn::Div(hn::Set(df, 2.0f), hn::ConvertTo(df, hn::BitCast(di, frequency)));
    auto quotient = hn::BitCast(d, hn::ConvertTo(di, hn::Mul(half, inverse)));
    auto rest = hn::Sub(x, hn::Mul(quotient, frequency));
    const auto below = hn::BitCast(d, hn::BroadcastSignBit(hn::BitCast(di, rest)));
    quotient = hn::Add(quotient, below);
    rest = hn::Add(rest, hn::And(below, frequency));
    const auto above = hn::BitCast(
        d, hn::VecFromMask(di, hn::Gt(hn::BitCast(di, rest), hn::BitCast(di, less_one))));
    quotient = hn::Sub(quotient, above);
    rest = hn::Sub(rest, hn::And(above, frequency));
    x = hn::Add(hn::Add(hn::ShiftLeft<kFrequencyBits>(quotient), rest), hn::ShiftRight<12>(entry));
    hn::StoreU(x, d, at);
  }
  return next;
}

}  // namespace leeway::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leeway {
namespace rans {
namespace {

HWY_EXPORT(decode_groups);
HWY_EXPORT(encode_groups);

template <class I>
class Sink final : public CodeSink<I> {
 public:
  Sink(size_t count, Writer& out)
      : out_(out), tokens_(count), contexts_(count), counts_(256 * kTurns) {}
  I* room(size_t) override { return codes_.data(); }
  void put(size_t count, const u8* contexts) override {
    u8 *tokens = tokens_.data() + done_, *known = contexts_.data() + done_;
    tokenize(std::span<const I>(codes_.data(), count), std::span(tokens, count), raw_);
    if (contexts)
      std::copy_n(contexts, count, known);
    else
      std::fill_n(known, count, u8(0));
    // Equal tokens often follow each other: by turns in four tables, so that none waits for the
    // last.
    for (size_t i = 0; i < count; ++i) ++counts_[i % kTurns * 256 + known[i]][tokens[i]];
    done_ += count;
  }

  void finish() override {
    if (done_ == 0) return;
    for (size_t c = 256; c < counts_.size(); ++c)
      std::ranges::transform(counts_[c], counts_[c % 256], counts_[c % 256].begin(), std::plus());
    counts_.resize(256);
    while (std::ranges::all_of(counts_.back(), [](u32 n) { return n == 0; })) counts_.pop_back();
    const size_t highest = counts_.size() - 1;
    const SharedTables shared = share_tables(counts_);
    BitWriter head;
    head.put(highest, 8);
    for (size_t c = 1; c <= highest; ++c) head.put(shared.table_of[c] != shared.table_of[c - 1], 1);
    std::vector<std::array<u32, 256>> tables;
    for (const Histogram& histogram : shared.counts) {
      const Frequencies table = approximate(histogram);
      write(table, head);
      tables.push_back(symbols_of(table));
    }
    std::vector<std::array<u32, 256>> table_of_context;
    for (const u8 which : shared.table_of) table_of_context.push_back(tables[which]);
    encode(table_of_context.front().data());
    const size_t start = out_.size();
    const Writer raw = raw_.take();
    out_.put_section(head.take().bytes());
    out_.put_array(std::span<const u32>(states_).first(states_for(done_)));
    // From mark to mark, coarse levels first.
    Mark from{0, 0, first_word_};
    const auto put_segment = [&](const Mark& to) {
      out_.put_varint(to.raw - from.raw);
      out_.put_varint(to.word - from.word);
      out_.put_bytes(raw.bytes().subspan(from.raw, to.raw - from.raw));
      out_.put_array(std::span<const u16>(words_.data() + from.word, to.word - from.word));
      from = to;
    };
    ends_.resize(marks_.size());
    for (size_t level = marks_.size(); level-- > 0;) {
      put_segment(marks_[level]);
      ends_[level] = out_.size() - start;
    }
    put_segment({done_, raw.size(), words_.size()});
  }

  void mark(size_t level) override {
    if (level >= kMostMarks || tokens_.size() < kWorthMarks) return;
    marks_.resize(std::max(marks_.size(), level + 1));
    marks_[level] = {done_, raw_.size(), 0};
  }
  std::vector<size_t> marks() const override { return ends_; }

 private:
  static std::array<u32, 256> symbols_of(const Frequencies& table) {
    std::array<u32, 256> symbols{};
    u32 before = 0;
    for (size_t t = 0; t < 256; ++t) {
      if (table.of[t] > 0) symbols[t] = symbol(table.of[t], before);
      before += table.of[t];
    }
    return symbols;
  }

  // `tables` holds a table of 256 tokens for every context.
  void encode(const u32* tables) {
    words_ = Buffer<u16>(done_ + 1 + kGroup);
    u16* next = words_.data() + words_.size();
    states_.fill(kLowest);
    const size_t mask = states_for(done_) - 1;
    size_t i = done_;
    const auto down_to = [&](size_t first) {
      if (i <= first) return;
      const auto one = [&] {
        --i;
        encode_one(states_[i & mask], tables[contexts_[i] * 256 + tokens_[i]], next);
      };
      while (i > first && i % kGroup > 0) one();
      if (const size_t whole = (i - first) / kGroup * kGroup; whole > 0) {
        i -= whole;
        next = HWY_DYNAMIC_DISPATCH(encode_groups)(states_.data(), mask, i, whole, contexts_.data(),
                                                   tokens_.data(), tables, next);
      }
      while (i > first) one();
    };
    // The words of a code are made with it: those of the first codes are made last.
    for (Mark& mark : marks_) {
      down_to(mark.codes);
      mark.word = size_t(next - words_.data());
    }
    down_to(0);
    first_word_ = size_t(next - words_.data());
  }

  // Where a level begins: codes and bytes of raw bits before, and the first of its words.
  struct Mark {
    size_t codes = 0, raw = 0, word = 0;
  };

  static constexpr size_t kTurns = 4, kMostMarks = 4;
  Writer& out_;
  std::array<I, kMostCodes> codes_;
  Buffer<u8> tokens_, contexts_;
  std::vector<Histogram> counts_;  // by context
  BitWriter raw_;
  size_t done_ = 0;
  Buffer<u16> words_;
  size_t first_word_ = 0;
  std::array<u32, kMostStates> states_;
  std::vector<Mark> marks_;   // by level, finest first
  std::vector<size_t> ends_;  // of the segments before them, in bytes
};

template <class I>
class Source final : public CodeSource<I> {
 public:
  Source(Reader& in, size_t count) : left_(count), raw_(ByteView()) {
    if (count == 0) return;
    read_tables(in.take_section());
    state_.x.fill(kLowest);
    state_.mask = states_for(count) - 1;
    in.get_array(std::span<u32>(state_.x).first(states_for(count)));
    Writer raw, words;
    for (Reader rest(in.rest()); rest.remaining() > 0;) {
      const u64 raw_bytes = rest.get_varint(), word_count = rest.get_varint();
      raw.put_bytes(rest.take(raw_bytes));
      if (word_count > rest.remaining() / 2) fail_corrupt("words end too early");
      words.put_bytes(rest.take(2 * word_count));
    }
    raw_bytes_ = std::move(raw);
    raw_ = BitReader(raw_bytes_.bytes());
    // So many more words are read before anybody looks whether they are there.
    words_ = Buffer<u16>(words.size() / 2 + kMostCodes + kGroup);
    std::copy_n(words.bytes().data(), words.size(), reinterpret_cast<u8*>(words_.data()));
    std::fill(words_.begin() + std::ptrdiff_t(words.size() / 2), words_.end(), u16(0));
    state_.next = words_.data();
    end_ = words_.data() + words.size() / 2;
  }

  void next(std::span<I> codes, const u8* contexts) override {
    for (size_t first = 0; first < codes.size(); first += kMostCodes) {
      const size_t count = std::min(kMostCodes, codes.size() - first);
      piece(codes.subspan(first, count), contexts ? contexts + first : nullptr);
    }
  }

 private:
  void piece(std::span<I> codes, const u8* contexts) {
    const size_t count = codes.size();
    std::array<u8, kMostCodes> which, tokens;
    if (contexts)
      for (size_t i = 0; i < count; ++i) which[i] = table_of_[contexts[i]];
    else
      std::fill_n(which.data(), count, table_of_[0]);
    const auto one_by_one = [&](size_t i, size_t end) {
      for (; i < end; ++i)
        tokens[i] = decode_one(state_.x[(done_ + i) & state_.mask],
                               slots_.data() + which[i] * kFrequencySum, state_.next);
    };
    const size_t head = std::min(count, (kGroup - done_ % kGroup) % kGroup);
    const size_t whole = (count - head) / kGroup * kGroup;
    one_by_one(0, head);
    if (whole > 0) HWY_DYNAMIC_DISPATCH(decode_groups)
    (state_, done_ + head, whole, which.data() + head, slots_.data(), tokens.data() + head);
    one_by_one(head + whole, count);
    if (state_.next > end_) fail_corrupt("words end too early");
    detokenize(std::span<const u8>(tokens.data(), count), raw_, codes);
    done_ += count;
    left_ -= count;
    if (left_ > 0) return;
    raw_.expect_end();
    if (state_.next != end_ || std::ranges::any_of(state_.x, [](u32 x) { return x != kLowest; }))
      fail_corrupt("words left over");
  }

  void read_tables(ByteView bytes) {
    BitReader in(bytes);
    const auto highest = size_t(in.get(8));
    u8 tables = 0;
    for (size_t c = 1; c < 256; ++c) {
      if (c <= highest) tables = u8(tables + in.get(1));
      table_of_[c] = tables;
    }
    slots_ = Buffer<u32>((size_t(tables) + 1) * kFrequencySum);
    u32* next = slots_.data();
    for (size_t t = 0; t <= tables; ++t) {
      const Frequencies table = read_frequencies(in);
      for (size_t token = 0; token < 256; ++token)
        for (u32 place = 0; place < table.of[token]; ++place)
          *next++ = slot(u8(token), table.of[token], place);
    }
    in.expect_end();
  }

  size_t done_ = 0, left_;
  std::array<u8, 256> table_of_{};
  Buffer<u32> slots_;
  Writer raw_bytes_;
  BitReader raw_;
  Buffer<u16> words_;
  const u16* end_ = nullptr;
  State state_{};
};

}  // namespace
}  // namespace rans

template <class I>
std::unique_ptr<CodeSink<I>> Rans::sink(size_t count, Writer& out) const {
  return std::make_unique<rans::Sink<I>>(count, out);
}
template <class I>
std::unique_ptr<CodeSource<I>> Rans::source(Reader& in, size_t count) const {
  return std::make_unique<rans::Source<I>>(in, count);
}
template std::unique_ptr<CodeSink<i32>> Rans::sink(size_t, Writer&) const;
template std::unique_ptr<CodeSink<i64>> Rans::sink(size_t, Writer&) const;
template std::unique_ptr<CodeSource<i32>> Rans::source(Reader&, size_t) const;
template std::unique_ptr<CodeSource<i64>> Rans::source(Reader&, size_t) const;

}  // namespace leeway
#endif
