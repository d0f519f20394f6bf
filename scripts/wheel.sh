#!/usr/bin/env bash
# Builds the Python wheel, build/wheel/leeway-*.whl, and installs it into the environments of the tests.
set -euo pipefail
cd "$(dirname "$0")/.."
rm -rf build/wheel
.venv/bin/pip wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps -w build/wheel .
for environment in .venv .venv-zarr2; do
  "$environment/bin/pip" install --quiet --disable-pip-version-check --no-deps --force-reinstall build/wheel/leeway-*.whl
done
