#!/usr/bin/env bash
# Builds all that goes to PyPI: portable wheels (manylinux_2_28) of recpack-io for x86-64 and aarch64, and the sdist.
#
#   bash tools/wheels.sh [--require] [FOLDER]     FOLDER: where they go (default: dist/release), emptied first
#
# One wheel for each of CPython 3.10 and 3.11, one of the stable ABI for 3.12 and newer, and one for each free-threaded
# Python named in FREE_THREADED (paths, separated by spaces). A version that is not here (in PATH, or pyenv's) is left
# out with a line that says so; `--require` makes that an error.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

require=no
if [ "${1:-}" = --require ]; then require=yes && shift; fi
out=${1:-$repository/dist/release}

mapfile -t found < <(bash "$repository/tools/wheel/pythons.sh" 10)
pythons=()
left_out=()
# take LABEL EXPRESSION: the first Python found whose minor number satisfies it.
take() {
  local each
  for each in "${found[@]}"; do
    if ((${each%% *} $2)); then
      pythons+=("${each#* }")
      return
    fi
  done
  left_out+=("$1")
}
take 3.10 "== 10"
take 3.11 "== 11"
take "3.12 and newer" ">= 12"
for each in ${FREE_THREADED:-}; do pythons+=("$each"); done
if [ ${#left_out[@]} != 0 ]; then
  echo "wheels: left out, for there is no such Python: ${left_out[*]}" >&2
  [ "$require" = no ] || exit 1
fi

rm -rf "$out"
mkdir -p "$out"
native=$(uname -m) other=aarch64
if [ "$native" = aarch64 ]; then other=x86_64; fi
for python in "${pythons[@]}"; do
  for arch in "$native" "$other"; do
    PYTHON=$python bash "$repository/tools/wheel.sh" --portable "$arch" "$out"
  done
done
tools=$(ls -d "$repository"/.venvs/wheel-*/bin/python | head -n 1)
"$tools" -m build --sdist --no-isolation --outdir "$out" "$repository" >&2
ls -l "$out"
