#!/usr/bin/env bash
# Random and adversarial values through every recipe, type and kind of bound, judged with 128-bit arithmetic: none may break
# its bound or become special, none may change when compressed again. scripts/torture.sh N [SEED]; the first number is how many values.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/build.sh >/dev/null
build/leeway_torture "${1:-1e8}" "${2:-1}"
