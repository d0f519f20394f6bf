#!/usr/bin/env bash
# Measures what docs/BENCHMARKS.md shows: leeway beside its peers on fields that nothing was tuned on.
#
#   scripts/benchmarks.sh           everything: sizes first, then speeds, then figures and tables
#   scripts/benchmarks.sh sizes     ratios and PSNR, which are exact and may be measured on a busy machine; two hours on an idle
#                                   core, most of them for EBCC, which runs as WebAssembly
#   scripts/benchmarks.sh ours      the same for leeway alone, after a change of its presets; its peers' rows stay; a quarter of
#                                   an hour
#   scripts/benchmarks.sh speeds    speeds beside memcpy; wants a machine that nobody else uses; some ten minutes
#   scripts/benchmarks.sh figures   draws the figures and renews the tables from what was measured last
#
# Results are kept in docs/figures. The fields, some 650 MB to fetch once, go to build/fields.
set -euo pipefail
cd "$(dirname "$0")/.."
part=${1:-all}
[[ $part =~ ^(all|sizes|ours|speeds|figures)$ ]] || { echo "benchmarks.sh: there is no part $part" >&2; exit 2; }
python=.venv/bin/python
results=docs/figures

scripts/setup.sh peers
pinned=()
peers() { "${pinned[@]}" "$python" bench/peers.py "$@"; }

if [ "$part" != figures ]; then
  scripts/wheel.sh
  "$python" bench/mdz.py
  mkdir -p "$results"
  mapfile -t fields < <("$python" bench/fields.py)
  mapfile -t six < <("$python" bench/fields.py cam_ts nemo_tos arome_wind fuga_wake reflections hcn_cube)
  mapfile -t large < <(find "${fields[@]}" -size +9M)
fi
if [ "$part" = ours ]; then
  only=(--peers "" --keep)
  curves=("${only[@]}")
else
  only=()
  curves=(--peers SZ3,SPERR,zfp,EBCC)
fi
if [[ $part =~ ^(all|sizes|ours)$ ]]; then
  peers "${fields[@]}" --equal lossless --repeat 1 "${only[@]}" --json "$results/lossless.json"
  peers "${fields[@]}" --equal psnr --psnr 50 70 90 "${only[@]}" --json "$results/psnr.json"
  peers "${six[@]}" --equal psnr --psnr 40 60 80 100 --recipes default,small,smallest "${curves[@]}" --json "$results/curves.json"
  peers "${fields[@]}" --rel 1e-2 1e-3 1e-4 --repeat 1 "${only[@]}" --json "$results/bound.json"
fi
if [[ $part =~ ^(all|speeds)$ ]]; then
  pinned=(taskset -c "$(($(nproc) - 1))")
  peers "${large[@]}" --rel 1e-3 --repeat 5 \
    --peers "SZ3,SPERR,zfp,GRIB2 CCSDS,GRIB2 JPEG,LERC,OM,bitround+zstd" --json "$results/speed.json"
  peers "${large[@]}" --equal lossless --repeat 5 --keep --json "$results/speed.json"
fi
"$python" bench/figures.py "$results"
"$python" bench/tables.py "$results"
