// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/encode/parts/frequencies.h"

#include <algorithm>
#include <numeric>

#include "leeway/base/log2.h"

namespace leeway {
namespace {

// Frequencies of three significant bits: 0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, ...
constexpr int kLevels = 44;
constexpr u32 frequency_of(int level) {
  return level < 4 ? u32(level) : u32(quarter_octave(u32(level - 4)));
}

// The highest level whose frequency is at most this one.
int level_of(u32 frequency) {
  if (frequency < 4) return int(frequency);
  const int bits = std::bit_width(frequency);
  return 4 * (bits - 2) + int(frequency >> (bits - 3) & 3);
}

// The level nearest to the share counts / total.
int level_near(u64 count, u64 total) {
  if (count == 0) return 0;
  const u64 scaled = (2 * count * kFrequencySum + total - 1) / total;  // twice the frequency
  int level = std::clamp(level_of(u32(scaled / 2)), 1, kLevels - 1);
  if (level + 1 < kLevels && frequency_of(level) + frequency_of(level + 1) <= scaled) ++level;
  return level;
}

u64 total_of(TokenCounts counts) { return std::accumulate(counts.begin(), counts.end(), u64(0)); }

// The expected level of a token, from those of the same sign before it.
int expected_level(const std::array<int, 256>& levels, size_t token) {
  if (token < 2) return 24;
  if (token < 4) return levels[token - 2];
  return std::clamp(2 * levels[token - 2] - levels[token - 4], 0, kLevels - 1);
}

void put_signed(BitWriter& out, int value) {  // Elias gamma of the zigzag number plus one
  const u64 z = zigzag(i32(value)) + 1;
  const int bits = std::bit_width(z);
  out.put(u64(1) << (bits - 1), bits);
  out.put(z & ((u64(1) << (bits - 1)) - 1), bits - 1);
}
int get_signed(BitReader& in) {
  int bits = 0;
  while (in.get(1) == 0)
    if (++bits > 8) fail_corrupt("table of frequencies");
  const u64 z = (u64(1) << bits | in.get(bits)) - 1;
  return int(unzigzag(u32(z)));
}

// Of the tokens that are counted.
void find_levels(TokenCounts counts, size_t top, std::span<int> levels) {
  const u64 total = total_of(counts);
  u64 sum = 0;
  for (size_t t = 0; t < counts.size(); ++t) {
    levels[t] = t == top ? 0 : level_near(counts[t], total);
    sum += frequency_of(levels[t]);
  }
  while (sum >= kFrequencySum) {  // the top token needs a frequency, too
    int& largest = *std::ranges::max_element(levels);
    sum -= frequency_of(largest) - frequency_of(largest - 1);
    --largest;
  }
}

Frequencies listed(TokenCounts counts) {
  Frequencies table;
  table.top = u8(std::ranges::max_element(counts) - counts.begin());
  std::array<int, 256> levels;
  find_levels(counts, table.top, std::span(levels).first(counts.size()));
  u32 sum = 0;
  for (size_t t = 0; t < counts.size(); ++t) {
    table.of[t] = u16(frequency_of(levels[t]));
    sum += table.of[t];
  }
  table.of[table.top] = u16(kFrequencySum - sum);
  return table;
}

// Of the tokens whose frequencies are written; those from `end` on have none.
size_t count_of(const Frequencies& table, size_t end) {
  size_t count = end;
  while (count > 0 && (table.of[count - 1] == 0 || count - 1 == table.top)) --count;
  return count;
}

// Calls f(difference) for every level that is written.
template <class F>
void for_each_level(const Frequencies& table, size_t end, F&& f) {
  std::array<int, 256> levels;
  for (size_t t = 0, count = count_of(table, end); t < count; ++t) {
    const int expected = expected_level(levels, t);
    if (t == table.top) {
      levels[t] = expected;
      continue;
    }
    levels[t] = level_of(table.of[t]);
    f(levels[t] - expected);
  }
}

u64 bits_of(const Frequencies& table, size_t end) {
  u64 bits = 1 + 8 + 9;
  for_each_level(table, end, [&](int difference) {
    bits += 2 * u64(std::bit_width(zigzag(i32(difference)) + 1)) - 1;
  });
  return bits;
}

// The bits, times 2^16, of the tokens and of the list of frequencies.
u64 cost_under(const Frequencies& list, TokenCounts counts) {
  return bits_under(counts, list.of) + (bits_of(list, counts.size()) << 16);
}

constexpr u64 kBitsOfCurve = 1 + kCurveBits;
constexpr u64 kMany = 8192;  // tokens for which a list is cheaper than a curve

}  // namespace

Frequencies approximate(TokenCounts counts, int mantissa) {
  Frequencies list = listed(counts), curve;
  if (total_of(counts) >= kMany) return list;
  curve.curve = best_curve(counts, mantissa);
  curve.of = frequencies_of(*curve.curve, mantissa);
  const u64 by_curve = bits_under(counts, curve.of) + (kBitsOfCurve << 16);
  return by_curve < cost_under(list, counts) ? curve : list;
}

void write(const Frequencies& table, BitWriter& out) {
  out.put(table.curve.has_value(), 1);
  if (const auto& curve = table.curve) {
    out.put(curve->last, 8);
    out.put(curve->zeros, 6);
    out.put(curve->mean, 6);
    out.put(curve->tail, 2);
    return;
  }
  out.put(table.top, 8);
  out.put(count_of(table, table.of.size()), 9);
  for_each_level(table, table.of.size(), [&](int difference) { put_signed(out, difference); });
}

Frequencies read_frequencies(BitReader& in, int mantissa) {
  Frequencies table;
  if (in.get(1)) {
    const auto get = [&](int bits) { return u32(in.get(bits)); };
    const u32 last = get(8), zeros = get(6), mean = get(6), tail = get(2);
    table.curve = Curve{last, zeros, mean, tail};
    table.of = frequencies_of(*table.curve, mantissa);
    return table;
  }
  table.top = u8(in.get(8));
  const auto count = size_t(in.get(9));
  if (count > 256) fail_corrupt("table of frequencies");
  std::array<int, 256> levels{};
  u32 sum = 0;
  for (size_t t = 0; t < count; ++t) {
    levels[t] = expected_level(levels, t);
    if (t == table.top) continue;
    levels[t] += get_signed(in);
    if (levels[t] < 0 || levels[t] >= kLevels) fail_corrupt("table of frequencies");
    table.of[t] = u16(frequency_of(levels[t]));
    sum += table.of[t];
  }
  if (sum >= kFrequencySum) fail_corrupt("table of frequencies");
  table.of[table.top] = u16(kFrequencySum - sum);
  return table;
}

u64 cost_of(TokenCounts counts, int mantissa) {
  const u64 total = total_of(counts);
  if (total == 0) return 0;
  if (total < kMany) {
    const auto curve = frequencies_of(first_curve(counts, mantissa), mantissa);
    return std::min(cost_under(listed(counts), counts),
                    bits_under(counts, curve) + (kBitsOfCurve << 16));
  }
  const u64 whole = log2_of(total);
  u64 bits = u64(18) << 16;
  for (const u32 count : counts)
    if (count > 0) bits += (u64(4) << 16) + count * (whole - std::min(whole, log2_of(count)));
  return bits;
}

namespace {

// Adds the tokens of a context to those of another.
void join(const ContextCounts& from, ContextCounts& to) {
  for (; to.end < from.end; ++to.end) to.of[to.end] = 0;
  for (size_t t = 0; t < from.end; ++t) to.of[t] += from.of[t];
}

}  // namespace

SharedTables share_tables(std::vector<ContextCounts> contexts, int mantissa) {
  // Contexts that share a table form a group, which is represented by its last context.
  struct Group {
    ContextCounts* counts;
    u64 cost, joined_cost;  // joined_cost: with the next group
  };
  std::vector<Group> groups;
  groups.reserve(contexts.size());
  for (ContextCounts& counts : contexts)
    groups.push_back({&counts, cost_of(counts.counts(), mantissa), 0});
  const auto update = [&](size_t i) {
    if (i + 1 >= groups.size()) return;
    const ContextCounts& next = *groups[i + 1].counts;
    ContextCounts both;
    both.end = next.end;
    std::copy_n(next.of.begin(), next.end, both.of.begin());
    join(*groups[i].counts, both);
    groups[i].joined_cost = cost_of(both.counts(), mantissa);
  };
  for (size_t i = 0; i < groups.size(); ++i) update(i);
  for (;;) {
    size_t best = groups.size();
    u64 most = 0;
    for (size_t i = 0; i + 1 < groups.size(); ++i) {
      const u64 apart = groups[i].cost + groups[i + 1].cost;
      if (apart >= groups[i].joined_cost && apart - groups[i].joined_cost >= most) {
        most = apart - groups[i].joined_cost;
        best = i;
      }
    }
    if (best == groups.size()) break;
    join(*groups[best].counts, *groups[best + 1].counts);
    groups[best + 1].cost = groups[best].joined_cost;
    groups.erase(groups.begin() + std::ptrdiff_t(best));
    update(best);
    if (best > 0) update(best - 1);
  }
  SharedTables shared;
  for (const Group& group : groups) {
    shared.table_of.resize(group.counts->context + 1, u8(shared.counts.size()));
    shared.counts.push_back(*group.counts);
  }
  return shared;
}

}  // namespace leeway
