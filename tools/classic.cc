// SPDX-License-Identifier: BSD-3-Clause
// Classic netCDF files (CDF-1, -2, -5) become netCDF-4 files, which are HDF5 files.
#include <netcdf.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "tools/h5.h"

namespace leeway::cli::h5 {
namespace {

void check(int status, const std::string& what) {
  if (status != NC_NOERR) throw Error(Errc::io, what + ": " + nc_strerror(status));
}

// An open file, closed at the end of its life.
struct NetcdfFile {
  int id = -1;
  ~NetcdfFile() {
    if (id >= 0) nc_close(id);
  }
};

void copy_attributes(int from, int from_variable, int to, int to_variable) {
  int count = 0;
  check(nc_inq_varnatts(from, from_variable, &count), "cannot list attributes");
  int type = 0;
  if (to_variable != NC_GLOBAL) nc_inq_vartype(to, to_variable, &type);
  for (int i = 0; i < count; ++i) {
    char name[NC_MAX_NAME + 1];
    check(nc_inq_attname(from, from_variable, i, name), "cannot read an attribute");
    nc_type kind = 0;
    nc_inq_atttype(from, from_variable, name, &kind);
    if (std::string(name) == "_FillValue" && kind != type) {
      // netCDF-4 wants it of the variable's own type; what that type cannot hold no value equals.
      double value = 0;
      if (nc_get_att_double(from, from_variable, name, &value) == NC_NOERR &&
          (type == NC_FLOAT || type == NC_DOUBLE || !std::isnan(value)))
        nc_put_att_double(to, to_variable, name, type, 1, &value);
      continue;
    }
    check(nc_copy_att(from, from_variable, name, to, to_variable), "cannot copy an attribute");
  }
}

// Whether it tells where the points of its own dimension are.
bool is_coordinate(int file, const std::string& name, int rank, const int* axes) {
  char dimension[NC_MAX_NAME + 1];
  return rank == 1 && nc_inq_dimname(file, axes[0], dimension) == NC_NOERR && name == dimension;
}

// The bytes of a variable, or more than `most` if they are more.
u64 bytes_of(int file, int variable, u64 most) {
  int rank = 0, axes[NC_MAX_VAR_DIMS];
  nc_type type = 0;
  check(nc_inq_var(file, variable, nullptr, &type, &rank, axes, nullptr), "cannot read a variable");
  size_t width = 0;
  check(nc_inq_type(file, type, nullptr, &width), "cannot read a variable");
  u64 bytes = width;
  bool is_empty = false, is_more = false;
  for (int axis = 0; axis < rank; ++axis) {
    size_t extent = 0;
    check(nc_inq_dimlen(file, axes[axis], &extent), "cannot read a dimension");
    is_empty |= extent == 0;
    is_more |= extent > 0 && bytes > most / extent;
    bytes = is_more ? most : bytes * std::max<u64>(extent, 1);
  }
  return is_empty ? 0 : is_more ? most + 1 : bytes;
}

// netCDF makes up zeros for values beyond the end of a file: a small one could claim to
// hold more than any disk.
void check_length(int file, const std::string& path,
                  const std::vector<std::pair<int, int>>& pairs) {
  const u64 length = std::filesystem::file_size(path);
  u64 claimed = 0;
  for (const auto& [variable, made] : pairs) {
    claimed += bytes_of(file, variable, length);
    if (claimed > length)
      throw Error(Errc::io, "'" + path + "' is too short for the values that its header names");
  }
}

void copy_values(int from, int to, int variable_from, int variable_to) {
  int rank = 0, axes[NC_MAX_VAR_DIMS];
  nc_type type = 0;
  check(nc_inq_var(from, variable_from, nullptr, &type, &rank, axes, nullptr), "cannot read");
  std::vector<size_t> first(size_t(rank) + 1), count(size_t(rank) + 1, 1);
  size_t bytes = 0, rows = 1;
  nc_inq_type(from, type, nullptr, &bytes);
  for (int axis = 0; axis < rank; ++axis) nc_inq_dimlen(from, axes[axis], &count[size_t(axis)]);
  for (size_t axis = 1; axis < size_t(rank); ++axis) bytes *= count[axis];
  if (rank > 0) rows = std::exchange(count[0], 1);
  const size_t step = std::max<size_t>(1, (size_t(128) << 20) / std::max<size_t>(bytes, 1));
  std::vector<std::byte> values(std::min(step, rows) * bytes);
  for (size_t row = 0; row < rows && bytes > 0; row += step) {
    if (rank > 0) {
      first[0] = row;
      count[0] = std::min(step, rows - row);
    }
    check(nc_get_vara(from, variable_from, first.data(), count.data(), values.data()),
          "cannot read values");
    check(nc_put_vara(to, variable_to, first.data(), count.data(), values.data()),
          "cannot write values");
  }
}

}  // namespace

void convert_classic(const std::string& from_path, const std::string& to_path,
                     const std::vector<std::string>& names) {
  NetcdfFile from, to;
  check(nc_open(from_path.c_str(), NC_NOWRITE, &from.id), "cannot open '" + from_path + "'");
  check(nc_create(to_path.c_str(), NC_NETCDF4 | NC_CLOBBER, &to.id),
        "cannot write '" + to_path + "'");
  int axes = 0, variables = 0, unlimited = -1;
  check(nc_inq(from.id, &axes, &variables, nullptr, &unlimited), "cannot read");
  for (int axis = 0; axis < axes; ++axis) {
    char name[NC_MAX_NAME + 1];
    size_t extent = 0;
    int made = 0;
    check(nc_inq_dim(from.id, axis, name, &extent), "cannot read a dimension");
    check(nc_def_dim(to.id, name, axis == unlimited ? NC_UNLIMITED : extent, &made),
          "cannot make a dimension");
  }
  copy_attributes(from.id, NC_GLOBAL, to.id, NC_GLOBAL);
  std::vector<std::pair<int, int>> pairs;
  std::string known;
  for (int variable = 0; variable < variables; ++variable) {
    char name[NC_MAX_NAME + 1];
    nc_type type = 0;
    int rank = 0, ids[NC_MAX_VAR_DIMS], made = 0;
    check(nc_inq_var(from.id, variable, name, &type, &rank, ids, nullptr),
          "cannot read a variable");
    known += (known.empty() ? "" : ", ") + std::string(name);
    const bool is_named =
        names.empty() || std::ranges::find(names, std::string(name)) != names.end();
    if (!is_named && !is_coordinate(from.id, name, rank, ids)) continue;
    check(nc_def_var(to.id, name, type, rank, ids, &made), "cannot make a variable");
    copy_attributes(from.id, variable, to.id, made);
    pairs.emplace_back(variable, made);
  }
  for (const std::string& name : names) {
    int found = 0;
    if (nc_inq_varid(from.id, name.c_str(), &found) != NC_NOERR)
      fail_argument("'" + from_path + "' has no variable '" + name + "'; there are " + known);
  }
  check_length(from.id, from_path, pairs);
  check(nc_enddef(to.id), "cannot write '" + to_path + "'");
  for (const auto& [source, target] : pairs) copy_values(from.id, to.id, source, target);
  check(nc_close(std::exchange(to.id, -1)), "cannot write '" + to_path + "'");
}

}  // namespace leeway::cli::h5
