// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <optional>

#include "leeway/encode/parts/frequencies.h"
#include "leeway/encode/parts/rans_states.h"
#include "leeway/encode/parts/token.h"
#include "leeway/encode/rans.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "leeway/encode/rans_decode.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#ifndef LEEWAY_ENCODE_RANS_DECODE
#define LEEWAY_ENCODE_RANS_DECODE
namespace leeway::rans {

// One slot of a table: the token, its frequency less one, and the slot's place among the token's
// own.
constexpr u32 slot(u8 token, u32 frequency, u32 place) {
  return u32(token) << 24 | (frequency - 1) << 12 | place;
}

struct State {
  std::array<u32, kMostStates> x;
  size_t mask;      // number of states - 1
  const u16* next;  // the next word
};

// For every set of eight lanes: which of the loaded words each lane takes.
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

}  // namespace leeway::rans
#endif

HWY_BEFORE_NAMESPACE();
namespace leeway::rans_decode::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using namespace leeway::rans;

// The table of every value's context. Neighbours often have contexts that are alike but for the low
// five bits: those are looked up in registers. May write a vector past the end.
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

// Gives the first word to the lowest lane of the set, the second to the next, and so on.
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

// Decodes values [first, first + count) of the segment; which[i] is the table of value i. Both
// arrays have room for a group before and after them, filled with valid table numbers.
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
  // Decodes a group of which only lanes [from, end) belong to the segment.
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

}  // namespace leeway::rans_decode::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leeway {
namespace rans_decode {
using namespace rans;
namespace {

HWY_EXPORT(decode_groups);
HWY_EXPORT(find_tables);

// Tables as the decoder needs them.
struct Slots {
  std::array<u8, 256> table_of{};  // by context
  Buffer<u32> of;                  // slots, table by table
  bool is_first_form = false;

  // Of `codes` codes in all.
  Slots(Reader& stream, int mantissa, size_t codes) {
    u64 bytes = stream.get_varint();
    is_first_form = bytes != kSecondForm;
    if (!is_first_form) bytes = stream.get_varint();
    BitReader in(stream.take(bytes));
    const size_t tables = is_first_form ? find_tables_by_bits(in) : find_tables_by_contexts(in);
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

 private:
  // Both functions return the number of the last table.
  size_t find_tables_by_bits(BitReader& in) {
    const auto highest = size_t(in.get(8));
    u8 tables = 0;
    for (size_t c = 1; c < 256; ++c) {
      if (c <= highest) tables = u8(tables + in.get(1));
      table_of[c] = tables;
    }
    return tables;
  }
  size_t find_tables_by_contexts(BitReader& in) {
    const auto tables = size_t(in.get(8));
    size_t context = 0;
    for (size_t t = 1; t <= tables; ++t) {
      const auto first = size_t(in.get(8));
      if (first <= context) fail_corrupt("contexts are out of order");
      context = first;
      std::fill(table_of.begin() + std::ptrdiff_t(first), table_of.end(), u8(t));
    }
    return tables;
  }
};

template <class I>
class SegmentSource final : public CodeSource<I> {
 public:
  SegmentSource(const Slots& slots, Reader& in, size_t count)
      : slots_(slots), left_(count), raw_(ByteView()) {
    const u64 raw_bytes = in.get_varint(), words_and_states = in.get_varint();
    const int shift = slots.is_first_form ? 1 : 2;
    const u64 words = words_and_states >> shift;
    const size_t number = slots.is_first_form ? 1 + (words_and_states & 1) : words_and_states & 3;
    if (number >= kStates.size()) fail_corrupt("an unknown number of states");
    const size_t states = kStates[number];
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
    // A loop may read this many words before it checks whether they exist.
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
    if (state_.mask == 0)
      decode_one_by_one(count, which, tokens);
    else
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

  void decode_one_by_one(size_t count, const u8* which, u8* tokens) {
    const u32* const tables = slots_.of.data();
    const u16* next = state_.next;
    u32 x = state_.x[0];
    for (size_t i = 0; i < count; ++i) {
      const u32 entry = tables[size_t(which[i]) << kFrequencyBits | (x & (kFrequencySum - 1))];
      tokens[i] = u8(entry >> 24);
      x = ((entry >> 12 & 0xfff) + 1) * (x >> kFrequencyBits) + (entry & 0xfff);
      if (x < kLowest) x = x << 16 | *next++;
    }
    state_.x[0] = x;
    state_.next = next;
  }

  static constexpr size_t kRoom = 64;  // for vectors before and after the codes
  const Slots& slots_;
  size_t done_ = 0, left_;
  BitReader raw_;
  ByteView bytes_;  // all words
  Buffer<u16> words_;
  const u16* end_ = nullptr;
  State state_{};
};

template <class I>
class Source final : public CodeSource<I> {
 public:
  Source(Reader& in, size_t count) : left_(count), rest_(ByteView()) {
    if (count == 0) return;
    slots_.emplace(in, kTokenBits<I>, count);
    rest_ = Reader(in.rest());
  }
  void next(std::span<I> codes, const u8* contexts) override {
    if (codes.empty()) return;
    if (segments_.empty()) segment(left_);
    segments_.back()->next(codes, contexts);
  }
  bool wants_contexts() const override { return true; }
  CodeSource<I>* segment(size_t count) override {
    if (!slots_) fail_corrupt("a segment without codes");
    segments_.push_back(std::make_unique<SegmentSource<I>>(*slots_, rest_, count));
    left_ -= count;
    if (left_ == 0) rest_.expect_end();
    return segments_.back().get();
  }

 private:
  size_t left_;  // number of codes in segments after this one
  std::optional<Slots> slots_;
  Reader rest_;
  std::vector<std::unique_ptr<SegmentSource<I>>> segments_;
};

}  // namespace
}  // namespace rans_decode

template <class I>
std::unique_ptr<CodeSource<I>> Rans::source(Reader& in, size_t count) const {
  return std::make_unique<rans_decode::Source<I>>(in, count);
}
template std::unique_ptr<CodeSource<i32>> Rans::source(Reader&, size_t) const;
template std::unique_ptr<CodeSource<i64>> Rans::source(Reader&, size_t) const;

}  // namespace leeway
#endif
