#!/usr/bin/env bash
# Release build; leaves the command line tool at build/leeway.
#
#   scripts/build.sh          tool, library, tests
#   scripts/build.sh tool     tool and library only
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh build
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Quiet unless it fails.
run() { "$@" >"$log" 2>&1 || { cat "$log"; exit 1; }; }
run cmake --preset release
if [ "${1:-all}" = tool ]; then run cmake --build build --target leeway_cli leeway; else run cmake --build build; fi
echo "built: build/leeway"
