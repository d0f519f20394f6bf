#!/usr/bin/env bash
# Run by test.sh inside a root: installs the wheel with the pip of this Python, and tries it.
set -euo pipefail
cd /leeway
quiet=(--quiet --disable-pip-version-check --no-index --find-links wheels)
python3 -m venv /tmp/venv --clear
export PATH=/tmp/venv/bin:$PATH
pip install "${quiet[@]}" leeway
python -c 'import leeway; print("leeway", leeway.__version__, leeway._native.__file__)'
leeway doctor | tail -n 3

# From the sources, without a compiler: what is missing is said, and nobody tries to install it.
pip install "${quiet[@]}" scikit-build-core nanobind pathspec
mkdir -p /tmp/traps
for program in apt apt-get sudo dpkg; do
  printf '#!/bin/sh\necho "%s $*" >>/tmp/traps/called\n' $program >/tmp/traps/$program
  chmod +x /tmp/traps/$program
done
if PATH=/tmp/traps:$PATH pip install "${quiet[@]}" --no-build-isolation --no-deps --force-reinstall . >/tmp/said 2>&1; then
  echo "a build without a compiler succeeded"
  exit 1
fi
grep -o 'leeway needs pkg-config.*' /tmp/said
[ ! -e /tmp/traps/called ] || { cat /tmp/traps/called; exit 1; }

modules=(pytest h5py netCDF4 h5netcdf xarray)
compgen -G "wheels/zarr-*" >/dev/null && modules+=(zarr)
pip install "${quiet[@]}" "${modules[@]}"
read -ra tests <<<"${LEEWAY_TESTS:-tests/python/test_wheel.py tests/python/test_leeway.py}"
python -m pytest -q -rs -p no:cacheprovider "${tests[@]}"
python packaging/wheels/digests.py tests/golden >digests
