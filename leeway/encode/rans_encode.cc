// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "leeway/base/parallel.h"
#include "leeway/encode/parts/frequencies.h"
#include "leeway/encode/parts/rans_states.h"
#include "leeway/encode/parts/token.h"
#include "leeway/encode/rans.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "leeway/encode/rans_encode.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#ifndef LEEWAY_ENCODE_RANS_ENCODE
#define LEEWAY_ENCODE_RANS_ENCODE
namespace leeway::rans {

// For every set of lanes: the permutation that moves its lanes to the end, in their order.
template <size_t lanes>
static constexpr auto kLast = [] {
  std::array<std::array<u32, lanes>, size_t(1) << lanes> order{};
  for (size_t set = 0; set < order.size(); ++set)
    for (size_t lane = lanes, place = lanes; lane-- > 0;)
      if (set >> lane & 1) order[set][--place] = u32(lane);
  return order;
}();

// A token of a table, for coding: its frequency - 1, and the sum of all frequencies before it.
constexpr u32 symbol(u32 frequency, u32 before) { return before << 12 | (frequency - 1); }

// Puts a value into a state. If the state would overflow, its low half first goes to the words,
// which grow downwards: x -> (x / frequency) * 2^12 + x % frequency + before.
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
namespace leeway::rans_encode::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using namespace leeway::rans;

// Moves the lanes of the set to the highest lanes, in their order.
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

// Codes the first `count` values of the segment, a multiple of the lanes, from the last to the
// first. May write a group of words below its result.
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
    // The low halves of full states go to the words.
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

}  // namespace leeway::rans_encode::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leeway {
namespace rans_encode {
using namespace rans;
namespace {

HWY_EXPORT(encode_groups);

using Histogram = std::array<u32, 256>;

// Which contexts occur, and their numbers among those that do.
struct UsedContexts {
  std::array<u8, 256> is_used{}, place{};
  size_t count = 0;
  void number() {
    for (size_t c = 0; c < 256; ++c)
      if (is_used[c]) place[c] = u8(count++);
  }
};

// Counts tokens by context. Several histograms are used in turn, so that equal tokens in a row do
// not wait for each other; few tokens are counted in one, because clearing all would take longer.
struct Counts {
  Counts(const UsedContexts& used, size_t values)
      : turns(values < kMany ? 1 : 4), contexts(used.count), of(contexts * turns) {
    std::ranges::fill(of, Histogram{});
  }
  static constexpr size_t kMany = size_t(1) << 16;
  size_t turns, contexts;
  Buffer<Histogram> of;  // histograms by turn and context
};

// A segment: codes that can be decoded without others. Keeps their tokens until the tables are kno
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
  void find_contexts(UsedContexts& used) const {
    for (size_t i = 0; i < done_; ++i) used.is_used[contexts_[i]] = 1;
  }
  void count(const UsedContexts& used, Counts& counts) const {
    const size_t mask = counts.turns - 1;
    Histogram* const of = counts.of.data();
    for (size_t i = 0; i < done_; ++i)
      ++of[(i & mask) * counts.contexts + used.place[contexts_[i]]][tokens_[i]];
  }

  // `tables` holds tables of 256 tokens; table_of[c] is the number of context c's table.
  void write(std::span<const u8> table_of, const u32* tables, Writer& out) {
    for (size_t i = 0; i < done_; ++i) contexts_[i] = table_of[contexts_[i]];
    Buffer<u16> memory(done_ + 1 + kMostGroup);
    std::span<const u16> words;
    size_t number = 0;  // which number of states
    const auto encode_with = [&](size_t wanted) {
      words = encode(tables, kStates[number = wanted], memory);
    };
    if (done_ < kFewValues) encode_with(0);
    if (done_ >= kFewValues || words.size() >= kWorthStates[1]) {
      encode_with(2);
      while (words.size() < kWorthStates[number]) encode_with(number - 1);
    }
    const Writer raw = raw_.take();
    out.put_varint(raw.size());
    out.put_varint(words.size() << 2 | number);
    out.put_array(std::span<const u32>(states_).first(kStates[number]));
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
    while (states == 1 ? i > 0 : i % kMostGroup > 0) one();
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
  void begin_level(size_t level) override {
    marks_.resize(std::max(marks_.size(), level + 1));
    marks_[level] = segments_.size();
  }

  void finish() override {
    if (segments_.empty() || count_ == 0) return;
    const SharedTables shared = share_tables(count(), kTokenBits<I>);
    Buffer<std::array<u32, 256>> tables(shared.counts.size());
    BitWriter head;
    head.put(tables.size() - 1, 8);
    for (size_t c = 1; c < shared.table_of.size(); ++c)
      if (shared.table_of[c] != shared.table_of[c - 1]) head.put(c, 8);
    for (size_t i = 0; i < tables.size(); ++i) {
      const Frequencies table = approximate(shared.counts[i].counts(), kTokenBits<I>);
      write(table, head);
      tables[i] = symbols_of(table);
    }
    const size_t start = out_.size();
    out_.put_varint(kSecondForm);
    out_.put_section(head.take().bytes());
    std::vector<Writer> written(segments_.size());
    for_each_index(segments_.size(), threads_to_share(), {}, [&](u64 i) {
      segments_[size_t(i)]->write(shared.table_of, tables.data()->data(), written[size_t(i)]);
    });
    ends_.resize(marks_.size());
    for (size_t i = 0; i < segments_.size(); ++i) {
      for (size_t level = 0; level < marks_.size(); ++level)
        if (marks_[level] == i) ends_[level] = out_.size() - start;
      out_.put_bytes(written[i].bytes());
    }
  }
  std::vector<size_t> level_ends() const override { return ends_; }

 private:
  // The contexts that occur in any segment.
  std::vector<ContextCounts> count() const {
    const size_t workers = std::min<size_t>(threads_to_share(), segments_.size());
    UsedContexts used;
    for (const auto& segment : segments_) segment->find_contexts(used);
    used.number();
    std::vector<Counts> parts;
    for (size_t worker = 0; worker < workers; ++worker) parts.emplace_back(used, count_);
    for_each_index(workers, unsigned(workers), {}, [&](u64 worker) {
      for (size_t i = size_t(worker); i < segments_.size(); i += workers)
        segments_[i]->count(used, parts[size_t(worker)]);
    });
    std::vector<ContextCounts> counts;
    counts.reserve(used.count);
    for (size_t c = 0; c < 256; ++c)
      if (used.is_used[c]) counts.push_back({c, 0, {}});
    for (const Counts& part : parts)
      for (size_t i = 0; i < part.of.size(); ++i) {
        Histogram& sum = counts[i % used.count].of;
        std::ranges::transform(part.of[i], sum, sum.begin(), std::plus());
      }
    for (ContextCounts& of : counts)
      for (of.end = of.of.size(); of.of[of.end - 1] == 0;) --of.end;
    return counts;
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
  std::vector<size_t> marks_;  // the first segment of every level
  std::vector<size_t> ends_;   // for every level, the bytes of all segments before it
};

}  // namespace
}  // namespace rans_encode

template <class I>
std::unique_ptr<CodeSink<I>> Rans::sink(size_t count, Writer& out) const {
  return std::make_unique<rans_encode::Sink<I>>(count, out);
}
template std::unique_ptr<CodeSink<i32>> Rans::sink(size_t, Writer&) const;
template std::unique_ptr<CodeSink<i64>> Rans::sink(size_t, Writer&) const;

}  // namespace leeway
#endif
