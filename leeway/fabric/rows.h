// SPDX-License-Identifier: BSD-3-Clause
// Rows: the fast engine. Nothing moves north or south, so chains do not know of each other; in a
// chain the order in which a PE handles words is fixed by the program, so times obey recurrences:
//
//   t(i, w) = max(start(i) + w, t(i, w-1) + 1, t(i-1, w) + hop, t(i+1, w-Q) + 1)
//
// for word w of a block at PE i with queues of Q words. Equal to the mesh (ceresz.h), cycle for
// cycle; needs the widths of the blocks only.
#pragma once

#include "leeway/fabric/ceresz.h"

namespace leeway::fabric {

// Throws if a program has a route with both a horizontal and a vertical side: then rows are not
// independent.
void check_rows_are_independent(const Mesh& mesh);

struct RowOptions {
  unsigned threads = 1;
  // Called with the part of the chains that are done; false stops.
  std::function<bool(double)> progress;
  bool keep_intervals = false;  // when every PE computed
};

struct RowOutcome : Outcome {
  // Of every PE, if asked for: when it computed, and all that it did.
  std::vector<std::vector<Interval>> computed;
  std::vector<std::vector<Activity>> activities;
};

// `widths`: bits of every block.
RowOutcome run_rows(const Job& job, std::vector<Chain>& chains, std::span<const u8> widths,
                    const RowOptions& options = {});

}  // namespace leeway::fabric
