// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tools/cli.h"

namespace leeway::cli {

// The HDF5 libraries of this machine: {"library", "filter_id", "plugin_path", "libraries":
// [{"path", "version", "filter"}]}, where filter is "ok" if the plugin loads there.
Json examine_hdf5();

}  // namespace leeway::cli
