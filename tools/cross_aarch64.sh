#!/usr/bin/env bash
# Cross-builds the data modules for aarch64 and runs their tests in an emulator.
set -euo pipefail
export RECPACK_TEST_SECONDS=${RECPACK_TEST_SECONDS:-900}  # in an emulator
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'END'
usage: tools/cross_aarch64.sh [CTEST_ARGUMENTS...]

Builds base, record, example, image and kernels with their tests for aarch64 and runs the tests
under qemu. The libraries for aarch64 are downloaded from the distribution and unpacked into
build/aarch64-root: nothing foreign is installed. Needs tools/setup.sh --for test,ci and the network
the first time. The last line is `N passed, N failed`.
END
}
case "${1:-}" in --help | -h) usage && exit 0 ;; esac

root=$repository/build/aarch64-root
export RECPACK_AARCH64_ROOT=$root
libraries=(libfmt-dev libssl-dev zlib1g-dev libisal-dev libprotobuf-dev libjpeg-dev libpng-dev libwebp-dev libavif-dev libtiff-dev
  liburing-dev libgtest-dev libgmock-dev)

# apt with lists and archives of its own, in $1, for aarch64 only and with nothing installed.
foreign_apt() {
  local state=$1
  shift
  apt-get -q -y --no-install-recommends \
    -o Dir::State="$state" -o Dir::State::status="$state/status" -o Dir::Cache="$state/cache" \
    -o Dir::Etc::SourceList="$state/sources.list" -o Dir::Etc::SourceParts=/dev/null \
    -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User="$(id -un)" \
    -o APT::Get::List-Cleanup=false -o Acquire::Languages=none -o Debug::NoLocking=1 \
    -o APT::Update::Post-Invoke-Success= "$@" </dev/null
}

# Where this distribution keeps its packages for arm64.
sources() {
  local codename=$VERSION_CODENAME
  case "$ID" in
    debian)
      local key=/usr/share/keyrings/debian-archive-keyring.gpg
      echo "deb [signed-by=$key] http://deb.debian.org/debian $codename main"
      echo "deb [signed-by=$key] http://deb.debian.org/debian $codename-updates main"
      echo "deb [signed-by=$key] http://deb.debian.org/debian-security $codename-security main"
      ;;
    ubuntu)
      local key=/usr/share/keyrings/ubuntu-archive-keyring.gpg pocket
      for pocket in "" -updates -security; do
        echo "deb [signed-by=$key] http://ports.ubuntu.com/ubuntu-ports $codename$pocket main universe"
      done
      ;;
    *)
      echo "cross: no packages for aarch64 are known for '$ID'; Debian and Ubuntu have them" >&2
      return 1
      ;;
  esac
}

# Everything the libraries need, without the C and C++ libraries, which the cross compiler brings.
unpack_root() {
  local state=$root.apt archive
  rm -rf "$root" "$root.part" "$state"
  mkdir -p "$state"/{lists/partial,cache/archives/partial} "$root.part"
  : >"$state/status"
  # shellcheck source=/dev/null
  (. /etc/os-release && sources) >"$state/sources.list"
  echo "cross: fetching the package lists for arm64"
  foreign_apt "$state" update >"$state/log" 2>&1 || { cat "$state/log" && return 1; }
  echo "cross: fetching ${libraries[*]}"
  foreign_apt "$state" install --download-only "${libraries[@]}" >"$state/log" 2>&1 ||
    { cat "$state/log" && return 1; }
  for archive in "$state"/cache/archives/*.deb; do
    case "${archive##*/}" in
      libc6* | libc-* | libgcc* | libstdc++* | gcc-* | linux-libc* | libcrypt* | debconf* | perl*) ;;
      *) dpkg-deb -x "$archive" "$root.part" ;;
    esac
  done
  merge_lib "$root.part"
  rm -rf "$state"
  mv "$root.part" "$root"
}

# Moves $1/lib into $1/usr/lib, as on an installed system, and mends links to absolute paths.
merge_lib() {
  local link target
  if [ -d "$1/lib" ]; then
    cp -a "$1/lib/." "$1/usr/lib/"
    rm -rf "${1:?}/lib"
  fi
  find "$1/usr/lib" -type l -lname '/*' | while read -r link; do
    target=$(basename "$(readlink "$link")")
    if [ -e "$(dirname "$link")/$target" ]; then ln -sf "$target" "$link"; fi
  done
}

run() {
  if [ ! -d "$root" ]; then unpack_root || return 1; fi
  configure aarch64 -DRECPACK_WERROR="${RECPACK_WERROR:-ON}" >/dev/null || return 1
  build aarch64
}

check "build (aarch64)" run
if [ "$failed" = 0 ]; then
  passed=0
  counted "tests (aarch64, emulated)" run_ctest aarch64 "$@"
fi
finish
