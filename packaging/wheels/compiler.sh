#!/usr/bin/env bash
# compiler.sh CPU FOLDER: makes FOLDER/bin (a compiler for CPU: clang, with the headers and symbols of glibc 2.17, which
# every Linux since 2014 has) and FOLDER/toolchain.cmake, which looks for libraries in FOLDER/prefix alone.
set -euo pipefail
cpu=$1
mkdir -p "$2/bin"
folder=$(realpath "$2")
cd "$(dirname "$0")/../.."
version=0.17.0
zig=$PWD/build-wheels/zig-$version
if [ ! -e "$zig/complete" ]; then
  python3 -m pip install --quiet --disable-pip-version-check --target "$zig" "ziglang==$version"
  touch "$zig/complete"
fi

wrap() {  # a command of its own; written once, so that the compiler cache keeps what it knows
  local text="#!/bin/sh
export ZIG_GLOBAL_CACHE_DIR='$zig/cache' ZIG_LOCAL_CACHE_DIR='$zig/cache'
exec '$zig/ziglang/zig' $2 \"\$@\""
  [ "$(cat "$folder/bin/$1" 2>/dev/null)" = "$text" ] || echo "$text" >"$folder/bin/$1"
  chmod +x "$folder/bin/$1"
}
wrap clang "cc -g0 -target $cpu-linux-gnu.2.17"
wrap clang++ "c++ -g0 -target $cpu-linux-gnu.2.17"
wrap ar ar
wrap ranlib ranlib

cat >"$folder/toolchain.cmake" <<END
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR $cpu)
set(CMAKE_C_COMPILER $folder/bin/clang)
set(CMAKE_CXX_COMPILER $folder/bin/clang++)
set(CMAKE_AR $folder/bin/ar)
set(CMAKE_RANLIB $folder/bin/ranlib)
set(CMAKE_FIND_ROOT_PATH $folder/prefix)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
# No symbols for debuggers in what is linked.
set(CMAKE_EXE_LINKER_FLAGS_INIT -s)
set(CMAKE_MODULE_LINKER_FLAGS_INIT -s)
set(PKG_CONFIG_ARGN --static)
set(ENV{PKG_CONFIG_LIBDIR} $folder/prefix/lib/pkgconfig:$folder/prefix/share/pkgconfig)
END
