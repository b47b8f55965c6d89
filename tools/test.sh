#!/usr/bin/env bash
# Builds recpack and runs its tests, setting up what is missing.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'END'
usage: tools/test.sh [--preset NAME] [--interop] [--no-setup] [-- CTEST_ARGUMENTS...]

Installs what is missing (tools/setup.sh), builds everything and runs all tests. The last line is
`N passed, N failed`; exits 1 if a test failed, 2 on wrong usage.

  --preset NAME  of CMakePresets.json (default: release); asan and tsan run the sanitizers
  --interop      then test against TensorFlow, DALI, WebDataset, Pillow and torchvision, which are
                 installed into environments of their own (several GB; needs the network)
  --no-setup     install nothing
  -- ARGUMENTS   passed on to ctest, such as -R record

  CI=true        in the environment makes warnings errors
  RECPACK_JOBS   in the environment: processes at a time (default: all processors)
END
}

preset=release
interop=no
setup=yes
while [ $# -gt 0 ]; do
  case "$1" in
    --preset) preset=${2:?--preset needs a value} && shift ;;
    --preset=*) preset=${1#*=} ;;
    --interop) interop=yes ;;
    --no-setup) setup=no ;;
    --help | -h) usage && exit 0 ;;
    --) shift && break ;;
    *) usage >&2 && exit 2 ;;
  esac
  shift
done

if [ "$setup" = yes ]; then
  sets=build,test
  if [ "$interop" = yes ]; then sets+=,interop; fi
  bash "$repository/tools/setup.sh" --for "$sets"
fi

werror=OFF
if [ "${CI:-false}" = true ]; then werror=ON; fi
prepare() { configure "$preset" -DRECPACK_BUILD_TESTS=ON -DRECPACK_WERROR=$werror && build "$preset"; }

check "build ($preset)" prepare
if [ "$failed" = 0 ]; then
  # The build is no test: only what the tests say is counted.
  passed=0
  counted "tests ($preset)" run_ctest "$preset" "$@"
  if [ "$interop" = yes ] && [ -e "$repository/tests/interop/run.sh" ]; then
    counted "interop" bash "$repository/tests/interop/run.sh" "$repository/build/$preset"
  fi
fi
finish
