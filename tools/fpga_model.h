// SPDX-License-Identifier: BSD-3-Clause
// FPGA model: the cycle schedules of waveSZ, GhostSZ and CEAZ (docs/notes/models.md).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "leeway/leeway.hpp"
#include "tools/printed_table.h"

namespace leeway::cli {

// One set of constants for all papers' tables; each can be given on the command line.
struct WaveDesign {
  double clock = 250e6;  // the paper says 156.25 MHz, which could not give its throughputs
  u64 depth = 118;       // cycles from the start of a point to its reconstructed value
  u64 lanes = 1;         // independent parts of the table, side by side
  u64 looks = 0;         // cycles that a column of TAIL begins with
};
struct GhostDesign {
  double clock = 250e6;
  u64 interval = 6;  // cycles between the starts of two points: three curves and a choice
  u64 depth = 118;
  u64 lanes = 1;
};
struct CeazDesign {
  double clock = 260e6;    // as measured; 265 MHz were asked for
  u64 bytes_a_cycle = 64;  // 16 pipelines of floats or 8 of doubles
  u64 depth = 64;          // cycles until the first code comes out
  double link = 12.5e9;    // bytes a second to the network: 100 Gb/s
};

// Part of a schedule.
struct Phase {
  const char* name;
  u64 turns = 0;   // columns of the wavefront, or cycles at work
  u64 points = 0;  // values
  u64 stalls = 0;  // cycles in which no point starts
};

struct Schedule {
  u64 points = 0, cycles = 0;
  std::vector<Phase> phases{};
  u64 too_early = 0;  // points that start before a neighbour they need has ended: must be 0
  double seconds(double clock) const { return double(cycles) / clock; }
};

// The points of a table after its first row and column, one column of the wavefront after the
// other. A point starts every cycle, but never before the points it needs have ended.
Schedule wave_schedule(u64 rows, u64 length, const WaveDesign& design);
// What rtl/wavesz does, to the cycle, from the first point's start to the last one's way out: the
// border goes through it, too, and in TAIL a column begins with a look at the row above its first.
// Of `design` it takes the clock only.
Schedule rtl_wave_schedule(u64 rows, u64 length, const WaveDesign& design = {});
// Rows in turn, one point of each; a row waits for its own last point only.
Schedule ghost_schedule(u64 rows, u64 length, const GhostDesign& design);
// All pipelines run: a page is coded with the book before it, so that nothing waits for a new one,
// unless the link is too narrow for what comes out.
Schedule ceaz_schedule(u64 values, u64 value_bytes, double ratio, const CeazDesign& design);

// Predicts, quantizes and reconstructs a table in the order of the schedule, and says whether codes
// and values are those of the recipe `wavesz`, bit for bit.
template <class T>
bool wave_order_is_exact(std::span<const T> values, u64 rows, u64 length, double bound);

// The tables of the papers and what the models say.
std::vector<Printed> printed_by_wavesz(const WaveDesign& design);
std::vector<Printed> printed_by_ghostsz(const GhostDesign& design);
std::vector<Printed> printed_by_ceaz(const CeazDesign& design);

}  // namespace leeway::cli
