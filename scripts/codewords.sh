#!/usr/bin/env bash
# Makes the offline code books of `adaptive` again, leeway/encode/parts/offline_books.cc: for every bit rate in
# tools/make_codewords.cc a book from the average of the sample fields at that rate. Changing them changes the format.
set -euo pipefail
cd "$(dirname "$0")/.."
cmake --preset release >/dev/null
cmake --build build --target leeway_make_codewords >/dev/null
build/leeway_make_codewords > build/offline_books.cc
clang-format build/offline_books.cc > leeway/encode/parts/offline_books.cc
