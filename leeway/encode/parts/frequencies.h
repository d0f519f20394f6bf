// SPDX-License-Identifier: BSD-3-Clause
// Frequencies: how often each token is expected, in parts of 4096, and how a table of them is
// written (rans.md, "Tables").
#pragma once

#include <array>
#include <optional>

#include "leeway/encode/parts/curve.h"
#include "leeway/encode/parts/token.h"

namespace leeway {

// They add up to kFrequencySum. So that a table can be written in a few bytes, all tokens but one
// have one of 44 frequencies, and the top one takes what they leave; or a curve says them all.
struct Frequencies {
  std::array<u16, 256> of{};
  u8 top = 0;
  std::optional<Curve> curve;
};

// What codes the tokens with the fewest bits, the table's own among them. `mantissa`: bits of it in
// a token.
Frequencies approximate(TokenCounts counts, int mantissa);
void write(const Frequencies& table, BitWriter& out);
Frequencies read_frequencies(BitReader& in, int mantissa);

// Bits, times 2^16, that the tokens will take, and their table; about.
u64 cost_of(TokenCounts counts, int mantissa);

// A context that occurs, and its tokens, of which there are `end` with those that do not.
struct ContextCounts {
  size_t context, end;
  std::array<u32, 256> of;
  TokenCounts counts() const { return TokenCounts(of).first(end); }
};
// Which contexts share a table: contexts next to each other, in the order given, are joined as long
// as that saves bits. Numbers of tables start at 0 and rise.
struct SharedTables {
  std::vector<u8> table_of;           // by context, up to the last that occurs
  std::vector<ContextCounts> counts;  // by table, of all its contexts
};
SharedTables share_tables(std::vector<ContextCounts> contexts, int mantissa);

}  // namespace leeway
