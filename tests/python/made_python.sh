#!/usr/bin/env bash
# Makes a CPython that this machine lacks from Debian's source, once, in ~/.cache/recpack: some minutes. Needs what
# tools/setup.sh installs, libffi-dev, and apt with Debian's archive.
#
#   bash tests/python/made_python.sh 3.13|3.14 [--free-threaded]
#
# The last line is its path.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../tools/common.sh"

case "${1:-}" in
  3.13)
    version=3.13.5 release=trixie sha256=93e583f243454e6e9e4588ca2c2662206ad961659863277afcdb96801647d640
    ;;
  3.14)
    version=3.14.8 release=forky sha256=c2215904f02b175596dc49351585104f4bc20341e1c47378b26a2c274360ce73
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

# fetch_source: into the folder that it is called in, by an apt that knows nothing but this release's sources.
fetch_source() {
  local mirror file=${name}_$version.orig.tar.xz
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' |
    grep -v security | head -n 1)
  mkdir -p apt/lists/partial apt/cache
  echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $release main" >apt/sources
  apt() {
    apt-get -q -o Dir::Etc::SourceList="$PWD/apt/sources" -o Dir::Etc::SourceParts=/dev/null \
      -o Dir::State::Lists="$PWD/apt/lists" -o Dir::Cache="$PWD/apt/cache" -o APT::Sandbox::User=root "$@"
  }
  # A newer version may have taken its place in the release: the pool still has this one for a while.
  { apt update && apt source --download-only "$name" && mv "$file" source.tar.xz; } ||
    curl -sSfL -o source.tar.xz "$mirror/pool/main/p/$name/$file" || return 1
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
