#!/usr/bin/env bash
# More cases of what ranks do together than CI has time for: all decompositions, recipes, bounds and fields on 1 to 8 ranks, a rank
# killed at every call and at 200 random moments, MPICH with the system's files, 10^4 random reductions, memory and time of a rank, a file
# above 2 GiB. About an hour.
#
#   scripts/mpi.sh            everything
#   scripts/mpi.sh WORDS      tests whose names have these, as pytest's -k
set -euo pipefail
cd "$(dirname "$0")/.."
LEEWAY_MPI_LONG=1 .venv/bin/python -m pytest -q tests/hosts/test_mpi*.py ${1:+-k "$*"}
