#!/usr/bin/env bash
# Fuzzes the decoders: scripts/fuzz.sh SECONDS, for each target. Hours are welcome: scripts/fuzz.sh 7200
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
{ cmake --preset asan && cmake --build build-asan --target fuzz_decompress fuzz_payload fuzz_round_trip; } >"$log" 2>&1 || { cat "$log"; exit 1; }
for target in decompress payload round_trip; do
  mkdir -p "build-asan/corpus_$target"
  seeds=()
  [ "$target" = decompress ] && seeds=(tests/golden)
  "build-asan/fuzz_$target" -max_total_time="$seconds" -rss_limit_mb=3000 -timeout=20 -print_final_stats=0 -verbosity=0 \
    -artifact_prefix="build-asan/crash_$target-" "build-asan/corpus_$target" "${seeds[@]}" >"$log" 2>&1 || { tail -n 40 "$log"; exit 1; }
  echo "fuzz_$target: ${seconds} s, no crash"
done
