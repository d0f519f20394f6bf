#!/usr/bin/env bash
# Verilator's warnings of every design with every choice of its parameters, and rules that grep can check.
set -euo pipefail
cd "$(dirname "$0")"
failed=0
lint() {
  local file=$1
  shift
  verilator --lint-only -Wall -y lib -y wavesz -y blocks -y ceaz -y axis "$@" "$file" || failed=1
}
for stages in 5 7; do
  lint wavesz/lwy_wavesz.sv -GStages=$stages
  lint wavesz/lwy_wavesz_decoder.sv -GStages=$stages
  for outlier in 0 1; do
    for pow2 in 0 1; do lint blocks/lwy_blocks.sv -GStages=$stages "-GOutlier=1'b$outlier" "-GPow2=1'b$pow2"; done
  done
  for pow2 in 0 1; do lint ceaz/lwy_ceaz.sv -GStages=$stages "-GPow2=1'b$pow2"; done
done
for outlier in 0 1; do lint blocks/lwy_blocks_decoder.sv "-GOutlier=1'b$outlier"; done
for lanes in 1 3 16; do lint axis/lwy_axis_ceaz.sv -GLanes=$lanes; done
lint axis/lwy_axis_blocks.sv
lint axis/lwy_axis_wavesz.sv
for file in */*.sv; do
  grep -q "^module $(basename "$file" .sv) " "$file" || { echo "$file has no module of its name"; failed=1; }
  head -n 1 "$file" | grep -q SPDX-License-Identifier || { echo "$file has no licence line"; failed=1; }
  awk -v f="$file" 'length > 100 { print f ":" NR " is longer than 100 columns"; bad = 1 } END { exit bad }' "$file" || failed=1
done
exit $failed
