#!/usr/bin/env bash
# Cross-builds the data modules for aarch64 and runs their tests in an emulator.
set -euo pipefail
export RECPACK_TEST_SECONDS=${RECPACK_TEST_SECONDS:-900}  # in an emulator
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$repository/tools/foreign_packages.sh"

usage() {
  cat <<'END'
usage: tools/cross_aarch64.sh [CTEST_ARGUMENTS...]

Builds base, record, example, image, audio and kernels with their tests for aarch64 and runs the tests
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

run() {
  if [ "$(cat "$root/packages" 2>/dev/null)" != "${libraries[*]}" ]; then
    # Without the C and C++ libraries, which the cross compiler brings.
    unpack_foreign "$root" '^(libc6|libc-|libgcc|libstdc\+\+|gcc-|linux-libc|libcrypt|debconf|perl)' "${libraries[@]}" || return 1
    echo "${libraries[*]}" >"$root/packages"
  fi
  configure aarch64 -DRECPACK_WERROR="${RECPACK_WERROR:-ON}" >/dev/null || return 1
  build aarch64
}

check "build (aarch64)" run
if [ "$failed" = 0 ]; then
  passed=0
  counted "tests (aarch64, emulated)" run_ctest aarch64 "$@"
fi
finish
