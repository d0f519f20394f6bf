#!/usr/bin/env bash
# Builds Python wheels.
#
#   scripts/wheel.sh          for this machine, with its libraries: build/wheel/leeway-*.whl, installed into the environments
#                             of the tests
#   scripts/wheel.sh --release [--test] [x86_64] [aarch64]
#                             for any Linux, with everything inside: build-wheels/dist/leeway-*-manylinux*.whl. --test tries
#                             them in bare roots, aarch64 under qemu (Debian 12, as root). See packaging/README.md.
#
# JOBS=N limits the compilers that run at once.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "${1:-}" = --release ]; then
  shift
  test=false
  if [ "${1:-}" = --test ]; then
    test=true
    shift
  fi
  [ $# -gt 0 ] || set -- x86_64 aarch64
  for cpu in "$@"; do
    [[ $cpu =~ ^(x86_64|aarch64)$ ]] || { echo "wheel.sh: the processor is x86_64 or aarch64, not $cpu" >&2; exit 2; }
  done
  scripts/setup.sh build dpkg-dev
  packaging/wheels/release.sh "$@"
  if $test; then packaging/wheels/test.sh "$@"; fi
  exit
fi
[ $# = 0 ] || { echo "wheel.sh: there is no option $1; --release comes first" >&2; exit 2; }

rm -rf build/wheel
# With the options of scripts/build.sh, so that the compiler cache has the library already.
.venv/bin/pip wheel --config-settings=cmake.define.LEEWAY_WERROR=ON --quiet --disable-pip-version-check --no-build-isolation --no-deps -w build/wheel .
for environment in .venv .venv-zarr2; do
  "$environment/bin/pip" install --quiet --disable-pip-version-check --no-deps --force-reinstall build/wheel/leeway-*.whl
done
