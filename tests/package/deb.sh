#!/usr/bin/env bash
# Makes the Debian packages, installs them into an empty root, and runs the program in it; then compiles a program
# against its headers and archives.
#
#   bash tests/package/deb.sh
#
# Installed where dpkg runs as root, else unpacked. The last line is `N passed, N failed`.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../tools/common.sh"

made=$repository/build/deb
make_packages() {
  configure deb -DRECPACK_WERROR="${RECPACK_WERROR:-ON}" >/dev/null && build deb && rm -f "$made"/*.deb &&
    (cd "$made" && cpack -G DEB)
}

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
install_packages() {
  if [ "$(id -u)" = 0 ]; then
    mkdir -p "$root/var/lib/dpkg/updates" "$root/var/lib/dpkg/info"
    : >"$root/var/lib/dpkg/status"
    # The dependencies are this machine's.
    dpkg --root="$root" --force-depends --install "$made"/*.deb
  else
    for package in "$made"/*.deb; do dpkg-deb -x "$package" "$root"; done
  fi
}

# Each library that the program needs is of a package that it depends on.
names_what_it_needs() {
  local depends library
  depends=$(dpkg-deb -f "$made"/recpack_*.deb Depends)
  echo "recpack depends on $depends"
  for library in libarchive13 libc6 libfmt libjpeg libpng16 libprotobuf libssl libstdc++6 zlib1g; do
    grep -qF "$library" <<<"$depends" || return 1
  done
}

version=$(sed -nE 's/^project\(recpack VERSION ([0-9.]+).*/\1/p' "$repository/CMakeLists.txt")
says_version() { [ "$("$root/usr/bin/$1" --version)" = "$version" ]; }

compiles() {
  local flags packages
  packages=$(dirname "$(find "$root" -name recpack.pc)")
  flags=$(PKG_CONFIG_PATH=$packages pkg-config --cflags --libs recpack)
  # shellcheck disable=SC2086
  c++ -std=c++20 "$repository/tests/package/outside/main.cc" $flags -o "$root/outside" &&
    "$root/outside" "$root/shard.tfrecord"
}

check "deb: packages are made" make_packages
check "deb: packages are installed" install_packages
check "deb: dependencies" names_what_it_needs
check "deb: recpack runs" says_version recpack
check "deb: recprobe runs" says_version recprobe
check "deb: a program is compiled" compiles
finish
