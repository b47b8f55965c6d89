#!/usr/bin/env bash
# Tests the package on Python without an interpreter's lock, with the portable wheel for it, in a bare environment.
#
#   bash tests/python/free_threaded.sh [PYTHON]     PYTHON: one that is here (default: 3.13 and 3.14, which
#                                                   tests/python/made_python.sh makes)
#
# The last line is `N passed, N failed`; exits 1 if a test failed.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

has_no_lock() { "$1" -c 'import sys; sys.exit(sys._is_gil_enabled())'; }

pythons=("$@")
if [ $# = 0 ]; then
  for version in 3.13 3.14; do
    pythons+=("$(bash "$here/made_python.sh" "$version" --free-threaded | tail -n 1)")
  done
fi
for python in "${pythons[@]}"; do
  check "python: $("$python" -V) without a lock" has_no_lock "$python"
  wheel=$(PYTHON=$python bash "$repository/tools/wheel.sh" --portable "$(uname -m)" "$repository/dist/free-threaded" | tail -n 1)
  bare=$repository/build/python/free-threaded
  make_bare "$bare" "$python" "$wheel"
  tested_bare "$bare"
done
finish
