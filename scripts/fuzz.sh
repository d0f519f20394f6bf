#!/usr/bin/env bash
# Fuzzes the decoders: scripts/fuzz.sh SECONDS, for each target. Hours are welcome: scripts/fuzz.sh 7200
# `structure` begins with tests/fuzz/corpus, fresh seeds and the golden streams. To grow the kept corpus by what a long run found:
#   build-asan/fuzz_structure -merge=1 -max_len=4096 tests/fuzz/corpus build-asan/corpus_structure
# Keep it below 2 MB in all: the tests replay it.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
{ cmake --preset asan && cmake --build build-asan --target fuzz_decompress fuzz_payload fuzz_round_trip fuzz_structure fuzz_small_decoder leeway_make_seeds; } \
  >"$log" 2>&1 || { cat "$log"; exit 1; }
mkdir -p build-asan/seeds
build-asan/leeway_make_seeds build-asan/seeds
for target in decompress payload round_trip structure small_decoder; do
  mkdir -p "build-asan/corpus_$target"
  seeds=() limits=(-timeout=20)
  [[ "$target" = decompress || "$target" = small_decoder ]] && seeds=(tests/golden)
  # Arrays of at most 2^20 values: nothing may take long, or ask for much at once.
  [ "$target" = structure ] && seeds=(tests/fuzz/corpus build-asan/seeds tests/golden) limits=(-timeout=10 -malloc_limit_mb=256)
  "build-asan/fuzz_$target" -max_total_time="$seconds" -rss_limit_mb=3000 "${limits[@]}" -print_final_stats=0 -verbosity=0 \
    -artifact_prefix="build-asan/crash_$target-" "build-asan/corpus_$target" "${seeds[@]}" >"$log" 2>&1 || { tail -n 40 "$log"; exit 1; }
  echo "fuzz_$target: ${seconds} s, no crash"
done
