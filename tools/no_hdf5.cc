// SPDX-License-Identifier: BSD-3-Clause
// A tool that is built without HDF5 and netCDF says so where it would have to read such a file.
#include "tools/doctor.h"
#include "tools/pair_files.h"
#include "tools/variables.h"

namespace leeway::cli {
namespace {

[[noreturn]] void refuse(const h5::Address& address) {
  throw Error(Errc::unsupported, "'" + address.path +
                                     "' is an HDF5 or netCDF file, and this build of the tool has "
                                     "no HDF5 (it was configured with LEEWAY_TOOLS_HDF5=OFF)");
}

}  // namespace

void CompressVariables::run() const { refuse(input); }
void DecompressVariables::run() const { refuse(input); }
void VerifyVariables::run() const { refuse(input); }
BoundsFile read_bounds_file(const std::string& path) {
  throw Error(Errc::unsupported,
              "'" + path +
                  "' has bounds for variables of HDF5 and netCDF files, and this "
                  "build of the tool has no HDF5");
}
void inspect_variables(const h5::Address& input, bool) { refuse(input); }
FileVariables data_variables(const h5::Address& address) { refuse(address); }
ArrayFile open_variable(const h5::Address& address) { refuse(address); }
ArrayFile open_unpacked_variable(const h5::Address& address) { refuse(address); }
Array read_variable(const h5::Address& address, const std::function<Box(const Shape&)>&) {
  refuse(address);
}

OpenSide open_variable_side(const h5::Address& address, const std::string&) { refuse(address); }
std::vector<std::string> variables_of_pair(const h5::Address& original, const h5::Address*) {
  refuse(original);
}

Json examine_hdf5() {
  return {{"library", "none: this build of the tool has no HDF5"},
          {"plugin_path", "not looked at"},
          {"plugin_folder", ""},
          {"found", true},
          {"libraries", Json::array()}};
}

void add_filter(CLI::App& verb) {
  verb.allow_extras();
  verb.callback([] {
    throw Error(Errc::unsupported, "this build of the tool has no HDF5, nor a filter for it");
  });
}

}  // namespace leeway::cli
