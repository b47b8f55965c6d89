#!/usr/bin/env bash
# Tests the portable wheels for aarch64, in an emulator; and, with --made, on the oldest systems that can be had.
#
#   bash tests/python/foreign_wheels.sh [--made] [FOLDER]     FOLDER: wheels that are built (default: dist/release)
#
# Without --made that is one wheel, on Debian's Python 3.11. With it, each other on one Python, which
# tests/python/made_python.sh makes, with Debian 11's libraries (glibc 2.31); and one for x86-64 on Ubuntu 20.04 (glibc
# 2.31), which needs root and debootstrap. The last line is `N passed, N failed`.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$here/unpacked_wheels.sh"

made=no
if [ "${1:-}" = --made ]; then made=yes && shift; fi
wheels=${1:-$repository/dist/release}
work=$repository/build/python/foreign
mkdir -p "$work"
if ! command -v qemu-aarch64 >/dev/null; then
  echo "NOT TESTED: aarch64, which needs qemu-user"
  finish
  exit
fi
# What packs the data of tests: it has to be of this machine.
recpack=$work/x86_64/recpack_io/bin/recpack
check "python: the wheel of this machine" unpack_for "$work/x86_64" "$(wheel_of "$wheels" cp312-abi3 x86_64)" 3.12 x86_64

# emulated SYSTEM SITE COMMAND...: with a system's libraries and an unpacked wheel.
emulated() {
  timeout 600 qemu-aarch64 -L "$1" -E LD_LIBRARY_PATH="$1/usr/lib/aarch64-linux-gnu" -E RECPACK="$recpack" \
    -E PYTHONPATH="$repository/tests/interop:$2" -E RECPACK_ENVIRONMENT=aarch64 -E RECPACK_EMULATED=1 "${@:3}"
}

# tested_emulated LABEL SYSTEM PYTHON WHEEL VERSION [ABI]: what starts other programs is left out, for they would be of
# this machine.
tested_emulated() {
  local site=$work/site name
  check "python: aarch64 with the wheel for $1" unpack_for "$site" "$4" "$5" aarch64 "${6:-}"
  for name in loading views arguments writing threads; do
    counted "python: $name, aarch64, $1" emulated "$2" "$site" "$3" -B "$here/test_$name.py"
  done
  check "python: recpack, aarch64, $1" emulated "$2" "$site" "$site/recpack_io/bin/recpack" --version
}

if ! [ -e "$work/debian/usr/bin/python3.11" ]; then
  check "python: Debian for aarch64" unpack_foreign "$work/debian" '^debconf' python3.11 libstdc++6
fi
tested_emulated 3.11 "$work/debian" "$work/debian/usr/bin/python3.11" "$(wheel_of "$wheels" cp311-cp311 aarch64)" 3.11

if [ "$made" = yes ]; then
  # The oldest release of Debian whose packages are still served.
  old=$work/debian-11
  if ! [ -e "$old" ]; then
    FOREIGN_RELEASE="debian bullseye" check "python: Debian 11 for aarch64" unpack_foreign "$old" '^debconf' libc6 libstdc++6 zlib1g
  fi
  while read -r version kind tags abi <&3; do
    options=()
    if [ "$kind" = free-threaded ]; then options=(--free-threaded); fi
    python=$(bash "$here/made_python.sh" "$version" "${options[@]}" --for aarch64 | tail -n 1)
    tested_emulated "$version $kind" "$old" "$python" "$(wheel_of "$wheels" "$tags" aarch64)" "$version" "$abi"
  done 3<<'END'
3.10 locked cp310-cp310
3.14 locked cp312-abi3
3.13 free-threaded cp313-cp313t cp313t
3.14 free-threaded cp314-cp314t cp314t
END

  ubuntu=$work/ubuntu
  if can_have_ubuntu; then
    python=$(bash "$here/made_python.sh" 3.14 --for x86_64 | tail -n 1)
    check "python: Ubuntu 20.04" make_ubuntu "$ubuntu" focal
    mkdir -p "$ubuntu"
    cp -r "${python%/bin/*}" "$ubuntu/python"
    check "python: Ubuntu 20.04 with the wheel" unpack_for "$ubuntu/site" "$(wheel_of "$wheels" cp312-abi3 x86_64)" 3.14 x86_64
    for name in "${bare_names[@]}"; do
      # pip has installed no programs and nothing to build by; and that Python has neither ctypes nor ssl.
      if [[ " programs user_programs dlio notebook migrate dlpack urls " == *" $name "* ]]; then continue; fi
      counted "python: $name, Ubuntu 20.04" on_ubuntu "$ubuntu" /python/bin/python3 -B "/repository/tests/python/test_$name.py"
    done
    check "python: recpack, Ubuntu 20.04" on_ubuntu "$ubuntu" /site/recpack_io/bin/recpack --version
    rm -rf "$ubuntu"
  else
    echo "NOT TESTED: Ubuntu 20.04, which needs root and debootstrap"
  fi
fi
finish
