// SPDX-License-Identifier: BSD-3-Clause
// Together: what the verbs do with promises, which may speak of several arrays on one grid.
#pragma once

#include <string>
#include <vector>

#include "tools/cli.h"

namespace leeway::cli {

struct CompressTogether {
  std::vector<std::string> inputs;      // "u=u.npy", "run.nc:u,v", or one path, whose array is "x"
  std::string output;                   // a stream; a folder for several
  CompressOptions options;              // the bound may be missing
  std::vector<std::string> own_bounds;  // "u=abs:0.5"
  std::vector<std::string> promises, fills;
  std::string keep;  // "zeros,sign"
  std::optional<double> min, max, ssim;
  bool force = false, json = false, quiet = false;
  ArrayOptions array;
  void run() const;
};

// Checks the promises that streams state, with the originals in the order of the streams, or one
// HDF5 or netCDF file that has them all. Returns what is wrong; says what could not be checked.
struct CheckedPromises {
  std::vector<std::string> complaints, kept, unchecked;
};
CheckedPromises check_promises(const std::vector<std::string>& streams,
                               const std::vector<std::string>& originals, const ArrayOptions& array,
                               const Execution& execution);

}  // namespace leeway::cli
