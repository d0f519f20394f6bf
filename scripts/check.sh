#!/usr/bin/env bash
# What to run before every commit: the source rules, the format of changed lines, a build with few element types (preset
# dev, build-dev/) and its unit tests. A minute or two once the first build is there; scripts/test.sh runs everything.
#
#   scripts/check.sh            all of it
#   scripts/check.sh --format   lines that differ from main are formatted, too, instead of complained about
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh build git python3-venv
step() { echo "== $* ($(date +%T))"; }
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Quiet unless it fails.
run() { "$@" >"$log" 2>&1 || { cat "$log"; exit 1; }; }

step "source rules"
scripts/check_source.sh

# Debian's clang-format 14 mangles concepts. Only changed lines count, so that nobody formats what others are changing.
step "format"
format=build-dev/format
[ "$("$format/bin/clang-format" --version 2>/dev/null)" = "clang-format version 18.1.8" ] || {
  run python3 -m venv "$format"
  run "$format/bin/pip" install --quiet --disable-pip-version-check clang-format==18.1.8
}
base=$(git merge-base HEAD main 2>/dev/null || git merge-base HEAD origin/main 2>/dev/null || git rev-parse HEAD)
changed() { "$format/bin/python" "$format/bin/git-clang-format" --binary "$format/bin/clang-format" --extensions c,cc,h,hpp "$@" "$base"; }
if [ "${1:-}" = --format ]; then
  changed --force || true
else
  changed --diff >"$log" || true
  if grep -q '^diff' "$log"; then
    cat "$log"
    echo "check.sh: scripts/check.sh --format does this"
    exit 1
  fi
fi

step "build"
run cmake --preset dev
run cmake --build build-dev

step "unit tests"
# Without those that take long; scripts/test.sh has them all.
GTEST_TOTAL_SHARDS=2 GTEST_SHARD_INDEX=0 build-dev/leeway_tests --gtest_brief=1 --gtest_filter="-Combinations*:*Torture*" >"$log" 2>&1 &
half=$!
GTEST_TOTAL_SHARDS=2 GTEST_SHARD_INDEX=1 build-dev/leeway_tests --gtest_brief=1 --gtest_filter="-Combinations*:*Torture*" | tail -n 3
wait "$half" || { cat "$log"; exit 1; }
for program in build-dev/example_hello_c build-dev/example_hello build-dev/example_own_stage; do run "$program"; done
echo "all checks passed"
