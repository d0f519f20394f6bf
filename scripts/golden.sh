#!/usr/bin/env bash
# What streams are compared with, made anew:
#
#   scripts/golden.sh         the golden streams of the current format; only after a change of format before 1.0
#   scripts/golden.sh bytes   tests/golden/bytes.csv, the checksums of what encoders write; after any change that they may
#                             show, with the reason in the commit
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-streams} in streams|bytes) ;; *) sed -n '2,6s/^# \?//p' "$0" >&2; exit 2 ;; esac
cmake --preset release >/dev/null
if [ "${1:-streams}" = bytes ]; then
  cmake --build build --target leeway_tests >/dev/null
  LEEWAY_WRITE_BYTES=1 build/leeway_tests --gtest_brief=1 --gtest_filter='WrittenBytes.*:Combinations.*'
  git diff --stat -- tests/golden/bytes.csv
  exit
fi
cmake --build build --target leeway_make_golden >/dev/null
# v1_in_place_*: frames written again in their place, as builds before 0.1.0 did; nothing makes such streams any more.
# v1_aligned_*, v1_all_moved_*: layouts that parallel writers may choose. v1_growing_* have names instead of numbers.
# v1_first_forms_*: the same of the first forms of `huffman` and `rans`.
rm -f tests/golden/v1_[0-9]*
build/leeway_make_golden tests/golden
