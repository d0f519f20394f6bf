#!/usr/bin/env bash
# Makes the golden streams of the current format anew. Only after a change of format before 1.0.
set -euo pipefail
cd "$(dirname "$0")/.."
cmake --preset release >/dev/null
cmake --build build --target leeway_make_golden >/dev/null
# v1_in_place_*: frames written again in their place, as builds before 0.1.0 did; nothing makes such streams any more.
rm -f tests/golden/v1_[0-9]*
build/leeway_make_golden tests/golden
