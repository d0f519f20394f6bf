#!/usr/bin/env bash
# Tries another processor under qemu. Debian 12, as root or with sudo.
#
#   scripts/cross.sh aarch64 [TYPES]   builds for it (TYPES: some, the default, or all), compares the golden streams that
#                                      the encoders of both processors write, byte for byte, and runs the unit tests
#   scripts/cross.sh s390x             big-endian, for which the library does not compile: the single-header decoder and the
#                                      reference decoder read the golden streams there
#
# FILTER='Golden*:Targets*' chooses among the unit tests; all of them take an hour in the emulator.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/private_apt.sh
cpu=${1:-aarch64}
types=${2:-some}
case $cpu in
  aarch64)
    debian=arm64
    tools=(g++-aarch64-linux-gnu qemu-user-static)
    libraries=(libc6-dev libstdc++6 libzstd-dev libdeflate-dev liblz4-dev libxxhash-dev libhwy-dev libgtest-dev)
    ;;
  s390x)
    debian=s390x
    tools=(qemu-user-static gcc-s390x-linux-gnu libc6-dev-s390x-cross)
    libraries=(python3-minimal python3-numpy python3-xxhash python3-zstandard)
    ;;
  *)
    echo "cross.sh: the processor is aarch64 or s390x, not $cpu" >&2
    exit 2
    ;;
esac
build=$PWD/build-$cpu
root=$build/root
here=$root/usr/lib/$cpu-linux-gnu
step() { echo "== $* ($(date +%T))"; }
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Quiet unless it fails.
run() { "$@" >"$log" 2>&1 || { cat "$log"; exit 1; }; }
emulate() { "qemu-$cpu-static" -E "LD_LIBRARY_PATH=$here:$here/blas:$here/lapack" -L "$root" "$@"; }

step "compiler, emulator"
scripts/setup.sh build "${tools[@]}"

# Libraries of the other processor, in a folder of their own.
[ -e "$root/complete" ] || step "libraries for $cpu"
run debian_root "$build" "$debian" "$(. /etc/os-release && echo "$VERSION_CODENAME")" "${libraries[@]}"

if [ "$cpu" = s390x ]; then
  step "golden streams read by the single-header decoder"
  s390x-linux-gnu-gcc -std=gnu99 -O2 -static tests/decoder/driver.c -o "$build/driver"
  qemu-s390x-static "$build/driver" compare tests/golden/*.lwy >"$log" || true  # its status is that of the worst stream
  if grep -vE ' (same|unsupported: .*)$' "$log"; then
    exit 1
  fi
  echo "$(grep -c ' same$' "$log") streams have the right values, $(grep -c ' unsupported: ' "$log") are for other decoders"

  step "golden streams read by the reference decoder"
  export PYTHONHOME=$root/usr PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=tests
  emulate "$root/usr/bin/python3.11" - <<'END'
import pathlib, sys
import reference_decoder
paths = sorted(pathlib.Path("tests/golden").glob("*.lwy"))
wrong = [p.name for p in paths if reference_decoder.decode(p.read_bytes())[1] != p.with_suffix(".raw").read_bytes()]
print(f"{sys.byteorder}-endian: {len(paths) - len(wrong)} of {len(paths)} streams have the right values")
sys.exit(", ".join(wrong) or 0)
END
  exit
fi

cat >"$build/toolchain.cmake" <<END
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR $cpu)
set(CMAKE_C_COMPILER $cpu-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER $cpu-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE $cpu-linux-gnu)
set(CMAKE_SYSROOT $root)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-$cpu-static -L $root)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} $root)
set(ENV{PKG_CONFIG_LIBDIR} $root/usr/lib/$cpu-linux-gnu/pkgconfig:$root/usr/share/pkgconfig)
END

step "build for $cpu"
there=$build/$types
# Little is optimized: the compiler would take longer than the tests would gain.
run cmake -G Ninja -S . -B "$there" -DCMAKE_TOOLCHAIN_FILE="$build/toolchain.cmake" -DCMAKE_BUILD_TYPE=None \
  -DCMAKE_CXX_FLAGS=-O1 -DLEEWAY_WERROR=ON -DLEEWAY_TYPES="$types" -DLEEWAY_SHARED=OFF -DLEEWAY_TOOLS=OFF -DLEEWAY_HDF5=OFF
run cmake --build "$there" --target leeway_make_golden

step "golden streams made on both processors"
run cmake --preset release
run cmake --build build --target leeway_make_golden
rm -rf "$there/golden" "$there/golden-here"
mkdir "$there/golden" "$there/golden-here"
build/leeway_make_golden "$there/golden-here"
emulate "$there/leeway_make_golden" "$there/golden"
# A build with some types makes no streams of the others.
left_out=none
[ "$types" = all ] || left_out='golden-here: v1_[0-9]+_(f16|i8|i64|u8|u16|u32)_'
if diff -rq "$there/golden" "$there/golden-here" | grep -vE "$left_out"; then
  exit 1
fi
made=$(find "$there/golden" -type f | wc -l)
echo "$made files, streams and decoded values, are the same byte for byte"

step "unit tests under qemu"
run cmake --build "$there" --target leeway_tests
emulate "$there/leeway_tests" --gtest_brief=1 --gtest_filter="${FILTER:-*}"
