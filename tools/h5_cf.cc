// SPDX-License-Identifier: BSD-3-Clause
#include "tools/h5_cf.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

namespace leeway::cli::h5 {
namespace {

// Attributes whose values are names of other variables.
bool names_variables(std::string_view attribute) {
  constexpr std::array kKnown = {"coordinates",     "bounds",           "climatology",
                                 "formula_terms",   "grid_mapping",     "ancillary_variables",
                                 "cell_measures",   "node_coordinates", "node_count",
                                 "part_node_count", "interior_ring",    "geometry"};
  return std::ranges::find(kKnown, attribute) != kKnown.end() ||
         attribute.ends_with("_coordinates") || attribute.ends_with("_connectivity");
}

std::map<std::string, std::string> attributes_of(hid_t object) {
  std::map<std::string, std::string> attributes;
  // Called by HDF5, through which nothing may be thrown.
  const auto add = [](hid_t owner, const char* name, const H5A_info_t*, void* to) -> herr_t {
    try {
      (*static_cast<std::map<std::string, std::string>*>(to))[name] = text_of(owner, name);
      return 0;
    } catch (const std::exception&) {
      return -1;
    }
  };
  checked(H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, add, &attributes),
          "cannot list attributes");
  return attributes;
}

// The reason why a variable, by its own attributes, describes others; "" if it does not.
std::string own_reason(const std::map<std::string, std::string>& attributes) {
  for (const char* mark : {"axis", "flag_values", "flag_masks", "flag_meanings", "cf_role",
                           "_CoordinateAxisType", "formula_terms", "bounds", "climatology"})
    if (attributes.contains(mark)) return std::string("it has the attribute '") + mark + "'";
  const auto said = [&](const char* name) {
    const auto found = attributes.find(name);
    return found == attributes.end() ? std::string() : found->second;
  };
  const std::string units = said("units"), standard_name = said("standard_name");
  constexpr std::array kDegrees = {"degrees_north", "degree_north", "degree_N",     "degrees_N",
                                   "degreeN",       "degreesN",     "degrees_east", "degree_east",
                                   "degree_E",      "degrees_E",    "degreeE",      "degreesE"};
  if (std::ranges::find(kDegrees, units) != kDegrees.end() || units.find(" since ") != units.npos)
    return "its unit is '" + units + "'";
  constexpr std::array kCoordinates = {"latitude",
                                       "longitude",
                                       "time",
                                       "grid_latitude",
                                       "grid_longitude",
                                       "projection_x_coordinate",
                                       "projection_y_coordinate"};
  if (std::ranges::find(kCoordinates, standard_name) != kCoordinates.end())
    return "its standard name is '" + standard_name + "'";
  return "";
}

struct Object {
  std::string path;  // "ocean/s"; "" for the root
  bool is_dataset = false, is_scale = false;
  std::map<std::string, std::string> attributes;
};

std::vector<Object> objects_of(const File& file) {
  struct Found {
    std::vector<Object> objects;
    std::exception_ptr failure;
  } found;
  const auto visit = [](hid_t root, const char* name, const H5O_info_t* info, void* to) -> herr_t {
    Found& result = *static_cast<Found*>(to);
    if (info->type != H5O_TYPE_DATASET && info->type != H5O_TYPE_GROUP) return 0;
    try {
      const Handle object(checked(H5Oopen(root, name, H5P_DEFAULT), "cannot open an object"),
                          H5Oclose);
      const bool is_dataset = info->type == H5O_TYPE_DATASET;
      result.objects.push_back({std::string_view(name) == "." ? "" : name, is_dataset,
                                is_dataset && is_dimension_scale(object), attributes_of(object)});
      return 0;
    } catch (...) {
      result.failure = std::current_exception();
      return -1;
    }
  };
  const herr_t status = H5Ovisit(file.id(), H5_INDEX_NAME, H5_ITER_NATIVE, visit, &found);
  if (found.failure) std::rethrow_exception(found.failure);
  checked(status, "cannot list the file");
  return found.objects;
}

// The variable that `name` means in an object of the file: the nearest one on the way to the root.
std::optional<std::string> resolved(const std::string& name, const Object& from,
                                    const std::map<std::string, const Object*>& datasets) {
  if (name.starts_with('/'))
    return datasets.contains(name.substr(1)) ? std::optional(name.substr(1)) : std::nullopt;
  std::string group = from.path;
  if (from.is_dataset)
    group = group.substr(0, group.rfind('/') == group.npos ? 0 : group.rfind('/'));
  for (;;) {
    const std::string path = group.empty() ? name : group + "/" + name;
    if (datasets.contains(path)) return path;
    if (group.empty()) return std::nullopt;
    group = group.substr(0, group.rfind('/') == group.npos ? 0 : group.rfind('/'));
  }
}

}  // namespace

std::map<std::string, std::string> descriptions(const File& file) {
  const std::vector<Object> objects = objects_of(file);
  std::map<std::string, const Object*> datasets;
  for (const Object& object : objects)
    if (object.is_dataset) datasets[object.path] = &object;
  std::map<std::string, std::string> reasons;
  for (const auto& [path, object] : datasets) {
    if (object->is_scale)
      reasons[path] = "it is the coordinate of a dimension";
    else if (const std::string reason = own_reason(object->attributes); !reason.empty())
      reasons[path] = reason;
  }
  for (const Object& object : objects)
    for (const auto& [attribute, text] : object.attributes) {
      if (!names_variables(attribute)) continue;
      std::istringstream words(text);
      for (std::string word; words >> word;) {
        // "area: cell_area" and "sigma: s ps: p" say what a variable is for; "crs: x y" names it.
        if (word.ends_with(':') && attribute != "grid_mapping") continue;
        if (word.ends_with(':')) word.pop_back();
        if (const auto path = resolved(word, object, datasets))
          reasons.try_emplace(*path, "'" + attribute + "' of " +
                                         (object.path.empty() ? "the file" : object.path) +
                                         " names it");
      }
    }
  return reasons;
}

}  // namespace leeway::cli::h5
