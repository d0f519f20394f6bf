// SPDX-License-Identifier: BSD-3-Clause
// What the verbs do with the variables of HDF5 and netCDF files. A tool that is built without HDF5
// says so instead (no_hdf5.cc).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/array_file.h"
#include "tools/cli.h"
#include "tools/container.h"
#include "tools/variable_bounds.h"

namespace leeway::cli {

struct CompressVariables {
  h5::Address input;
  std::string output;
  CompressOptions options;              // the bound may be missing
  derived::PartRules rules;             // of the variables that have no bound of their own
  std::vector<std::string> own_bounds;  // "t=abs:0.01", "tas*=rel:1e-4"
  std::vector<std::string> excluded;    // names, or patterns of names
  std::string bounds_file;              // empty: none; the next two come from it
  std::vector<OwnBound> common;
  std::vector<std::string> commonly_excluded;  // they need not be in the file
  std::vector<std::string> fills;              // as given, for all variables
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

// The variables that hold data, those named if any are, and those that are left alone, with the
// reason.
struct FileVariables {
  std::vector<std::string> names;
  std::vector<std::pair<std::string, std::string>> left_alone;
};
FileVariables data_variables(const h5::Address& address);

// The values of one variable.
ArrayFile open_variable(const h5::Address& address);
// The same, with packed values unpacked: f64, with NaN for fill values.
ArrayFile open_unpacked_variable(const h5::Address& address);
// A part of one variable; `choose` is told its shape and says which part.
Array read_variable(const h5::Address& address, const std::function<Box(const Shape&)>& choose);

}  // namespace leeway::cli
