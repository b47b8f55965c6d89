#!/usr/bin/env bash
# Installs the wheel as users get it: into build/python/bare, an environment that has nothing but NumPy, and into
# build/python/site, which the environments of bench/peers/setup.sh see by PYTHONPATH.
#
#   bash tests/python/environments.sh [WHEEL]     WHEEL: one that is built already (default: it is built)
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

venvs=${RECPACK_VENVS:-$repository/.venvs}
wheel=${1:-}
if [ -z "$wheel" ]; then
  wheel=$(bash "$repository/tools/wheel.sh" | tail -n 1)
fi

make_bare "$repository/build/python/bare" python3 "$wheel"
bash "$repository/bench/peers/setup.sh" vision
site=$repository/build/python/site
rm -rf "$site"
"$venvs/vision/bin/python" -m pip install -q --disable-pip-version-check --no-deps --target "$site" "$wheel"
