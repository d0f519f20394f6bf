// SPDX-License-Identifier: BSD-3-Clause
#include "tools/fpga_model.h"

#include <algorithm>
#include <cmath>

#include "leeway/quantize/linear.h"

namespace leeway::cli {
namespace {

// Rows first ... last of column k of the wavefront of a table of rows x length points.
struct Column {
  u64 first, last;
  u64 points() const { return last - first + 1; }
};
Column column_of(u64 k, u64 rows, u64 length) {
  return {k < length ? 0 : k - length + 1, std::min(k, rows - 1)};
}

Schedule one_lane(u64 rows, u64 length, const WaveDesign& design) {
  Schedule schedule{.phases = {{"HEAD"}, {"BODY"}, {"TAIL"}}};
  if (rows == 0 || length == 0) return schedule;
  const u64 columns = rows + length - 1, full = std::min(rows, length);
  u64 start = 0;                // of the column
  Column before{}, before_2{};  // the columns before, and when they started
  u64 before_start = 0, before_2_start = 0;
  for (u64 k = 0; k < columns; ++k) {
    const Column column = column_of(k, rows, length);
    Phase& phase = schedule.phases[k + 1 < full ? 0 : k + full < columns + 1 ? 1 : 2];
    if (k > 0) {
      // The point to the left is in the same row of the column before.
      const u64 issued = before_start + before.points(),
                needed = before_start + (column.first - before.first) + design.depth;
      start = std::max(issued, needed);
      if (column.first > 0) start += design.looks;
      phase.stalls += start - issued;
    }
    ++phase.turns;
    phase.points += column.points();
    for (u64 row = column.first; row <= column.last; ++row) {
      const u64 begins = start + (row - column.first);
      const auto waits = [&](const Column& other, u64 other_start, u64 needed_row) {
        if (needed_row < other.first || needed_row > other.last) return;  // on the border
        const u64 ends = other_start + (needed_row - other.first) + design.depth;
        schedule.too_early += begins < ends;
      };
      if (k > 0) waits(before, before_start, row);                     // left
      if (k > 0 && row > 0) waits(before, before_start, row - 1);      // above
      if (k > 1 && row > 0) waits(before_2, before_2_start, row - 1);  // above to the left
    }
    before_2 = std::exchange(before, column);
    before_2_start = std::exchange(before_start, start);
    schedule.points += column.points();
  }
  schedule.cycles = before_start + before.points() + design.depth;
  return schedule;
}

}  // namespace

Schedule wave_schedule(u64 rows, u64 length, const WaveDesign& design) {
  // Lanes share the length; the longest decides.
  const u64 lanes = std::clamp<u64>(design.lanes, 1, std::max<u64>(1, length / 2));
  Schedule all{.phases = {{"HEAD"}, {"BODY"}, {"TAIL"}}};
  for (u64 lane = 0; lane < lanes; ++lane) {
    const u64 part = length * (lane + 1) / lanes - length * lane / lanes;
    const Schedule one = one_lane(rows > 0 ? rows - 1 : 0, part > 0 ? part - 1 : 0, design);
    all.points += one.points;
    all.cycles = std::max(all.cycles, one.cycles);
    all.too_early += one.too_early;
    for (size_t i = 0; i < 3; ++i) {
      all.phases[i].turns += one.phases[i].turns;
      all.phases[i].points += one.phases[i].points;
      all.phases[i].stalls += one.phases[i].stalls;
    }
  }
  return all;
}

Schedule rtl_wave_schedule(u64 rows, u64 length, const WaveDesign& design) {
  constexpr u64 kOut = 1;  // from the end of a point to its way out
  WaveDesign as_built = design;
  as_built.depth = 43, as_built.looks = 1;
  Schedule schedule = one_lane(rows, length, as_built);
  schedule.cycles += kOut;
  return schedule;
}

Schedule ghost_schedule(u64 rows, u64 length, const GhostDesign& design) {
  const u64 lanes = std::max<u64>(1, design.lanes), own = (rows + lanes - 1) / lanes;
  // A turn takes one point of each row; the next turn needs the last point of the first row.
  const u64 turn = std::max(own * design.interval, design.depth);
  Schedule schedule;
  schedule.points = rows * length;
  schedule.cycles = turn * length + design.depth;
  schedule.phases = {{"TURNS", length, rows * length, (turn - own * design.interval) * length}};
  return schedule;
}

Schedule ceaz_schedule(u64 values, u64 value_bytes, double ratio, const CeazDesign& design) {
  const u64 bytes = values * value_bytes;
  const u64 busy = (bytes + design.bytes_a_cycle - 1) / design.bytes_a_cycle;
  const auto out = u64(double(bytes) / ratio / design.link * design.clock);
  const u64 waits = out > busy ? out - busy : 0;
  Schedule schedule;
  schedule.points = values;
  schedule.cycles = busy + waits + design.depth;
  schedule.phases = {{"CODE", busy, values, waits}};
  return schedule;
}

template <class T>
bool wave_order_is_exact(std::span<const T> values, u64 rows, u64 length, double bound) {
  const LinearGrid<T> grid(bound, {StepRule::power_of_two, 65536});
  const size_t n = size_t(length);
  const auto step = [&](std::vector<T>& x, size_t i, size_t j) {
    Code<T> code = 0;
    const T left = x[i * n + j - 1], above = T(0) + x[(i - 1) * n + j],
            above_left = T(0) + x[(i - 1) * n + j - 1];
    grid.quantize(x[i * n + j], left + (above - above_left), code);
    return code;
  };
  std::vector<T> by_rows(values.begin(), values.end()), by_columns = by_rows;
  std::vector<Code<T>> row_codes(by_rows.size()), column_codes(by_rows.size());
  for (size_t i = 1; i < rows; ++i)
    for (size_t j = 1; j < n; ++j) row_codes[i * n + j] = step(by_rows, i, j);
  for (u64 k = 0; rows > 1 && n > 1 && k + 3 < rows + length; ++k) {
    const Column column = column_of(k, rows - 1, length - 1);
    for (u64 r = column.first; r <= column.last; ++r) {
      const size_t i = size_t(r) + 1, j = size_t(k - r) + 1;
      column_codes[i * n + j] = step(by_columns, i, j);
    }
  }
  const auto same = [](const T& a, const T& b) { return bits_of(a) == bits_of(b); };
  return row_codes == column_codes && std::ranges::equal(by_rows, by_columns, same);
}
template bool wave_order_is_exact<float>(std::span<const float>, u64, u64, double);
template bool wave_order_is_exact<double>(std::span<const double>, u64, u64, double);

namespace {

struct Dataset {
  const char* name;
  u64 rows, length;
  double wave, ghost;  // MB/s printed in Table 5 of waveSZ
};
constexpr Dataset kDatasets[] = {{"CESM-ATM 1800x3600", 1800, 3600, 995, 185},
                                 {"Hurricane 100x(500x500)", 100, 250000, 838, 144},
                                 {"NYX 512x(512x512)", 512, 262144, 986, 156}};

double mb_s(u64 points, double seconds) { return double(points) * 4 / 1e6 / seconds; }

}  // namespace

std::vector<Printed> printed_by_wavesz(const WaveDesign& design) {
  std::vector<Printed> result;
  for (const Dataset& set : kDatasets) {
    const Schedule schedule = wave_schedule(set.rows, set.length, design);
    result.push_back({std::string("Table 5, ") + set.name, set.wave,
                      mb_s(set.rows * set.length, schedule.seconds(design.clock)), "MB/s"});
  }
  // Figure 8 shows lanes that scale linearly; the text gives no numbers but those of one lane.
  for (const u64 lanes : {2, 4, 8}) {
    WaveDesign more = design;
    more.lanes = lanes;
    const Dataset& nyx = kDatasets[2];
    const Schedule schedule = wave_schedule(nyx.rows, nyx.length, more);
    result.push_back({"Figure 8, NYX, " + std::to_string(lanes) + " lanes (linear)",
                      double(lanes) * nyx.wave,
                      mb_s(nyx.rows * nyx.length, schedule.seconds(design.clock)), "MB/s"});
  }
  return result;
}

std::vector<Printed> printed_by_ghostsz(const GhostDesign& design) {
  std::vector<Printed> result;
  for (const Dataset& set : kDatasets) {
    const Schedule schedule = ghost_schedule(set.rows, set.length, design);
    result.push_back({std::string("Table 5, ") + set.name, set.ghost,
                      mb_s(set.rows * set.length, schedule.seconds(design.clock)), "MB/s"});
  }
  return result;
}

std::vector<Printed> printed_by_ceaz(const CeazDesign& design) {
  std::vector<Printed> result;
  const auto gb_s = [&](u64 floats, double ratio, const CeazDesign& with) {
    return double(floats) * 4e-9 / ceaz_schedule(floats, 4, ratio, with).seconds(with.clock);
  };
  const u64 cesm = u64(77) * 1800 * 3600;
  result.push_back({"throughput, 16 pipelines", 16.5, gb_s(cesm, 9.1, design), "GB/s"});
  // Figure 13: linear up to 64 pipelines, but for the tightest bound, where the link is too narrow
  // for what comes out.
  for (const u64 pipelines : {1, 4, 32}) {
    CeazDesign some = design;
    some.bytes_a_cycle = 4 * pipelines;
    result.push_back({"Figure 13, " + std::to_string(pipelines) + " pipelines (linear)",
                      16.5 / 16 * double(pipelines), gb_s(cesm, 6, some), "GB/s"});
  }
  // Table 5 in seconds, of the fields of Table 1. They cannot be the ones that were timed: divided
  // by the printed times they give 4 to 54 GB/s, where Figure 12 has about 16 for all.
  struct Timed {
    const char* name;
    u64 values, bytes;
    double printed;
  };
  for (const Timed& t :
       {Timed{"Table 5, NWChem, 3 x 539,016,059 doubles", u64(3) * 539016059, 8, 1.0},
        Timed{"Table 5, Brown, 3 x 33,554,433 doubles", u64(3) * 33554433, 8, 1.5e-2},
        Timed{"Table 5, CESM, 77 x 1800x3600 floats", cesm, 4, 8.9e-2},
        Timed{"Table 5, S3D, 11 x 500x500x500 doubles", u64(11) * 125000000, 8, 2.7}})
    result.push_back({t.name, t.printed,
                      ceaz_schedule(t.values, t.bytes, 9, design).seconds(design.clock), "s"});
  // Compressed MPI-IO: the time to compress and the time to write add up [section 4.8.2].
  const auto speedup = [&](double ratio, double io) {
    constexpr double kNodes = 128;
    const double compressing = double(design.bytes_a_cycle) * design.clock / 1e9;
    return 1 / (1 / ratio + io / (kNodes * compressing));
  };
  result.push_back({"MPI_File_write on NYX", 15.7, speedup(20.3, 30.51), "times"});
  result.push_back({"MPI_File_write on S3D", 28.1, speedup(47.3, 30.51), "times"});
  result.push_back({"MPI_Gather on NYX", 18.1, speedup(20.3, 12.37), "times"});
  result.push_back({"MPI_Gather on S3D", 36.9, speedup(47.3, 12.37), "times"});
  return result;
}

}  // namespace leeway::cli
