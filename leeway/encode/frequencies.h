// SPDX-License-Identifier: BSD-3-Clause
// Frequencies: how often each token is expected, in parts of 4096, and how a table of them is
// written (rans.md, "Tables").
#pragma once

#include <array>

#include "leeway/encode/token.h"

namespace leeway {

inline constexpr int kFrequencyBits = 12;
inline constexpr u32 kFrequencySum = 1u << kFrequencyBits;

using Histogram = std::array<u32, 256>;
// They add up to kFrequencySum. So that a table can be written in a few bytes, all tokens but one
// have one of 44 frequencies; the top one takes what they leave.
struct Frequencies {
  std::array<u16, 256> of{};
  u8 top = 0;
};

Frequencies approximate(const Histogram& counts);
void write(const Frequencies& table, BitWriter& out);
Frequencies read_frequencies(BitReader& in);

// Bits, times 2^16, that the tokens would take if coded with their own frequencies; with what the
// table takes.
u64 cost_of(const Histogram& counts);

// Which contexts share a table: contexts next to each other are joined as long as that saves bits.
// tables[c] is the table of context c; numbers start at 0 and rise.
struct SharedTables {
  std::vector<u8> table_of;       // by context
  std::vector<Histogram> counts;  // by table
};
SharedTables share_tables(std::span<const Histogram> contexts);

}  // namespace leeway
