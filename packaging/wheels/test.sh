#!/usr/bin/env bash
# test.sh CPU ...: tries the wheels in build-wheels/dist where nothing is installed but Python: roots made of a few Debian
# packages, of releases with an older and a newer glibc. Wheels of another processor run under qemu. As root.
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/private_apt.sh
build=$PWD/build-wheels
step() { echo "== $* ($(date +%T))"; }

uv=$build/environments/uv
if [ ! -e "$uv/complete" ]; then
  python3 -m venv "$uv"
  "$uv/bin/pip" install --quiet --disable-pip-version-check uv
  touch "$uv/complete"
fi

# What the tests import, as wheels for this processor and Python, and what `pip install .` builds with.
wheelhouse() {  # folder, processor, version of Python, modules
  local folder=$1 platform
  [ ! -e "$folder/complete" ] || return 0
  mkdir -p "$folder"
  printf '%s\n' "${@:4}" | "$uv/bin/uv" pip compile --quiet --no-header --no-annotate --only-binary :all: \
    --python-version "$3" --python-platform "$2-manylinux_2_28" - >"$folder/requirements.txt"
  local platforms=()
  for platform in manylinux_2_{28,27,26,24,17,12,5} manylinux2014 manylinux2010 manylinux1; do
    platforms+=(--platform "${platform}_$2")
  done
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: "${platforms[@]}" \
    --python-version "$3" --implementation cp --abi "cp${3/./}" --abi abi3 --abi none -d "$folder" -r "$folder/requirements.txt"
  touch "$folder/complete"
}

try_in_root() {  # processor, release, version of Python
  local cpu=$1 release=$2 python=$3 folder=$build/roots/$2-$1 debian=amd64
  [ "$cpu" = x86_64 ] || debian=arm64
  step "$release, $cpu, Python $python: root, packages"
  debian_root "$folder" $debian "$release" base-files bash coreutils grep libc-bin python3-venv
  local root=$folder/root modules=(numpy h5py netCDF4 h5netcdf xarray pytest scikit-build-core nanobind pathspec)
  [ "$python" = 3.9 ] || modules+=(zarr)  # none that can be installed without a compiler
  wheelhouse "$folder/wheelhouse" "$cpu" "$python" "${modules[@]}"
  rm -rf "$root/leeway"
  mkdir -p "$root/leeway/wheels" "$root/dev" "$root/tmp"
  [ -e "$root/dev/null" ] || mknod -m 666 "$root/dev/null" c 1 3
  [ -e "$root/dev/urandom" ] || mknod -m 666 "$root/dev/urandom" c 1 9
  git ls-files -z --cached --others --exclude-standard | tar -c --null -T - | tar -x -C "$root/leeway"
  cp "$folder"/wheelhouse/*.whl "$build"/dist/*"_$cpu.whl" "$root/leeway/wheels"

  local enter=(chroot "$root")
  [ "$cpu" = "$(uname -m)" ] || enter=(proot -q "qemu-$cpu-static" -0 -r "$root" -w /)
  step "$release, $cpu: tests"
  "${enter[@]}" /usr/bin/env -i HOME=/tmp PATH=/usr/bin:/bin LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1 \
    "LEEWAY_TESTS=${TESTS:-}" bash /leeway/packaging/wheels/test_in_root.sh
  mv "$root/leeway/digests" "$folder/digests"
}

for cpu in "$@"; do
  [ "$cpu" = "$(uname -m)" ] || scripts/setup.sh build qemu-user-static proot
  case $cpu in
    x86_64) roots=(bullseye:3.9 bookworm:3.11 trixie:3.13) ;;
    *) roots=(bookworm:3.11 trixie:3.13) ;;
  esac
  for root in "${roots[@]}"; do
    try_in_root "$cpu" "${root%:*}" "${root#*:}"
  done
done

step "the same bytes from every wheel, and from a build for this machine"
.venv/bin/python packaging/wheels/digests.py tests/golden >"$build/digests"
for digests in "$build"/roots/*/digests; do
  diff -q "$build/digests" "$digests"
done
echo "$(wc -l <"$build/digests") streams are the same in $(compgen -G "$build/roots/*/digests" | wc -l) roots and here"
