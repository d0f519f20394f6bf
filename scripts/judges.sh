#!/usr/bin/env bash
# Runs test suites that others wrote, with leeway as their codec, and an oracle that checks bounds with arithmetic of its own.
# Tests that must end differently are listed in tests/judges/*.toml, with reasons. Needs the network the first time.
#
#   scripts/judges.sh                 all of them, about 15 minutes on 2 cores
#   scripts/judges.sh zarr xarray     some of them
#   scripts/judges.sh --short [...]   a selection of each, about a minute and a half
#
# The wheel is the one that scripts/wheel.sh has built last.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
judges=$root/tests/judges
environment=$root/.venv-judges
python=$environment/bin/python

suites=(numcodecs hdf5plugin safeguards h5py h5netcdf dask xarray zarr)
short=
[ "${1:-}" = --short ] && short=yes && shift
[ $# -gt 0 ] && suites=("$@")

version_of() { sed -n "s/^$1==//p" "$judges/requirements.txt"; }

install() {
  if ! cmp -s "$judges/requirements.txt" "$environment/installed.txt"; then
    echo "installing the judges into $(basename "$environment")"
    rm -rf "$environment"
    python3 -m venv "$environment"
    "$python" -m pip install --quiet --no-compile --disable-pip-version-check -r "$judges/requirements.txt"
    # The tests of these two are only in their source packages.
    for package in zarr xarray; do
      "$python" -m pip download --quiet --disable-pip-version-check --no-deps --no-binary "$package" -d "$environment/sources" \
        "$package==$(version_of $package)"
      tar -xzf "$environment/sources/$package-$(version_of $package).tar.gz" -C "$environment/sources"
    done
    cp "$judges/requirements.txt" "$environment/installed.txt"
  fi
  [ -n "$(ls build/wheel/leeway-*.whl 2>/dev/null)" ] || scripts/wheel.sh
  "$python" -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall build/wheel/leeway-*.whl
}

# Runs pytest in a folder, with our plugins; the output is shown if it fails.
judge() {  # folder, arguments of pytest
  local log
  log=$(mktemp)
  if ! (cd "$1" && PYTHONPATH=$judges "$python" -m pytest -q -n 2 --timeout 300 -p no:cacheprovider -p differences \
          --benchmark-disable "${@:2}") >"$log" 2>&1; then
    cat "$log"
    rm "$log"
    return 1
  fi
  sed -n 's/^leeway: //p' "$log"
  rm "$log"
}

packages() { "$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'; }
ours() { judge "$judges" -c /dev/null --rootdir "$judges" -W ignore "$@"; }
theirs() { judge "$(packages)" -c /dev/null --rootdir "$(packages)" -W ignore "$@"; }

numcodecs() { ours judge_numcodecs.py ${short:+-k "zstd or quantize or F or not test_encode_decode"}; }

hdf5plugin() { ours judge_hdf5plugin.py; }

safeguards() { ours judge_safeguards.py ${short:+-k "special or rain or magnitudes or fill"}; }

# Left out: what wants to be another user than root, or MPI; and what brings HDF5 down with any filter, gzip too, as it makes
# a file that cannot be written.
h5py() {
  local tests=(h5py/tests)
  [ -z "$short" ] || tests=(h5py/tests/test_dataset.py h5py/tests/test_slicing.py h5py/tests/test_big_endian_file.py)
  theirs -p h5py_default --differences="$judges/h5py.toml" "${tests[@]}" --deselect h5py/tests/test_file.py::TestMPI \
    --deselect h5py/tests/test_file.py::TestFileOpen::test_append_permissions \
    --deselect h5py/tests/test_file2.py::TestFileObj::test_exception_write
}

h5netcdf() { theirs -p h5py_default --differences="$judges/h5netcdf.toml" h5netcdf/tests ${short:+-k "roundtrip_local"}; }

# Left out: a test that fails without leeway, too.
dask() {
  local ours="zarr or hdf5 or h5py"
  [ -z "$short" ] || ours="hdf5 or asarray_h5py or roundtrip or zarr_regions or irregular"
  theirs -p h5py_default -p zarr_default --differences="$judges/dask.toml" dask/array/tests/test_array_core.py -k "($ours) and not risky_shards"
}

xarray() {
  local backends=xarray/tests/test_backends.py
  local tests=($backends xarray/tests/test_backends_datatree.py xarray/tests/test_distributed.py)
  local ours="H5NetCDF or h5netcdf or Zarr or zarr"
  if [ -n "$short" ]; then
    tests=($backends::TestH5NetCDFData $backends::TestZarrDirectoryStore)
    ours="mask_and_scale or unsigned or grid_mapping or coordinate_variables or explicitly or chunk_encoding or shard or fill_value_setting
          or float64 or test_append or write_region"
  fi
  judge "$environment/sources/xarray-$(version_of xarray)" -o addopts= -p xarray_encoding -p zarr_default \
    --differences="$judges/xarray.toml" "${tests[@]}" -k "${ours//$'\n'/ }"
}

# Left out: documentation, and what compares with other versions of Zarr.
zarr() {
  local tests=(tests --ignore tests/benchmarks --ignore tests/test_docs.py --ignore tests/test_examples.py
               --ignore tests/test_regression --ignore tests/test_api/test_synchronous.py)
  [ -z "$short" ] || tests=(tests/test_indexing.py tests/test_array.py::test_serializable_sync_array tests/test_codecs/test_numcodecs.py
                            tests/test_codecs/test_sharding.py tests/test_v2.py --hypothesis-seed 0
                            -k "not ((test_sharding and not memory) or docstring or pickleable or codec_class or iter_ or selection_3d)")
  judge "$environment/sources/zarr-$(version_of zarr)" -p zarr_default --differences="$judges/zarr.toml" "${tests[@]}"
}

for suite in "${suites[@]}"; do
  declare -F "$suite" >/dev/null || { echo "judges: there is no judge $suite; there are numcodecs, hdf5plugin, safeguards, h5py, h5netcdf, dask, xarray, zarr" >&2; exit 2; }
done
install
failed=()
for suite in "${suites[@]}"; do
  started=$SECONDS
  if said=$("$suite"); then
    echo "$suite: $said ($((SECONDS - started)) s)"
  else
    echo "$said"
    failed+=("$suite")
  fi
done
[ ${#failed[@]} = 0 ] || { echo "judges: failed: ${failed[*]}" >&2; exit 1; }
