// SPDX-License-Identifier: BSD-3-Clause
// The verb `doctor`: what this build is, what this machine offers, and whether the promises hold
// here.
#include <hwy/targets.h>
#include <zstd.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "leeway/quality/compare.h"
#include "leeway/recipe/recipe.h"
#include "tools/doctor.h"
#include "tools/gpu.h"

namespace leeway::cli {
namespace {

// A wave with everything that hurts: NaN, infinities, a fill value, denormals, a step.
std::vector<float> hostile_wave(const Shape& shape) {
  std::vector<float> values(size_t(shape.size()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(float(i) * 0.01f) + (i % 100 < 50 ? 0.0f : 3.0f);
  const float specials[] = {std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity(), 1e-42f, 1e20f};
  for (size_t i = 0; i < values.size(); i += 97) values[i] = specials[i / 97 % 5];
  return values;
}

// Empty if all is well.
std::string trial(const std::string& recipe) {
  const Shape shape{20, 30, 40};
  const std::vector<float> values = hostile_wave(shape);
  CompressOptions options;
  options.recipe = recipe;
  options.bound = Bound::rel(1e-3);
  try {
    const Bytes one = compress(values.data(), shape, options);
    options.execution.threads = 3;
    if (compress(values.data(), shape, options) != one)
      return "bytes depend on the number of threads";
    const Array decoded = decompress(one);
    const Info info = inspect(one);
    const Comparison c = compare(view_of(values.data(), shape),
                                 View(decoded.data(), DType::f32, shape), info.header.fills, false);
    if (c.max_abs > info.header.abs_bound) return "the bound is broken";
    if (c.special_mismatches > 0) return "special values are lost";
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

std::string remedy(const Json& hdf5) {
  const auto folder = hdf5["plugin_folder"].get<std::string>();
  return folder.empty() ? "put the folder of libh5zleeway.so into HDF5_PLUGIN_PATH"
                        : "export HDF5_PLUGIN_PATH=" + folder;
}

std::string verdict(bool healthy, const Json& hdf5) {
  if (!healthy) return "something is wrong: please report the lines above";
  if (!hdf5["found"].get<bool>())
    return "this tool and the Python package work, but none of the HDF5 libraries above finds the "
           "plugin: programs that use them (h5dump, ncdump) cannot read compressed variables; " +
           remedy(hdf5);
  const auto is_missing = [](const Json& library) { return library["filter"] != "ok"; };
  if (std::ranges::any_of(hdf5["libraries"], is_missing))
    return "healthy, but some HDF5 libraries do not find the plugin: " + remedy(hdf5);
  return "healthy";
}

// One line if all is well; otherwise one for each recipe that is not.
void report_recipes(Report& report, const Json& recipes) {
  size_t fine = 0;
  for (const auto& [name, complaint] : recipes.items())
    if (complaint == "ok")
      ++fine;
    else
      report.add("recipe " + name, complaint);
  report.add("recipes", fmt::format("{} of {} ok", fine, recipes.size()));
}

}  // namespace

void add_doctor(CLI::App& verb) {
  const auto json = std::make_shared<bool>(false);
  verb.add_flag("--json", *json, "report as JSON");
  verb.callback([json] {
    std::string targets;
    for (int64_t bits = hwy::SupportedTargets() & HWY_TARGETS; bits != 0; bits &= bits - 1)
      targets += (targets.empty() ? "" : " ") + std::string(hwy::TargetName(bits & -bits));
    Json result;
    result["version"] = version();
    result["format_version"] = kFormatVersion;
    result["compiler"] = __VERSION__;
    result["simd_targets"] = targets;
    result["cores"] = available_cores();
    result["zstd"] = ZSTD_versionString();
    bool healthy = true;
    for (const NamedRecipe& named : named_recipes()) {
      const std::string complaint = trial(std::string(named.name));
      healthy &= complaint.empty();
      result["recipes"][std::string(named.name)] = complaint.empty() ? "ok" : complaint;
    }
    bool gpu_is_healthy = true;
    result["gpu"] = examine_gpu(gpu_is_healthy);
    healthy &= gpu_is_healthy;
    result["hdf5"] = examine_hdf5();
    result["mpi"] = examine_mpi();
    const bool found = result["hdf5"]["found"].get<bool>();
    result["healthy"] = healthy && found;
    if (*json) {
      print(result);
    } else {
      Report report;
      report.add("leeway", fmt::format("{}, format version {}", version(), kFormatVersion));
      report.add("compiler", __VERSION__);
      report.add("SIMD targets", targets);
      report.add("cores", std::to_string(available_cores()));
      report.add("zstd", ZSTD_versionString());
      report_recipes(report, result["recipes"]);
      report.add("GPU", result["gpu"].value("name", std::string()) +
                            (result["gpu"].contains("name") ? ": " : "") +
                            result["gpu"]["device"].get<std::string>());
      report.add("emulated GPU", result["gpu"]["emulator"].get<std::string>());
      const Json& hdf5 = result["hdf5"];
      report.add("HDF5 of this tool", hdf5["library"].get<std::string>());
      report.add("HDF5 plugin path", hdf5["plugin_path"].get<std::string>());
      for (const Json& library : hdf5["libraries"]) {
        const std::string filter = library["filter"].get<std::string>();
        report.add("filter in " + library["path"].get<std::string>(),
                   library["version"].get<std::string>() + " " + filter);
      }
      report.add("MPI, tried with", kTriedMpis);
      for (const Json& mpi : result["mpi"]["found"])
        report.add("MPI of " + mpi["launcher"].get<std::string>(),
                   mpi["version"].get<std::string>());
      report.add("verdict", verdict(healthy, hdf5));
      report.print();
    }
    if (!healthy || !found) throw Ended{kFailed};
  });
}

}  // namespace leeway::cli
