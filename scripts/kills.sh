#!/usr/bin/env bash
# Kills 300 updates of a stream (or as many as the first argument says) at random moments: each must leave the old
# stream or the new one, whole.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
scripts/build.sh tool
.venv/bin/python tests/cli/kills.py "${1:-300}"
