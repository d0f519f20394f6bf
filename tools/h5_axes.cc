// SPDX-License-Identifier: BSD-3-Clause
#include "tools/h5_axes.h"

#include <hdf5_hl.h>

namespace leeway::cli::h5 {
namespace {

constexpr u64 kMostCoordinates = u64(1) << 20;

std::string last_name_of(hid_t dataset) {
  std::string path(size_t(std::max<ssize_t>(H5Iget_name(dataset, nullptr, 0), 0)) + 1, '\0');
  H5Iget_name(dataset, path.data(), path.size());
  path.pop_back();
  return path.substr(path.rfind('/') + 1);
}

// Dimensions of netCDF that have no values are scales as well, and say so.
bool has_values(hid_t scale) {
  char title[128] = "";
  return H5DSget_scale_name(scale, title, sizeof title) <= 0 ||
         !std::string_view(title).starts_with("This is a netCDF dimension but not");
}

report::Axis axis_of(hid_t scale, u64 extent) {
  report::Axis axis{last_name_of(scale), text_of(scale, "units"), {}};
  const Handle type(H5Dget_type(scale), H5Tclose), space(H5Dget_space(scale), H5Sclose);
  const H5T_class_t kind = H5Tget_class(type);
  if (!has_values(scale) || (kind != H5T_FLOAT && kind != H5T_INTEGER) ||
      H5Sget_simple_extent_npoints(space) != hssize_t(extent) || extent > kMostCoordinates)
    return axis;
  axis.values.resize(size_t(extent));
  if (H5Dread(scale, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, axis.values.data()) < 0)
    axis.values.clear();
  return axis;
}

struct Found {
  report::Axis axis;
  u64 extent;
};

// Called by HDF5, through which nothing may be thrown. The first scale is the one that counts.
herr_t take_scale(hid_t, unsigned, hid_t scale, void* to) {
  try {
    Found& found = *static_cast<Found*>(to);
    found.axis = axis_of(scale, found.extent);
    return 1;
  } catch (const std::exception&) {
    return -1;
  }
}

}  // namespace

std::vector<report::Axis> axes_of(const Variable& variable) {
  std::vector<report::Axis> axes;
  for (size_t k = 0; k < variable.shape().rank(); ++k) {
    Found found{{}, variable.shape()[k]};
    if (H5DSget_num_scales(variable.id(), unsigned(k)) > 0)
      H5DSiterate_scales(variable.id(), unsigned(k), nullptr, take_scale, &found);
    axes.push_back(std::move(found.axis));
  }
  return axes;
}

}  // namespace leeway::cli::h5
