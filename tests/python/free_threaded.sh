#!/usr/bin/env bash
# Tests the package on Python without an interpreter's lock: makes that Python of Debian's source, the wheel for
# it, and a bare environment. Needs what tools/setup.sh installs, libffi-dev, and apt with Debian's archive.
#
#   bash tests/python/free_threaded.sh [PYTHON]     PYTHON: one that is here (default: it is made, once, in
#                                                   ~/.cache/recpack: some minutes)
#
# The last line is `N passed, N failed`; exits 1 if a test failed.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

version=3.13.5  # Debian 13's
release=trixie
sha256=93e583f243454e6e9e4588ca2c2662206ad961659863277afcdb96801647d640

# fetch_source: into the folder that it is called in, by an apt that knows nothing but this release's sources.
fetch_source() {
  local mirror file=python3.13_$version.orig.tar.xz
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' |
    grep -v security | head -n 1)
  mkdir -p apt/lists/partial apt/cache
  echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $release main" >apt/sources
  apt() {
    apt-get -q -o Dir::Etc::SourceList="$PWD/apt/sources" -o Dir::Etc::SourceParts=/dev/null \
      -o Dir::State::Lists="$PWD/apt/lists" -o Dir::Cache="$PWD/apt/cache" -o APT::Sandbox::User=root "$@"
  }
  apt update && apt source --download-only python3.13 && mv "$file" source.tar.xz &&
    echo "$sha256  source.tar.xz" | sha256sum --check
}

# make_python FOLDER: from the folder that it is called in, which is empty.
make_python() {
  local compiler=cc
  if command -v ccache >/dev/null; then compiler='ccache cc'; fi
  fetch_source && tar -xf source.tar.xz --strip-components=1 &&
    ./configure --quiet --prefix="$1" --disable-gil --disable-test-modules --with-ensurepip=no \
      CC="$compiler" OPT='-DNDEBUG -O1' &&
    make -s -j "$jobs" && rm -rf "$1" && make -s install COMPILEALL_OPTS='-r 0'
}

has_no_lock() { "$1" -c 'import sys; sys.exit(sys._is_gil_enabled())'; }

python=${1:-}
if [ -z "$python" ]; then
  folder=${XDG_CACHE_HOME:-$HOME/.cache}/recpack/python-$version-free-threaded
  python=$folder/bin/python3.13t
  if ! has_no_lock "$python" 2>/dev/null; then
    say "Python $version without a lock is made; $folder.log has what is said"
    mkdir -p "$(dirname "$folder")"
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    if ! (cd "$work" && make_python "$folder") >"$folder.log" 2>&1 </dev/null; then
      tail -n 20 "$folder.log" >&2
      exit 1
    fi
  fi
fi
check "python: $("$python" -V) without a lock" has_no_lock "$python"
wheel=$(PYTHON=$python bash "$repository/tools/wheel.sh" | tail -n 1)
bare=$repository/build/python/free-threaded
make_bare "$bare" "$python" "$wheel"
tested_bare "$bare"
finish
