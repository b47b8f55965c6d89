#!/usr/bin/env bash
# Makes a CPython that this machine lacks from Debian's source, once, in ~/.cache/recpack: some minutes. Needs what
# tools/setup.sh --for build,ci installs, and the network.
#
#   bash tests/python/made_python.sh 3.13|3.14 [--free-threaded]
#
# The last line is its path.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../tools/common.sh"

case "${1:-}" in
  3.13)
    version=3.13.5 sha256=93e583f243454e6e9e4588ca2c2662206ad961659863277afcdb96801647d640
    ;;
  3.14)
    version=3.14.7 sha256=3b48dac8fb59f62eaa67ac83c1eb12bda1b7a08406dd286e252c11a66be27f81
    ;;
  *)
    echo "made_python: no source of Python '${1:-}' is known; there are 3.13 and 3.14" >&2
    exit 2
    ;;
esac
name=python$1
options=() suffix="" kind=""
if [ "${2:-}" = --free-threaded ]; then options=(--disable-gil) suffix=t kind=-free-threaded; fi
folder=${XDG_CACHE_HOME:-$HOME/.cache}/recpack/python-$version$kind
python=$folder/bin/$name$suffix

# fetch_source: into the folder that it is called in.
fetch_source() {
  local file=${name}_$version.orig.tar.xz
  curl -sSfL --retry 3 -o source.tar.xz "http://deb.debian.org/debian/pool/main/p/$name/$file" || return 1
  echo "$sha256  source.tar.xz" | sha256sum --check
}

# make_python: from the folder that it is called in, which is empty.
make_python() {
  local compiler=cc
  if command -v ccache >/dev/null; then compiler='ccache cc'; fi
  fetch_source && tar -xf source.tar.xz --strip-components=1 &&
    ./configure --quiet --prefix="$folder" "${options[@]}" --disable-test-modules --with-ensurepip=no \
      CC="$compiler" OPT='-DNDEBUG -O1' &&
    make -s -j "$jobs" && rm -rf "$folder" && make -s install COMPILEALL_OPTS='-r 0'
}

if ! "$python" -c '' 2>/dev/null; then
  say "Python $version$kind is made; $folder.log has what is said" >&2
  mkdir -p "$(dirname "$folder")"
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  if ! (cd "$work" && make_python) >"$folder.log" 2>&1 </dev/null; then
    tail -n 20 "$folder.log" >&2
    exit 1
  fi
fi
echo "$python"
