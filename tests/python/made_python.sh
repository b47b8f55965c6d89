#!/usr/bin/env bash
# Makes a CPython that this machine lacks from Debian's or Ubuntu's source, once, in ~/.cache/recpack: some minutes.
# Needs what tools/setup.sh --for build,ci installs, and the network.
#
#   bash tests/python/made_python.sh 3.10|3.13|3.14 [--free-threaded] [--for x86_64|aarch64]
#
# With --for it is for any Linux of that architecture with glibc 2.28 or newer, as portable wheels are; else for this
# machine. Its folder can be moved. The last line is its path.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../tools/common.sh"

wanted=${1:-}
case "$wanted" in
  3.10)
    version=3.10.12 sha256=afb74bf19130e7a47d10312c8f5e784f24e0527981eab68e20546cfb865830b8
    host=http://archive.ubuntu.com/ubuntu
    ;;
  3.13)
    version=3.13.5 sha256=93e583f243454e6e9e4588ca2c2662206ad961659863277afcdb96801647d640
    host=http://deb.debian.org/debian
    ;;
  3.14)
    version=3.14.7 sha256=3b48dac8fb59f62eaa67ac83c1eb12bda1b7a08406dd286e252c11a66be27f81
    host=http://deb.debian.org/debian
    ;;
  *)
    echo "made_python: no source of Python '$wanted' is known; there are 3.10, 3.13 and 3.14" >&2
    exit 2
    ;;
esac
shift
options=() suffix="" kind="" arch=""
while [ $# != 0 ]; do
  case "$1" in
    --free-threaded) options=(--disable-gil) suffix=t kind=-free-threaded ;;
    --for) arch=${2:?--for needs an architecture: x86_64 or aarch64} && shift ;;
    *) echo "made_python: unknown option '$1'" >&2 && exit 2 ;;
  esac
  shift
done
name=python$wanted
folder=${XDG_CACHE_HOME:-$HOME/.cache}/recpack/python-$version$kind${arch:+-$arch}
python=$folder/bin/$name$suffix

cached=""
if command -v ccache >/dev/null; then cached='ccache '; fi
compiler=${cached}cc
flags='-DNDEBUG -O1'

# Sets the compilers and libraries of portable wheels, and what configure cannot try by running it.
use_portable() {
  local compilers libraries native
  compilers=$(bash "$repository/tools/wheel/compilers.sh" "$arch" | tail -n 1)
  libraries=$(bash "$repository/tools/wheel/libraries.sh" "$arch" "$compilers" | tail -n 1)
  compiler=$cached$compilers/cc
  flags+=' -w -Wno-date-time'  # Zig's clang makes an error of __DATE__
  options+=(CXX="$compilers/c++" AR="$compilers/ar" RANLIB="$compilers/ranlib" READELF="$(command -v readelf)"
    CPPFLAGS="-I$libraries/include" LDFLAGS="-L$libraries/lib" PKG_CONFIG_LIBDIR="$libraries/lib/pkgconfig")
  if [ "$arch" = "$(uname -m)" ]; then return; fi
  native=$(bash "${BASH_SOURCE[0]}" "$wanted" ${kind:+--free-threaded} | tail -n 1)
  options+=(--host="$arch-linux-gnu" --build="$(uname -m)-linux-gnu" --with-build-python="$native"
    ac_cv_file__dev_ptmx=yes ac_cv_file__dev_ptc=no ac_cv_buggy_getaddrinfo=no)
  PATH=$(dirname "$native"):$PATH  # where 3.10 looks for it
}

# fetch_source: into the folder that it is called in.
fetch_source() {
  curl -sSfL --retry 3 -o source.tar.xz "$host/pool/main/p/$name/${name}_$version.orig.tar.xz" || return 1
  echo "$sha256  source.tar.xz" | sha256sum --check
}

# make_python: from the folder that it is called in, which is empty.
make_python() {
  fetch_source && tar -xf source.tar.xz --strip-components=1 &&
    ./configure --quiet --prefix="$folder" "${options[@]}" --disable-test-modules --with-ensurepip=no \
      CC="$compiler" OPT="$flags" &&
    make -s -j "$jobs" && rm -rf "$folder" && make -s install COMPILEALL_OPTS='-r 0'
}

# One of another machine cannot be run: it is there where it was installed to the end.
is_there() { if [ -n "$arch" ]; then [ -e "$folder/complete" ]; else "$python" -c '' 2>/dev/null; fi; }

if ! is_there; then
  say "Python $version$kind${arch:+ for $arch} is made; $folder.log has what is said" >&2
  mkdir -p "$(dirname "$folder")"
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  if [ -n "$arch" ]; then use_portable >&2; fi
  if ! (cd "$work" && make_python) >"$folder.log" 2>&1 </dev/null; then
    tail -n 20 "$folder.log" >&2
    exit 1
  fi
  if [ -n "$arch" ]; then touch "$folder/complete"; fi
fi
echo "$python"
