#!/usr/bin/env bash
# A thousand million random and adversarial values through every recipe: none may break its bound, none may
# change when compressed again. About two minutes; scripts/torture.sh 1e10 for longer, a second number is the seed.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/build.sh >/dev/null
build/leeway_torture "${1:-1e9}" "${2:-1}"
