#!/usr/bin/env bash
# Installs what building and testing need; what is there is left alone. Debian 12, as root or with sudo.
#
#   scripts/setup.sh          everything
#   scripts/setup.sh build [PACKAGE ...]    only what scripts/build.sh needs, and these
#   scripts/setup.sh peers    everything, and the other compressors that bench/peers.py compares with
set -euo pipefail
cd "$(dirname "$0")/.."

build_packages=(g++ cmake ninja-build pkg-config libzstd-dev libdeflate-dev liblz4-dev libxxhash-dev libhwy-dev libcli11-dev libfmt-dev
                nlohmann-json3-dev libtomlplusplus-dev libgtest-dev libbenchmark-dev libhdf5-dev libnetcdf-dev gfortran ccache)
test_packages=(clang libclang-rt-14-dev python3 python3-venv git hdf5-tools netcdf-bin libhdf5-openmpi-dev libnetcdf-mpi-dev openmpi-bin
               libopenmpi-dev mpich libmpich-dev dpkg-dev file nco lld wasi-libc libclang-rt-14-dev-wasm32 chromium verilator)

packages=("${build_packages[@]}" "${@:2}")
[ "${1:-all}" = build ] || packages+=("${test_packages[@]}")

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
# A compiler, CMake or Python that did not come from a package will do as well.
for program in g++ cmake clang python3 git; do
  command -v "$program" >/dev/null && missing=("${missing[@]/#%$program/}")
done
read -ra missing <<<"${missing[*]:-}" || true

if [ "${#missing[@]}" -gt 0 ]; then
  echo "installing: ${missing[*]}"
  sudo=()
  [ "$(id -u)" = 0 ] || sudo=(sudo)
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

if [ "${1:-all}" != build ]; then
  # The Python packages of the tests live in environments of their own: one of today, one with Zarr 2.
  modules=(numpy pytest xdist xxhash zstandard ml_dtypes h5py h5netcdf netCDF4 numcodecs zarr xarray dask distributed kerchunk virtualizarr mypy mpi4py adios2
           scikit_build_core nanobind jinja2 yaml scipy)
  if ! .venv/bin/python -c "import $(IFS=,; echo "${modules[*]}")" 2>/dev/null; then
    echo "installing Python packages into .venv"
    python3 -m venv .venv
    .venv/bin/pip install --quiet --disable-pip-version-check numpy pytest pytest-xdist xxhash zstandard ml_dtypes h5py \
      h5netcdf netCDF4 numcodecs zarr xarray dask distributed kerchunk virtualizarr mypy mpi4py adios2 scikit-build-core nanobind jinja2 pyyaml scipy
  fi
  # For reading what nvcc makes, where there is one.
  if [ -n "$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc)" ] && ! .venv/bin/pip show --quiet nvidia-cuda-nvdisasm 2>/dev/null; then
    .venv/bin/pip install --quiet --disable-pip-version-check nvidia-cuda-nvdisasm
  fi
  if ! .venv-zarr2/bin/python -c 'import numpy, zarr' 2>/dev/null; then
    python3 -m venv .venv-zarr2
    .venv-zarr2/bin/pip install --quiet --disable-pip-version-check numpy 'zarr<3' 'numcodecs<0.16'
  fi
  peers=(eccodes hdf5plugin lerc matplotlib numcodecs_wasm_ebcc omfiles pcodec pysz scipy zfpy)
  if [ "${1:-all}" = peers ] && ! .venv/bin/python -c "import $(IFS=,; echo "${peers[*]}")" 2>/dev/null; then
    echo "installing the other compressors into .venv"
    .venv/bin/pip install --quiet --disable-pip-version-check pysz zfpy hdf5plugin numcodecs-wasm-ebcc eccodes lerc pcodec omfiles \
      scipy matplotlib
  fi
fi
