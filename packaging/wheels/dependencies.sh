#!/usr/bin/env bash
# dependencies.sh CPU SOURCES FOLDER: builds the libraries that the wheels contain from SOURCES (see sources.sh) with the
# compiler in FOLDER (see compiler.sh) into FOLDER/prefix. All of them are static.
set -euo pipefail
cpu=$1
sources=$(realpath "$2")
folder=$(realpath "$3")
prefix=$folder/prefix
mkdir -p "$folder/build"
export CC=$folder/bin/clang CXX=$folder/bin/clang++ AR=$folder/bin/ar RANLIB=$folder/bin/ranlib
# No date of the build in the libraries.
export CFLAGS="-O3 -fPIC -Wno-builtin-macro-redefined -D__DATE__= -D__TIME__="
jobs=${JOBS:-$(nproc)}
log=$folder/build/log
trap '[ $? = 0 ] || tail -n 50 "$log"' EXIT

once() {  # name, command: unless it was done before
  [ ! -e "$folder/build/$1.complete" ] || return 0
  echo "-- $1"
  "${@:2}" >"$log" 2>&1
  touch "$folder/build/$1.complete"
}
with_cmake() {  # name, folder of CMakeLists.txt in it, options
  cmake -G Ninja -S "$sources/$1/$2" -B "$folder/build/$1" -DCMAKE_TOOLCHAIN_FILE="$folder/toolchain.cmake" \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib -DBUILD_SHARED_LIBS=OFF \
    -DBUILD_TESTING=OFF "${@:3}"
  cmake --build "$folder/build/$1" -j "$jobs"
  cmake --install "$folder/build/$1"
}
with_make() {  # name, arguments of make; in a copy, because these build beside their sources
  rm -rf "$folder/build/$1"
  cp -a "$sources/$1" "$folder/build/$1"
  cd "$folder/build/$1"
  if [ -e configure ]; then ./configure --prefix="$prefix" "${configure[@]}"; fi
  make -j "$jobs" "${@:2}"
}

# The part of xxhash that chooses by processor, which its CMake files leave out.
xxhash_for_x86() {
  "$CC" -O3 -fPIC -c "$sources/xxhash/xxh_x86dispatch.c" -o "$folder/build/xxh_x86dispatch.o"
  "$AR" r "$prefix/lib/libxxhash.a" "$folder/build/xxh_x86dispatch.o"
  cp "$sources/xxhash/xxh_x86dispatch.h" "$prefix/include"
}

once libzstd with_cmake libzstd build/cmake -DZSTD_BUILD_SHARED=OFF -DZSTD_BUILD_PROGRAMS=OFF
once lz4 with_cmake lz4 build/cmake -DBUILD_STATIC_LIBS=ON -DLZ4_BUILD_CLI=OFF -DLZ4_BUILD_LEGACY_LZ4C=OFF
once xxhash with_cmake xxhash cmake_unofficial -DXXHASH_BUILD_XXHSUM=OFF
[ "$cpu" != x86_64 ] || once xxhash_for_x86 xxhash_for_x86
once highway with_cmake highway . -DHWY_ENABLE_EXAMPLES=OFF -DHWY_ENABLE_TESTS=OFF -DHWY_ENABLE_CONTRIB=OFF -DHWY_ENABLE_INSTALL=ON
once cli11 with_cmake cli11 . -DCLI11_BUILD_TESTS=OFF -DCLI11_BUILD_EXAMPLES=OFF -DCLI11_BUILD_DOCS=OFF -DCLI11_PRECOMPILED=OFF
once fmtlib with_cmake fmtlib . -DFMT_TEST=OFF -DFMT_DOC=OFF
once nlohmann-json3 with_cmake nlohmann-json3 . -DJSON_BuildTests=OFF
once libdeflate with_make libdeflate PREFIX="$prefix" DISABLE_SHARED=y install
configure=(--static)
once zlib with_make zlib install
once hdf5 with_cmake hdf5 . -DHDF5_BUILD_TOOLS=OFF -DHDF5_BUILD_EXAMPLES=OFF -DHDF5_BUILD_UTILS=OFF -DHDF5_BUILD_HL_TOOLS=OFF \
  -DHDF5_BUILD_CPP_LIB=OFF -DHDF5_BUILD_FORTRAN=OFF -DHDF5_ENABLE_Z_LIB_SUPPORT=ON -DHDF5_ENABLE_SZIP_SUPPORT=OFF \
  -DHDF5_BUILD_HL_LIB=ON -DZLIB_USE_EXTERNAL=OFF
export CPPFLAGS="-I$prefix/include" LDFLAGS="-L$prefix/lib" LIBS="-lhdf5 -lz -ldl -lm -lpthread"
configure=(--host="$cpu-linux-gnu" --disable-shared --disable-dap --disable-byterange --disable-libxml2
           --disable-nczarr --disable-plugins --disable-utilities --disable-testsets --disable-examples)
once netcdf with_make netcdf install

# What these two say of themselves lacks a library, and has a gap that was never filled.
sed -i -e 's/^Libs:.*/Libs: -L${libdir} -lhdf5 -lz -ldl -lm/' -e 's/^Libs.private:.*//' "$prefix/lib/pkgconfig/hdf5.pc"
sed -i -e 's/@HDF5_[A-Z]*@//' "$prefix/lib/pkgconfig/netcdf.pc"
