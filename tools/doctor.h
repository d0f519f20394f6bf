// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tools/cli.h"

namespace leeway::cli {

// The HDF5 libraries of this machine: {"library", "plugin_path", "plugin_folder", "found",
// "libraries": [{"path", "version", "filter"}]}, where filter is "ok" if the plugin loads there.
// `found`: some library loads it, or there is none that could.
Json examine_hdf5();

// The MPIs that the tests of leeway run with.
inline constexpr const char* kTriedMpis =
    "Open MPI 4.1 (its own files and ROMIO), MPICH 4.0, mpi4py 4.1";
// {"tried_with", "found": [{"launcher", "version"}]}: the MPIs whose launchers are in the path.
Json examine_mpi();

}  // namespace leeway::cli
