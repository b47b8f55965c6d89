#!/usr/bin/env bash
# Builds the wheel and tests it as users get it: in an environment that has nothing but NumPy, and in one
# with PyTorch (bench/peers/setup.sh makes it; 5.5 GB).
#
#   bash tests/python/run.sh [WHEEL]     WHEEL: one that is built already (default: it is built)
#
# The last line is `N passed, N failed`; exits 1 if a test failed.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../tools/common.sh"
venvs=${RECPACK_VENVS:-$repository/.venvs}
wheel=${1:-}
if [ -z "$wheel" ]; then
  wheel=$(bash "$repository/tools/wheel.sh" | tail -n 1)
fi

# As a user's: an empty environment, and what pip brings along with the wheel.
bare=$repository/build/python/bare
rm -rf "$bare"
python3 -m venv "$bare"
"$bare/bin/python" -m pip install -q --disable-pip-version-check "$wheel"
bash "$repository/bench/peers/setup.sh" vision
site=$repository/build/python/site
rm -rf "$site"
"$venvs/vision/bin/python" -m pip install -q --disable-pip-version-check --no-deps --target "$site" "$wheel"
export RECPACK=$bare/bin/recpack

for name in reading loading functions workers writing packing programs torch transforms; do
  python=$bare/bin/python path=$repository/tests/interop
  case $name in torch | transforms) python=$venvs/vision/bin/python path+=:$site ;; esac
  counted "python: $name" env PYTHONPATH="$path" "$python" -B "$here/test_$name.py"
done
finish
