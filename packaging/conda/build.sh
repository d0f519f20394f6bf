#!/usr/bin/env bash
# conda's HDF5 looks for plugins in $PREFIX/lib/hdf5/plugin.
set -euo pipefail
cmake -G Ninja -B build-conda $CMAKE_ARGS -DLEEWAY_TESTS=OFF -DLEEWAY_HDF5_PLUGIN_DIR=lib/hdf5/plugin
cmake --build build-conda
cmake --install build-conda
