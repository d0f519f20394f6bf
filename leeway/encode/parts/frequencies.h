// SPDX-License-Identifier: BSD-3-Clause
// Frequencies: how often each token is expected, in parts of 4096, and how a table of them is
// written (rans.md, "Tables").
#pragma once

#include <array>
#include <optional>

#include "leeway/encode/parts/curve.h"
#include "leeway/encode/parts/token.h"

namespace leeway {

// Frequencies add up to kFrequencySum. So that a table takes only a few bytes, all tokens but one
// have one of 44 frequencies and the top token has the rest; or a curve gives all of them.
struct Frequencies {
  std::array<u16, 256> of{};
  u8 top = 0;
  std::optional<Curve> curve;
};

// Chooses the table with which tokens and table take the fewest bits. `mantissa`: the number of
// mantissa bits in a token.
Frequencies approximate(TokenCounts counts, int mantissa);
void write(const Frequencies& table, BitWriter& out);
Frequencies read_frequencies(BitReader& in, int mantissa);

// The approximate bits, times 2^16, of the tokens and their table.
u64 cost_of(TokenCounts counts, int mantissa);

// A context that occurs, and the counts of its tokens 0 to end - 1.
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
