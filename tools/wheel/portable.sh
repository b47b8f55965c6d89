# Sets up a build by scikit-build-core for another machine: sourced by tools/wheel.sh, which has set `arch`.
# shellcheck shell=bash disable=SC2154

unset CC CXX
RECPACK_WHEEL_COMPILERS=$(bash "$repository/tools/wheel/compilers.sh" "$arch" | tail -n 1)
RECPACK_WHEEL_LIBRARIES=$(bash "$repository/tools/wheel/libraries.sh" "$arch" "$RECPACK_WHEEL_COMPILERS" | tail -n 1)
export RECPACK_WHEEL_ARCH=$arch RECPACK_WHEEL_COMPILERS RECPACK_WHEEL_LIBRARIES
export CCACHE_COMPILERTYPE=clang
export CMAKE_TOOLCHAIN_FILE=$repository/tools/wheel/toolchain.cmake
# One folder for all Pythons, since only the module differs; what CMake found for another Python is forgotten.
export SKBUILD_BUILD_DIR=build/portable-${RECPACK_WHEEL_LIBRARIES##*/}
rm -f "$repository/$SKBUILD_BUILD_DIR/CMakeCache.txt"
export _PYTHON_HOST_PLATFORM=linux-$arch
suffix=$("$python" -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')
export SETUPTOOLS_EXT_SUFFIX=${suffix/$(uname -m)/$arch}
# The module for another machine cannot be imported here, to write its stub.
if [ "$arch" != "$(uname -m)" ]; then
  stub=$(find "$repository/build" -path "*/portable-$(uname -m)-*/python/_core.pyi" -printf '%T@ %p\n' | sort -n | tail -n 1)
  if [ -z "$stub" ]; then
    echo "wheel: first build the one for this machine: its stub is that of $arch, too" >&2
    exit 1
  fi
  SKBUILD_CMAKE_DEFINE="${SKBUILD_CMAKE_DEFINE:+$SKBUILD_CMAKE_DEFINE;}RECPACK_PYTHON_STUB=${stub#* }"
  export SKBUILD_CMAKE_DEFINE
fi
