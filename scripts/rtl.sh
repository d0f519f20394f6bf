#!/usr/bin/env bash
# The hardware designs in rtl/: checks their style, builds them with Verilator, and runs them against the library.
#
#   scripts/rtl.sh            all of it: field files too, if LEEWAY_RTL_FIELDS names a directory with some
#   scripts/rtl.sh --short    a selection, a step of scripts/test.sh
#   scripts/rtl.sh synth [DESIGN ...]   areas on Xilinx 7 and ECP5 beside the papers' and the stored ones, and a clock from
#                             place and route
set -euo pipefail
cd "$(dirname "$0")/.."
case "${1:-}" in "" | --short | synth) ;; *) sed -n '4,7s/^# //p' "$0"; exit 2 ;; esac

if [ "${1:-}" = synth ]; then
  scripts/setup.sh build verilator yosys python3 python3-venv
  exec python3 rtl/synth/synth.py "${@:2}"
fi
scripts/setup.sh build verilator

echo "== lint"
rtl/lint.sh

echo "== build"
# In the build of the tests, if there is one; else in one of its own, which has the two types that are needed.
build=build-rtl
preset=rtl
[ -f build/CMakeCache.txt ] && build=build && preset=release
log=$(mktemp)
trap 'rm -f "$log" "$log".[01]' EXIT
run() { "$@" >"$log" 2>&1 || { cat "$log"; exit 1; }; }
# Verilator's part of the build names source files, and knows nothing of those that were moved.
[ rtl -nt $build/CMakeFiles/leeway_rtl_models.dir ] && rm -rf $build/CMakeFiles/leeway_rtl_models.dir
run cmake --preset $preset -DLEEWAY_RTL=ON
run cmake --build $build --target leeway_rtl_tests

echo "== co-simulation"
filter='*'
[ "${1:-}" = --short ] && filter=-*.Long*
# Two halves side by side.
parts=()
for part in 0 1; do
  GTEST_TOTAL_SHARDS=2 GTEST_SHARD_INDEX=$part $build/leeway_rtl_tests --gtest_brief=1 "--gtest_filter=$filter" >"$log.$part" &
  parts+=($!)
done
failed=0
for part in 0 1; do
  wait "${parts[$part]}" || failed=1
  if [ "${1:-}" != --short ] || [ $failed = 1 ]; then cat "$log.$part"; else tail -n 1 "$log.$part"; fi
done
exit $failed
