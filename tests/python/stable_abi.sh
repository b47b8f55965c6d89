#!/usr/bin/env bash
# Builds the wheel of the stable ABI by the oldest Python from 3.12 on that is here, and tests it in bare
# environments: all tests on the newest, a choice of them on the oldest; and in that of bench/peers/setup.sh with
# MaxText (1.4 GB), which is for these Pythons only.
#
#   bash tests/python/stable_abi.sh [PYTHON...]     PYTHON: among which (default: those in PATH, and pyenv's)
#
# The last line is `N passed, N failed`; without such a Python it is `0 passed, 0 failed`, with a line before it that
# says so.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

is_stable() { [[ $(basename "$wheel") == recpack_io-*-cp312-abi3-* ]]; }

mapfile -t pythons < <(bash "$repository/tools/wheel/pythons.sh" 12 "$@")
if [ ${#pythons[@]} = 0 ]; then
  echo "NOT TESTED: the stable ABI and MaxText: no Python from 3.12 on is in PATH or pyenv's, with its headers and venv"
  finish
  exit
fi
oldest=${pythons[0]} newest=${pythons[-1]}
wheel=$(PYTHON=${oldest#* } bash "$repository/tools/wheel.sh" | tail -n 1)
check "python: the wheel by 3.${oldest%% *} is of the stable ABI" is_stable
# tested_by "MINOR PATH" [NAME...]
tested_by() {
  local bare=$repository/build/python/abi3-3.${1%% *}
  make_bare "$bare" "${1#* }" "$wheel"
  tested_bare "$bare" "${@:2}"
}

tested_by "$newest"
if [ "$oldest" != "$newest" ]; then tested_by "$oldest" documented reading loading functions threads writing; fi

bash "$repository/bench/peers/setup.sh" maxtext
maxtext=${RECPACK_VENVS:-$repository/.venvs}/maxtext/bin/python
site=$repository/build/python/abi3-site
rm -rf "$site"
"$maxtext" -m pip install -q --disable-pip-version-check --no-deps --target "$site" "$wheel"
export RECPACK=$site/bin/recpack
path+=:$site
for name in maxtext documented; do tested maxtext "$maxtext" "$name"; done
finish
