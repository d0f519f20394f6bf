#!/usr/bin/env bash
# Debian packages of the library, its headers, the tool and the HDF5 plugin, in build-deb/.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh build
log=$(mktemp)
trap 'rm -f "$log"' EXIT
rm -f build-deb/*.deb
{ cmake --preset debian && cmake --build build-deb && cpack --config build-deb/CPackConfig.cmake -B build-deb; } >"$log" 2>&1 \
  || { cat "$log"; exit 1; }
rm -rf build-deb/_CPack_Packages
ls build-deb/*.deb
