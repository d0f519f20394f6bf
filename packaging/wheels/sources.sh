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
mirror=$(debian_mirror)
for release in bookworm trixie; do
  echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $release main"
done >"$folder/apt/sources.list"
apt=(private_apt "$folder/apt" -qq -o "Dir::Etc::sourcelist=$folder/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null)
cd "$folder"
"${apt[@]}" update
"${apt[@]}" source "${libraries[@]}"
for library in "${libraries[@]}"; do  # no version in the names of folders
  mv "${library%/*}"-[0-9]*/ "${library%/*}"
done
touch complete
