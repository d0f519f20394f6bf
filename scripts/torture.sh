#!/usr/bin/env bash
# Random and adversarial arrays through every recipe, type and kind of bound, judged with 128-bit arithmetic that shares no
# code with the library: bounds, special values, regions, updates, rewriting in part, rounding modes, idempotence. Then
# parts of chunks rewritten through h5py and Zarr, a thousandth as many values.
#
#   scripts/torture.sh [VALUES [SEED]]     1e8 values are about four minutes, 1e9 half an hour
set -euo pipefail
cd "$(dirname "$0")/.."
values=${1:-1e8} seed=${2:-1}
scripts/build.sh >/dev/null
build/leeway_torture "$values" "$seed"
if .venv/bin/python -c 'import leeway, h5py, zarr' 2>/dev/null; then
  .venv/bin/python tests/hosts/rewrite_torture.py "$(python3 -c "print(max(100000, float('$values') / 1000))")" "$seed"
else
  echo "skipped: rewriting through h5py and Zarr needs scripts/setup.sh and scripts/wheel.sh"
fi
