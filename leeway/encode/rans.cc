// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/encode/rans.h"

#include <optional>

#include "leeway/core/parallel.h"
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
inline constexpr size_t kGroup = 8;       // the fewest of them
inline constexpr size_t kMostGroup = 16;  // those of one vector

// A state takes four bytes: few words get few.
inline constexpr size_t kWorthStates = 1024;  // words

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
namespace leeway::rans::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using namespace leeway::rans;

// The table of every value's context. Neighbours often have contexts that are alike but for the low
// five bits: those are looked up in registers. May write a vector behind the end.
void find_tables(const u8* HWY_RESTRICT table_of, const u8* HWY_RESTRICT contexts, size_t count,
                 u8* HWY_RESTRICT which) {
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<u8> d;
  const u8 block = contexts[0] & 0xe0;
  const auto first = hn::Set(d, block), low = hn::Set(d, u8(0x0f)), half = hn::Set(d, u8(0x10));
  const auto lower = hn::LoadDup128(d, table_of + block),
             upper = hn::LoadDup128(d, table_of + block + 16);
  const auto look_up = [&](auto c, size_t i) HWY_ATTR {
    const auto place = hn::Sub(c, first), at = hn::And(place, low);
    const auto is_upper = hn::Ne(hn::And(place, half), hn::Zero(d));
    hn::StoreU(
        hn::IfThenElse(is_upper, hn::TableLookupBytes(upper, at), hn::TableLookupBytes(lower, at)),
        d, which + i);
    return hn::AllTrue(d, hn::Lt(place, hn::Set(d, u8(32))));
  };
  const size_t lanes = hn::Lanes(d);
  bool alike = true;
  size_t i = 0;
  for (; i + lanes <= count && alike; i += lanes) alike = look_up(hn::LoadU(d, contexts + i), i);
  if (alike && i < count) {
    HWY_ALIGN u8 last[hn::MaxLanes(d)];
    hn::Store(first, d, last);
    std::copy_n(contexts + i, count - i, last);
    alike = look_up(hn::Load(d, last), i);
  }
  if (alike) return;
#endif
  for (size_t i = 0; i < count; ++i) which[i] = table_of[contexts[i]];
}

// The first of the words to the lowest lane of the set, and so on.
template <class D>
HWY_INLINE hn::Vec<D> spread(D d, const u16* next, hn::Mask<D> set, size_t& count) {
  const hn::Rebind<u16, D> d16;
  const auto words = hn::PromoteTo(d, hn::LoadU(d16, next));
  u8 bits[8] = {};
  hn::StoreMaskBits(d, set, bits);
  count = size_t(std::popcount(u32(bits[0] | bits[1] << 8)));
#if HWY_TARGET <= HWY_AVX3
  if constexpr (hn::MaxLanes(D()) == 16)
    return hn::Vec<D>{_mm512_maskz_expand_epi32(set.raw, words.raw)};
  else
#endif
    return hn::TableLookupLanes(words, hn::SetTableIndices(d, kPlaces[bits[0]].data()));
}

// Values [first, first + count) of the segment; which[i] is a value's table. There is room for
// a group before and behind both arrays, with tables that are there.
template <size_t most>
HWY_INLINE void decode_groups_of(State& state, size_t first, size_t count,
                                 const u8* HWY_RESTRICT which, const u32* HWY_RESTRICT tables,
                                 u8* HWY_RESTRICT tokens) {
  const hn::CappedTag<u32, most> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::Rebind<u8, decltype(d)> d8;
  const size_t lanes = hn::Lanes(d), mask = state.mask;
  const auto low = hn::Set(d, kFrequencySum - 1), lowest = hn::Set(d, kLowest);
  // What becomes of the states; among() says which of those that are short of bits count. Words are
  // taken from `next`.
  const auto group = [=](auto old, const u8* table, const u16*& next, u8* token,
                         auto&& among) HWY_ATTR {
    const auto first_slot = hn::ShiftLeft<kFrequencyBits>(hn::PromoteTo(d, hn::LoadU(d8, table)));
    const auto index = hn::Or(first_slot, hn::And(old, low));
    const auto entry = hn::GatherIndex(d, tables, hn::BitCast(di, index));
    const auto high = hn::ShiftRight<kFrequencyBits>(old);
    const auto frequency = hn::And(hn::ShiftRight<12>(entry), low);
    const auto fresh = hn::Add(hn::Add(hn::Mul(frequency, high), high), hn::And(entry, low));
    const auto short_of = among(hn::Lt(fresh, lowest));
    size_t taken;
    const auto words = spread(d, next, short_of, taken);
    next += taken;
    hn::StoreU(hn::U8FromU32(hn::ShiftRight<24>(entry)), d8, token);
    return hn::IfThenElse(short_of, hn::Or(hn::ShiftLeft<16>(fresh), words), fresh);
  };
  const u16* next = state.next;
  // A group of which only lanes [from, end) count.
  const auto part = [&](size_t at, const u8* table, u8* token, size_t from, size_t end) HWY_ATTR {
    const auto inside = hn::AndNot(hn::FirstN(d, from), hn::FirstN(d, end));
    u32* const x = state.x.data() + (at & mask);
    const auto old = hn::LoadU(d, x);
    const auto fresh =
        group(old, table, next, token, [&](auto set) HWY_ATTR { return hn::And(set, inside); });
    hn::StoreU(hn::IfThenElse(inside, fresh, old), d, x);
  };
  size_t i = 0;
  if (const size_t from = first % lanes; from > 0) {
    i = std::min(lanes - from, count);
    part(first - from, which - from, tokens - from, from, from + i);
  }
  const auto all = [](auto set) HWY_ATTR { return set; };
  const auto one = [&]() HWY_ATTR {
    u32* const x = state.x.data() + ((first + i) & mask);
    hn::StoreU(group(hn::LoadU(d, x), which + i, next, tokens + i, all), d, x);
    i += lanes;
  };
  if (2 * lanes == mask + 1) {  // the states are two vectors
    if (((first + i) & mask) != 0 && i + lanes <= count) one();
    u32* const x = state.x.data();
    auto x0 = hn::LoadU(d, x), x1 = hn::LoadU(d, x + lanes);
    for (; i + 2 * lanes <= count; i += 2 * lanes) {
      x0 = group(x0, which + i, next, tokens + i, all);
      x1 = group(x1, which + i + lanes, next, tokens + i + lanes, all);
    }
    hn::StoreU(x0, d, x);
    hn::StoreU(x1, d, x + lanes);
  }
  while (i + lanes <= count) one();
  if (i < count) part(first + i, which + i, tokens + i, 0, count - i);
  state.next = next;
}
void decode_groups(State& state, size_t first, size_t count, const u8* which, const u32* tables,
                   u8* tokens) {
  if (state.mask + 1 == kMostStates)
    decode_groups_of<kMostGroup>(state, first, count, which, tables, tokens);
  else
    decode_groups_of<kGroup>(state, first, count, which, tables, tokens);
}

// The lanes of the set to the highest ones, in their order.
template <class D>
HWY_INLINE hn::Vec<D> gather_last(D d, hn::Vec<D> v, hn::Mask<D> set, size_t& count) {
  u8 bits[8] = {};
  hn::StoreMaskBits(d, set, bits);
  count = size_t(std::popcount(u32(bits[0] | bits[1] << 8)));
  constexpr size_t lanes = hn::MaxLanes(D());
  if constexpr (lanes <= kGroup) {
    return hn::TableLookupLanes(v, hn::SetTableIndices(d, kLast<lanes>[bits[0]].data()));
  } else {
    const auto up =
        hn::And(hn::Add(hn::Iota(d, 0), hn::Set(d, u32(count))), hn::Set(d, u32(lanes - 1)));
    return hn::TableLookupLanes(hn::Compress(v, set), hn::IndicesFromVec(d, up));
  }
}

// The first `count` values of the segment, a multiple of the lanes, from the last to the first. May
// write a group of words below those it makes.
template <size_t most>
HWY_INLINE u16* encode_groups_of(u32* HWY_RESTRICT states, size_t mask, size_t count,
                                 const u8* HWY_RESTRICT contexts, const u8* HWY_RESTRICT tokens,
                                 const u32* HWY_RESTRICT tables, u16* next) {
  const hn::CappedTag<u32, most> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::RebindToFloat<decltype(d)> df;
  const hn::Rebind<u16, decltype(d)> d16;
  const hn::Rebind<u8, decltype(d)> d8;
  constexpr size_t lanes = hn::MaxLanes(decltype(d)());
  const auto low = hn::Set(d, kFrequencySum - 1), one = hn::Set(d, 1u), word = hn::Set(d, 0xffffu);
  for (size_t i = count; i > 0;) {
    i -= lanes;
    u32* const at = states + (i & mask);
    auto x = hn::LoadU(d, at);
    const auto index = hn::Or(hn::ShiftLeft<8>(hn::PromoteTo(d, hn::LoadU(d8, contexts + i))),
                              hn::PromoteTo(d, hn::LoadU(d8, tokens + i)));
    const auto entry = hn::GatherIndex(d, tables, hn::BitCast(di, index));
    const auto less_one = hn::And(entry, low), frequency = hn::Add(less_one, one);
    // Low halves of full states go to the words.
    const auto full = hn::RebindMask(
        d, hn::Gt(hn::BitCast(di, hn::ShiftRight<20>(x)), hn::BitCast(di, less_one)));
    size_t given;
    const auto halves = hn::And(gather_last(d, x, full, given), word);
    hn::StoreU(hn::DemoteTo(d16, hn::BitCast(di, halves)), d16, next - lanes);
    next -= given;
    x = hn::IfThenElse(full, hn::ShiftRight<16>(x), x);
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
u16* encode_groups(u32* states, size_t mask, size_t count, const u8* contexts, const u8* tokens,
                   const u32* tables, u16* next) {
  if (mask + 1 == kMostStates)
    return encode_groups_of<kMostGroup>(states, mask, count, contexts, tokens, tables, next);
  return encode_groups_of<kGroup>(states, mask, count, contexts, tokens, tables, next);
}

}  // namespace leeway::rans::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leeway {
namespace rans {
namespace {

HWY_EXPORT(decode_groups);
HWY_EXPORT(find_tables);
HWY_EXPORT(encode_groups);

// Tokens by context. By turns, so that equal tokens, which often follow each other, do not wait for
// the last; but memory for all turns costs more than counting a few.
struct Counts {
  explicit Counts(size_t values) : turns(values < kMany ? 1 : 4), of(256 * turns) {
    std::ranges::fill(of, Histogram{});
  }
  static constexpr size_t kMany = size_t(1) << 16;
  size_t turns;
  Buffer<Histogram> of;  // by turn and context
};

// Codes that are decoded without others: their tokens, until the tables are known.
template <class I>
class SegmentSink final : public CodeSink<I> {
 public:
  explicit SegmentSink(size_t count) : tokens_(count), contexts_(count) {}
  I* room(size_t) override { return codes_.data(); }
  void put(size_t count, const u8* contexts) override {
    u8 *tokens = tokens_.data() + done_, *known = contexts_.data() + done_;
    tokenize(std::span<const I>(codes_.data(), count), std::span(tokens, count), raw_);
    if (contexts)
      std::copy_n(contexts, count, known);
    else
      std::fill_n(known, count, u8(0));
    done_ += count;
  }
  void finish() override {}
  void count(Counts& counts) const {
    const size_t mask = counts.turns - 1;
    Histogram* const of = counts.of.data();
    for (size_t i = 0; i < done_; ++i) ++of[(i & mask) * 256 + contexts_[i]][tokens_[i]];
  }

  // `tables` holds a table of 256 tokens for every context.
  void write(const u32* tables, Writer& out) {
    size_t states = kMostStates;
    Buffer<u16> memory(done_ + 1 + kMostGroup);
    std::span<const u16> words = encode(tables, states, memory);
    if (words.size() < kWorthStates) words = encode(tables, states = kGroup, memory);
    const Writer raw = raw_.take();
    out.put_varint(raw.size());
    out.put_varint(words.size() << 1 | (states == kMostStates));
    out.put_array(std::span<const u32>(states_).first(states));
    out.put_bytes(raw.bytes());
    out.put_array(words);
  }

 private:
  std::span<const u16> encode(const u32* tables, size_t states, Buffer<u16>& memory) {
    u16 *const end = memory.data() + memory.size(), *next = end;
    states_.fill(kLowest);
    const size_t mask = states - 1;
    size_t i = done_;
    const auto one = [&] {
      --i;
      encode_one(states_[i & mask], tables[contexts_[i] * 256 + tokens_[i]], next);
    };
    while (i % kMostGroup > 0) one();
    if (i > 0)
      next = HWY_DYNAMIC_DISPATCH(encode_groups)(states_.data(), mask, i, contexts_.data(),
                                                 tokens_.data(), tables, next);
    return {next, end};
  }

  std::array<I, kMostCodes> codes_;
  Buffer<u8> tokens_, contexts_;
  BitWriter raw_;
  size_t done_ = 0;
  std::array<u32, kMostStates> states_;
};

template <class I>
class Sink final : public CodeSink<I> {
 public:
  Sink(size_t count, Writer& out) : out_(out), count_(count) {}
  I* room(size_t count) override {
    if (segments_.empty()) segment(count_);
    return segments_.back()->room(count);
  }
  void put(size_t count, const u8* contexts) override { segments_.back()->put(count, contexts); }
  bool wants_contexts() const override { return true; }
  CodeSink<I>* segment(size_t count) override {
    segments_.push_back(std::make_unique<SegmentSink<I>>(count));
    return segments_.back().get();
  }
  void mark(size_t level) override {
    marks_.resize(std::max(marks_.size(), level + 1));
    marks_[level] = segments_.size();
  }

  void finish() override {
    if (segments_.empty()) return;
    const Counts all = count();
    std::span<const Histogram> counts(all.of.data(), 256);
    while (std::ranges::all_of(counts.back(), [](u32 n) { return n == 0; }))
      counts = counts.first(counts.size() - 1);
    const size_t highest = counts.size() - 1;
    const SharedTables shared = share_tables(counts, kTokenBits<I>);
    BitWriter head;
    head.put(highest, 8);
    for (size_t c = 1; c <= highest; ++c) head.put(shared.table_of[c] != shared.table_of[c - 1], 1);
    std::vector<std::array<u32, 256>> tables;
    for (const Histogram& histogram : shared.counts) {
      const Frequencies table = approximate(histogram, kTokenBits<I>);
      write(table, head);
      tables.push_back(symbols_of(table));
    }
    std::vector<std::array<u32, 256>> table_of_context;
    for (const u8 which : shared.table_of) table_of_context.push_back(tables[which]);
    const size_t start = out_.size();
    out_.put_section(head.take().bytes());
    std::vector<Writer> written(segments_.size());
    for_each_index(segments_.size(), threads_to_share(), {}, [&](u64 i) {
      segments_[size_t(i)]->write(table_of_context.front().data(), written[size_t(i)]);
    });
    ends_.resize(marks_.size());
    for (size_t i = 0; i < segments_.size(); ++i) {
      for (size_t level = 0; level < marks_.size(); ++level)
        if (marks_[level] == i) ends_[level] = out_.size() - start;
      out_.put_bytes(written[i].bytes());
    }
  }
  std::vector<size_t> marks() const override { return ends_; }

 private:
  // Of all segments, in the first turn.
  Counts count() const {
    const size_t workers = std::min<size_t>(threads_to_share(), segments_.size());
    std::vector<Counts> parts;
    for (size_t worker = 0; worker < workers; ++worker) parts.emplace_back(count_);
    for_each_index(workers, unsigned(workers), {}, [&](u64 worker) {
      for (size_t i = size_t(worker); i < segments_.size(); i += workers)
        segments_[i]->count(parts[size_t(worker)]);
    });
    Histogram* const sums = parts.front().of.data();
    for (const Counts& part : parts)
      for (size_t c = &part == &parts.front() ? 256 : 0; c < part.of.size(); ++c)
        std::ranges::transform(part.of.data()[c], sums[c % 256], sums[c % 256].begin(),
                               std::plus());
    return std::move(parts.front());
  }
  static std::array<u32, 256> symbols_of(const Frequencies& table) {
    std::array<u32, 256> symbols{};
    u32 before = 0;
    for (size_t t = 0; t < 256; ++t) {
      if (table.of[t] > 0) symbols[t] = symbol(table.of[t], before);
      before += table.of[t];
    }
    return symbols;
  }

  Writer& out_;
  size_t count_;
  std::vector<std::unique_ptr<SegmentSink<I>>> segments_;
  std::vector<size_t> marks_;  // by level: the segment it begins with
  std::vector<size_t> ends_;   // by level: of the segments before, in bytes
};

// Tables as the decoder needs them.
struct Slots {
  std::array<u8, 256> table_of{};  // by context
  Buffer<u32> of;                  // table by table

  // Of `codes` codes in all.
  Slots(ByteView bytes, int mantissa, size_t codes) {
    BitReader in(bytes);
    const auto highest = size_t(in.get(8));
    u8 tables = 0;
    for (size_t c = 1; c < 256; ++c) {
      if (c <= highest) tables = u8(tables + in.get(1));
      table_of[c] = tables;
    }
    if (tables >= codes) fail_corrupt("more tables than codes");
    of = Buffer<u32>((size_t(tables) + 1) * kFrequencySum);
    u32* next = of.data();
    for (size_t t = 0; t <= tables; ++t) {
      const Frequencies table = read_frequencies(in, mantissa);
      for (size_t token = 0; token < 256; ++token)
        for (u32 place = 0; place < table.of[token]; ++place)
          *next++ = slot(u8(token), table.of[token], place);
    }
    in.expect_end();
  }
};

template <class I>
class SegmentSource final : public CodeSource<I> {
 public:
  SegmentSource(const Slots& slots, Reader& in, size_t count)
      : slots_(slots), left_(count), raw_(ByteView()) {
    const u64 raw_bytes = in.get_varint(), words_and_states = in.get_varint();
    const u64 words = words_and_states >> 1;
    const size_t states = words_and_states & 1 ? kMostStates : kGroup;
    state_.x.fill(kLowest);
    state_.mask = states - 1;
    in.get_array(std::span<u32>(state_.x).first(states));
    raw_ = BitReader(in.take(raw_bytes));
    if (words > in.remaining() / 2) fail_corrupt("words end too early");
    bytes_ = in.take(2 * words);
  }

  void next(std::span<I> codes, const u8* contexts) override {
    if (words_.empty()) take_words();
    for (size_t first = 0; first < codes.size(); first += kMostCodes) {
      const size_t count = std::min(kMostCodes, codes.size() - first);
      piece(codes.subspan(first, count), contexts ? contexts + first : nullptr);
    }
  }

 private:
  void take_words() {
    // So many more words are read before anybody looks whether they are there.
    words_ = Buffer<u16>(bytes_.size() / 2 + kMostCodes + kMostGroup);
    std::ranges::copy(bytes_, reinterpret_cast<u8*>(words_.data()));
    std::fill(words_.begin() + bytes_.size() / 2, words_.end(), u16(0));
    state_.next = words_.data();
    end_ = words_.data() + bytes_.size() / 2;
  }

  void piece(std::span<I> codes, const u8* contexts) {
    const size_t count = codes.size();
    alignas(64) std::array<u8, kRoom + kMostCodes + kRoom> room_for_tables, room_for_tokens;
    u8 *const which = room_for_tables.data() + kRoom, *const tokens =
                                                          room_for_tokens.data() + kRoom;
    if (contexts)
      HWY_DYNAMIC_DISPATCH(find_tables)(slots_.table_of.data(), contexts, count, which);
    else
      std::fill_n(which, count, slots_.table_of[0]);
    std::fill_n(which - kMostGroup, kMostGroup, u8(0));
    std::fill_n(which + count, kMostGroup, u8(0));
    HWY_DYNAMIC_DISPATCH(decode_groups)(state_, done_, count, which, slots_.of.data(), tokens);
    if (state_.next > end_) fail_corrupt("words end too early");
    detokenize(std::span<const u8>(tokens, count), raw_, codes);
    done_ += count;
    left_ -= count;
    if (left_ > 0) return;
    raw_.expect_end();
    if (state_.next != end_ || std::ranges::any_of(state_.x, [](u32 x) { return x != kLowest; }))
      fail_corrupt("words left over");
    words_ = Buffer<u16>();
  }

  static constexpr size_t kRoom = 64;  // for vectors before and behind the codes
  const Slots& slots_;
  size_t done_ = 0, left_;
  BitReader raw_;
  ByteView bytes_;  // of the words
  Buffer<u16> words_;
  const u16* end_ = nullptr;
  State state_{};
};

template <class I>
class Source final : public CodeSource<I> {
 public:
  Source(Reader& in, size_t count) : left_(count), rest_(ByteView()) {
    if (count == 0) return;
    slots_.emplace(in.take_section(), kTokenBits<I>, count);
    rest_ = Reader(in.rest());
  }
  void next(std::span<I> codes, const u8* contexts) override {
    if (codes.empty()) return;
    if (segments_.empty()) segment(left_);
    segments_.back()->next(codes, contexts);
  }
  bool wants_contexts() const override { return true; }
  CodeSource<I>* segment(size_t count) override {
    segments_.push_back(std::make_unique<SegmentSource<I>>(*slots_, rest_, count));
    left_ -= count;
    if (left_ == 0) rest_.expect_end();
    return segments_.back().get();
  }

 private:
  size_t left_;  // codes in segments behind this one
  std::optional<Slots> slots_;
  Reader rest_;
  std::vector<std::unique_ptr<SegmentSource<I>>> segments_;
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
