// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tools/cli.h"

namespace leeway::cli {

// The HDF5 libraries of this machine: {"library", "plugin_path", "plugin_folder", "found",
// "libraries": [{"path", "version", "filter"}]}, where filter is "ok" if the plugin loads there.
// `found`: some library loads it, or there is none that could.
Json examine_hdf5();

}  // namespace leeway::cli
