#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test: unit, property and hostile tests, the command line,
# the reference decoder, installed consumers, the sanitizers, and a short run of the fuzzers.
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

step "command line, documentation, reference decoder, installed package"
.venv/bin/python -m pytest -q tests

step "address and undefined-behaviour sanitizers"
scripts/sanitize.sh asan

step "thread sanitizer"
scripts/sanitize.sh tsan

step "fuzzers, 20 s each"
scripts/fuzz.sh 20

echo "all tests passed"
