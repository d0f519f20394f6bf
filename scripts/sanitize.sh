#!/usr/bin/env bash
# Builds with a sanitizer and runs the tests under it: scripts/sanitize.sh asan|tsan
set -euo pipefail
cd "$(dirname "$0")/.."
log=$(mktemp)
trap 'rm -f "$log"' EXIT
{ cmake --preset "$1" && cmake --build "build-$1" --target leeway_tests leeway_torture; } >"$log" 2>&1 || { cat "$log"; exit 1; }
case $1 in
  asan)
    # The tests in two halves, side by side.
    GTEST_TOTAL_SHARDS=2 GTEST_SHARD_INDEX=0 "build-$1/leeway_tests" --gtest_brief=1 >"$log" 2>&1 &
    half=$!
    GTEST_TOTAL_SHARDS=2 GTEST_SHARD_INDEX=1 "build-$1/leeway_tests" --gtest_brief=1
    wait "$half" || { cat "$log"; exit 1; }
    tail -n 2 "$log"
    "build-$1/leeway_torture" 1e6
    ;;
  # Only what runs on several threads; the rest takes long and cannot fail here.
  tsan) "build-$1/leeway_tests" --gtest_brief=1 --gtest_filter='Parallel*:Lookback*:Update*:Execution*:*Threads*:CApi*:Sizes*' ;;
esac
