#!/usr/bin/env bash
# Measures what docs/BENCHMARKS.md shows: leeway beside its peers on fields that nothing was tuned on.
#
#   scripts/benchmarks.sh           everything: sizes first, then speeds, then figures and tables
#   scripts/benchmarks.sh sizes     ratios and PSNR, which are exact and may be measured on a busy machine; one to two hours,
#                                   most of them for EBCC, which runs as WebAssembly
#   scripts/benchmarks.sh speeds    speeds beside memcpy; wants a machine that nobody else uses; some ten minutes
#   scripts/benchmarks.sh figures   draws the figures and renews the tables from what was measured last
#
# Results are kept in docs/figures. The fields, some 650 MB to fetch once, go to build/fields.
set -euo pipefail
cd "$(dirname "$0")/.."
part=${1:-all}
python=.venv/bin/python
results=docs/figures

scripts/setup.sh peers
"$python" -c 'import leeway' 2>/dev/null || scripts/wheel.sh
"$python" bench/fields.py
mkdir -p "$results"

if [ "$part" = all ] || [ "$part" = sizes ]; then
  "$python" bench/peers.py build/fields/*.f32 --equal lossless --repeat 1 --json "$results/lossless.json"
  "$python" bench/peers.py build/fields/{cam_ts,cam_cloud,pop_sst,arome_wind,reflections,mri_head}_*.f32 --equal psnr --psnr 40 60 80 100 \
    --recipes default,small,smallest --peers SZ3,SPERR,zfp,EBCC --json "$results/curves.json"
  "$python" bench/peers.py build/fields/*.f32 --equal psnr --psnr 50 70 90 --json "$results/psnr.json"
  "$python" bench/peers.py build/fields/*.f32 --rel 1e-2 1e-3 1e-4 --repeat 1 --json "$results/bound.json"
fi
if [ "$part" = all ] || [ "$part" = speeds ]; then
  large=$(find build/fields -name '*.f32' -size +9M | sort)
  # shellcheck disable=SC2086  # names without blanks
  "$python" bench/peers.py $large --rel 1e-3 --repeat 5 --peers "SZ3,SPERR,zfp,GRIB2 CCSDS,GRIB2 JPEG,LERC,OM,bitround+zstd" \
    --json "$results/speed.json"
fi
"$python" bench/figures.py "$results"
"$python" bench/tables.py "$results"
