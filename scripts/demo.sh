#!/usr/bin/env bash
# From nothing to a verified stream: installs what is missing, builds, makes a field, and shows the main job.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/build.sh tool
leeway=$PWD/build/leeway
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
show() {
  echo
  echo "\$ leeway $*"
  "$leeway" "$@"
}
show sample turbulence --shape 128x128x128
show compress turbulence_128x128x128.f32 --rel 1e-3 -o turbulence.lwy
show inspect turbulence.lwy
show verify turbulence.lwy --against turbulence_128x128x128.f32
show decompress turbulence.lwy -o back.npy
show decompress turbulence.lwy --region 0:2,64,: -o slice.npy
show compare turbulence_128x128x128.f32 back.npy
show sample climate --shape 360x720
show compress climate_360x720.f32 --abs 0.01
show bench turbulence_128x128x128.f32 --rel 1e-3 --recipes balanced,sz1.4,lossless --threads 1
