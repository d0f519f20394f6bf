#!/usr/bin/env bash
# Builds with a sanitizer and runs the tests under it: scripts/sanitize.sh asan|tsan
set -euo pipefail
cd "$(dirname "$0")/.."
log=$(mktemp)
trap 'rm -f "$log"' EXIT
case $1 in asan) targets=(leeway_tests leeway_torture) ;; tsan) targets=(leeway_thread_tests) ;; esac
{ cmake --preset "$1" && cmake --build "build-$1" --target "${targets[@]}"; } >"$log" 2>&1 || { cat "$log"; exit 1; }

# The tests in two halves, side by side.
run() {
  GTEST_TOTAL_SHARDS=2 GTEST_SHARD_INDEX=0 "$@" --gtest_brief=1 >"$log" 2>&1 &
  local half=$!
  GTEST_TOTAL_SHARDS=2 GTEST_SHARD_INDEX=1 "$@" --gtest_brief=1
  wait "$half" || { cat "$log"; exit 1; }
  tail -n 2 "$log"
}
case $1 in
  asan)
    # A kernel that the emulator gives up leaves what its threads hold.
    echo "leak:leeway::gpu::emulator" >"build-asan/leaks"
    export LSAN_OPTIONS=suppressions=$PWD/build-asan/leaks:print_suppressions=0
    run build-asan/leeway_tests --gtest_filter='-*SameBytesForAnyNumberOfThreads*'
    build-asan/leeway_torture 1e6
    ;;
  # Only what runs on several threads; the rest cannot fail here.
  tsan) run build-tsan/leeway_thread_tests --gtest_filter='Parallel*:Lookback*:Update*:Execution*:*Threads*:CApi*:Sizes*' ;;
esac
