#!/usr/bin/env bash
# Checks the kernels for GPUs on the emulator for longer than the tests do: 1000 schedules, and real fields, of which the
# first ten chunks, at three bounds, with three recipes: the bytes of the processor, both ways.
#
#   scripts/gpu.sh                     schedules, and generated fields
#   FIELDS=folder scripts/gpu.sh       the fields of a folder, files like name_100x500x500.f32
#   SEEDS=100 scripts/gpu.sh           fewer schedules; 0: none
#   CHUNKS=3 scripts/gpu.sh            fewer chunks of each field
set -euo pipefail
cd "$(dirname "$0")/.."
build=${LEEWAY_BUILD:-build}
step() { echo "== $* ($(date +%T))"; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ "${SEEDS:-1000}" != 0 ]; then
  step "${SEEDS:-1000} schedules"
  cmake --build "$build" --target leeway_gpu_tests >"$work/log" || { cat "$work/log"; exit 1; }
  LEEWAY_GPU_SEEDS=${SEEDS:-1000} "$build/leeway_gpu_tests" --gtest_brief=1 --gtest_filter='Schedules*:Mutants*'
fi

step "fields"
fields=${FIELDS:-}
if [ -z "$fields" ]; then
  fields=$work/fields
  mkdir "$fields"
  "$build/leeway" sample turbulence --shape 64x64x80 -o "$fields/turbulence_64x64x80.f32" >/dev/null
fi
checked=0
for field in "$fields"/*.f32 "$fields"/*.f64; do
  [ -e "$field" ] || continue
  type=${field##*.}
  bytes=$(( ${CHUNKS:-10} * 32768 * ${type#f} / 8 ))
  size=$(stat -c %s "$field")
  [ "$size" -ge "$bytes" ] || bytes=$size
  part=$work/part_$(( bytes * 8 / ${type#f} )).$type
  head -c "$bytes" "$field" >"$part"
  for rel in 1e-2 1e-3 1e-4; do
    for recipe in cuszp2-outlier cuszp2-plain ceresz; do
      "$build/leeway" compress "$part" --rel $rel --recipe $recipe --no-detect-fill -o "$work/host" --force --quiet
      "$build/leeway" compress "$part" --rel $rel --recipe $recipe --device emulator -o "$work/gpu" --force --quiet
      cmp "$work/host" "$work/gpu" || { echo "gpu.sh: $field, $recipe, $rel: other bytes than the processor's"; exit 1; }
      "$build/leeway" decompress "$work/host" -o "$work/host.raw" --force
      "$build/leeway" decompress "$work/gpu" -o "$work/gpu.raw" --device emulator --force
      cmp "$work/host.raw" "$work/gpu.raw" || { echo "gpu.sh: $field, $recipe, $rel: other values than the processor's"; exit 1; }
      checked=$((checked + 1))
    done
  done
  rm "$part"
done
echo "$checked streams are the same"
