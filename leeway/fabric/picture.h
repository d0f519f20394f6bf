// SPDX-License-Identifier: BSD-3-Clause
// Picture: a simulation as a heat map of the mesh and as a timeline of a row.
#pragma once

#include <string>

#include "leeway/fabric/simulate.h"

namespace leeway::fabric {

// Parts of all cycles, from 0 to 1, of the PEs in a cell: at most so many cells a side.
struct HeatMap {
  struct Panel {
    std::string name;           // "computing", "moving", "waiting"
    double mean = 0;            // of all PEs
    std::vector<double> cells;  // row by row
  };
  u32 columns = 0, rows = 0;  // of cells
  std::vector<Panel> panels;
};
HeatMap heat_map_of(const Simulation& done, u32 most_cells);

// Three panels, a legend, and what was simulated.
std::string heat_map_svg(const Simulation& done);
// The same panels side by side, a pixel or more a PE; a PNG file.
std::vector<u8> heat_map_png(const Simulation& done);
// One round and a half of a chain: PEs downwards, cycles to the right, a color for what they do.
std::string timeline_svg(const Simulation& done, size_t chain);

}  // namespace leeway::fabric
