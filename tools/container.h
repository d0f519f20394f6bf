// SPDX-License-Identifier: BSD-3-Clause
// Containers: HDF5 and netCDF files, told from others by their first bytes, and how users name what
// lies in them.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace leeway::cli::h5 {

// Whether the file begins as an HDF5 or classic netCDF file does.
bool is_container(const std::string& path);
bool is_classic(const std::string& path);  // netCDF before version 4
// Whether the name of an output asks for such a file: .nc .nc4 .h5 .hdf5 .he5
bool is_container_name(const std::string& path);
// Refuses such a name for an output that holds an array and nothing else.
void refuse_container_name(const std::string& path);
// "file.nc:t,u": the path before the last colon that follows an existing file, and the names after
// it.
struct Address {
  std::string path;
  std::vector<std::string> names;  // empty: none were given
};
// Nothing if that is no container. Throws if it has the name of one and is not there.
std::optional<Address> parse_address(const std::string& text);

}  // namespace leeway::cli::h5
