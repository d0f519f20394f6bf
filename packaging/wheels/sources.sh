#!/usr/bin/env bash
# sources.sh FOLDER: fetches into FOLDER the sources of the libraries that the wheels contain, one folder each. They are
# Debian's source packages, which apt checks against the signatures of the archive.
set -euo pipefail
folder=$1
cd "$(dirname "$0")/../.."
. scripts/private_apt.sh
[ ! -e "$folder/complete" ] || exit 0

# What writes streams has the versions of Debian 12, so that a wheel writes the bytes that a build from source writes.
# HDF5 1.10 cannot be built for another processor; the one of Debian 13 can.
libraries=(libzstd/bookworm lz4/bookworm xxhash/bookworm libdeflate/bookworm highway/bookworm cli11/bookworm
           fmtlib/bookworm nlohmann-json3/bookworm zlib/trixie hdf5/trixie netcdf/bookworm)
rm -rf "$folder"
mkdir -p "$folder/apt"
folder=$(realpath "$folder")
debian_sources deb-src bookworm trixie >"$folder/apt/sources.list"
cd "$folder"
private_apt "$folder/apt" update
private_apt "$folder/apt" source "${libraries[@]}"
for library in "${libraries[@]}"; do  # no version in the names of folders
  mv "${library%/*}"-[0-9]*/ "${library%/*}"
done
touch complete
