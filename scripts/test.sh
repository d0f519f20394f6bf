#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test: unit, property and hostile tests, the command line,
# the reference decoder, the programs and libraries that leeway lives in, packages, the sanitizers, and a short run of
# the fuzzers.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
step() { echo "== $* ($(date +%T))"; }

step "build"
scripts/build.sh

step "source rules"
scripts/check_source.sh

step "unit tests, examples"
ctest --test-dir build --output-on-failure -j2 --no-tests=error | tail -n 8

step "Python package"
scripts/wheel.sh

step "command line, hosts, documentation, reference decoder, packages"
.venv/bin/python -m pytest -q -rs -n 2 --dist loadgroup tests

step "outside judges, a selection"
scripts/judges.sh --short

step "hardware designs, a selection"
if command -v verilator >/dev/null; then scripts/rtl.sh --short; else echo "skipped: there is no Verilator"; fi

step "address and undefined-behaviour sanitizers"
scripts/sanitize.sh asan

step "fuzzers, 20 s each"
scripts/fuzz.sh 20

step "thread sanitizer"
scripts/sanitize.sh tsan

echo "all tests passed"
