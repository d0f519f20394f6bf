// SPDX-License-Identifier: BSD-3-Clause
// What the verbs do with the variables of HDF5 and netCDF files.
#pragma once

#include <string>
#include <vector>

#include "tools/cli.h"
#include "tools/h5.h"
#include "tools/variable_bounds.h"

namespace leeway::cli {

// Whether the name of an output asks for an HDF5 or netCDF file: .nc .nc4 .h5 .hdf5 .he5
bool is_container_name(const std::string& path);

struct CompressVariables {
  h5::Address input;
  std::string output;
  CompressOptions options;                     // the bound may be missing
  std::vector<std::string> own_bounds;         // "t=abs:0.01", "tas*=rel:1e-4"
  std::vector<std::string> excluded;           // names, or patterns of names
  std::vector<OwnBound> common;                // of a bounds file, as is the next one
  std::vector<std::string> commonly_excluded;  // they need not be in the file
  std::vector<std::string> fills;              // as given, for all of them
  bool force = false, json = false, quiet = false;
  void run() const;
};

struct DecompressVariables {
  h5::Address input;
  std::string output;
  bool force = false, json = false, quiet = false;
  void run() const;
};

struct VerifyVariables {
  h5::Address input;
  std::optional<h5::Address> original;
  bool json = false, quiet = false;
  void run() const;
};

void inspect_variables(const h5::Address& input, bool json);

}  // namespace leeway::cli
