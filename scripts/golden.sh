#!/usr/bin/env bash
# Makes the golden streams of the current format anew. Only after a change of format before 1.0.
set -euo pipefail
cd "$(dirname "$0")/.."
cmake --preset release >/dev/null
cmake --build build --target leeway_make_golden >/dev/null
rm -f tests/golden/*.lwy tests/golden/*.raw
build/leeway_make_golden tests/golden
