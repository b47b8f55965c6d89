#!/usr/bin/env bash
# Builds the libraries of portable wheels as archives, for one architecture, from pinned sources.
#
#   bash tools/wheel/libraries.sh x86_64|aarch64 COMPILERS
#
# COMPILERS is a folder with cc, c++, ar, ranlib and meson (tools/wheel/compilers.sh). Needs cmake, ninja, make and perl; for
# x86-64 also nasm, for aarch64 GNU's cross compiler, to assemble. What was built once is kept in ~/.cache/recpack/wheel.
# The last line is the folder with include/ and lib/.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../common.sh"

arch=$1 compilers=$2
cache=${XDG_CACHE_HOME:-$HOME/.cache}/recpack/wheel
recipe=$(cat "$here/sources.txt" "$here/libraries.sh" "$compilers/recipe" | grep -v '^ *#' | sha256sum | cut -c1-16)
prefix=$cache/$arch-$recipe
if [ -e "$prefix/complete" ]; then
  echo "$prefix"
  exit 0
fi
rm -rf "$cache/$arch"-*  # of other versions, too
mkdir -p "$prefix"/{include,lib/pkgconfig} "$cache/sources"
work=$(mktemp -d)
ended() {
  if [ "$1" != 0 ] && [ -e "$work/log" ]; then tail -n 40 "$work/log" >&2; fi
  rm -rf "$work"
}
trap 'ended $?' EXIT
export PATH=$compilers:$PATH CC=$compilers/cc CXX=$compilers/c++ AR=$compilers/ar RANLIB=$compilers/ranlib
export PKG_CONFIG_LIBDIR=$prefix/lib/pkgconfig PKG_CONFIG_PATH='' CFLAGS='-O2 -fPIC -g0' CXXFLAGS='-O2 -fPIC -g0'

# Unpacks the pinned source $1 into $work/$1.
fetch() {
  local version digest path file
  read -r version digest path < <(sed -n "s/^$1 //p" "$here/sources.txt")
  file=$cache/sources/${path##*/}
  if ! [ -e "$file" ]; then
    local host=http://deb.debian.org
    if [[ $path == ubuntu/* ]]; then host=http://archive.ubuntu.com; fi
    curl -sSfL --retry 3 -o "$file.part" "$host/${path//+/%2b}"
    if ! sha256sum --quiet -c <<<"$digest  $file.part"; then
      echo "wheel: $host/$path is not the pinned $1 $version" >&2
      return 1
    fi
    mv "$file.part" "$file"
  fi
  mkdir -p "$work/$1"
  tar -xf "$file" -C "$work/$1" --strip-components=1
}

# with_cmake NAME[/FOLDER] ARGUMENTS...
with_cmake() {
  local name=${1%%/*}
  fetch "$name"
  cmake -S "$work/$1" -B "$work/$name/out" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$prefix" \
    -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_FIND_ROOT_PATH="$prefix" \
    -DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY \
    -DCMAKE_FIND_ROOT_PATH_MODE_PACKAGE=ONLY -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR="$arch" \
    -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX" -DCMAKE_AR="$AR" -DCMAKE_RANLIB="$RANLIB" \
    -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DBUILD_SHARED_LIBS=OFF -DCMAKE_POLICY_VERSION_MINIMUM=3.5 \
    -DBUILD_TESTING=OFF "${@:2}"
  cmake --build "$work/$name/out" --parallel "$jobs"
  cmake --install "$work/$name/out"
}

bzip2() {
  fetch bzip2
  (cd "$work/bzip2" && make -j "$jobs" CC="$CC" AR="$AR" RANLIB="$RANLIB" CFLAGS="$CFLAGS -D_FILE_OFFSET_BITS=64" libbz2.a)
  cp "$work/bzip2/libbz2.a" "$prefix/lib/"
  cp "$work/bzip2/bzlib.h" "$prefix/include/"
}

isal() {
  fetch isal
  local assembler=nasm
  if [ "$arch" = aarch64 ]; then assembler="aarch64-linux-gnu-gcc -D__ASSEMBLY__"; fi  # not clang's dialect
  (cd "$work/isal" && make -f Makefile.unx -j "$jobs" host_cpu="$arch" CC="$CC" AS="$assembler" AR="$AR" DEBUG=-fPIC lib)
  cp "$work/isal/bin/isa-l.a" "$prefix/lib/libisal.a"
  mkdir -p "$prefix/include/isa-l"
  cp "$work/isal/include"/*.h "$prefix/include/isa-l/"
  printf 'Name: libisal\nDescription: ISA-L\nVersion: 2.30.0\nLibs: -L%s/lib -lisal\nCflags: -I%s/include\n' \
    "$prefix" "$prefix" >"$prefix/lib/pkgconfig/libisal.pc"
}

liburing() {
  fetch liburing
  (cd "$work/liburing" && ./configure --prefix="$prefix" --cc="$CC" --cxx="$CXX" &&
    make -j "$jobs" -C src liburing.a ENABLE_SHARED=0 CC="$CC" AR="$AR" RANLIB="$RANLIB" &&
    make liburing.pc)
  cp "$work/liburing/src/liburing.a" "$prefix/lib/"
  cp -r "$work/liburing/src/include"/* "$prefix/include/"
  cp "$work/liburing/liburing.pc" "$prefix/lib/pkgconfig/"
}

# For SHA-256 alone.
openssl() {
  fetch openssl
  (cd "$work/openssl" && perl Configure "linux-$arch" --prefix="$prefix" no-shared no-tests no-engine no-dso no-async \
    no-autoload-config no-cmp no-cms no-comp no-ct no-deprecated no-ocsp no-srp no-srtp no-ts no-legacy no-ui-console no-aria \
    no-bf no-blake2 no-camellia no-cast no-chacha no-des no-dh no-dsa no-ec no-gost no-idea no-md4 no-mdc2 no-ocb no-poly1305 \
    no-rc2 no-rc4 no-rmd160 no-scrypt no-seed no-siphash no-siv no-sm2 no-sm3 no-sm4 no-whirlpool
  make -s -j "$jobs" build_generated libcrypto.a)
  cp "$work/openssl/libcrypto.a" "$prefix/lib/"
  cp -r "$work/openssl/include/openssl" "$prefix/include/"
}

dav1d() {
  fetch dav1d
  cat >"$work/meson.ini" <<END
[binaries]
c = '$CC'
cpp = '$CXX'
ar = '$AR'
ranlib = '$RANLIB'
strip = 'true'
nasm = 'nasm'
pkg-config = 'pkg-config'
[host_machine]
system = 'linux'
cpu_family = '$arch'
cpu = '$arch'
endian = 'little'
END
  meson setup "$work/dav1d/out" "$work/dav1d" --cross-file "$work/meson.ini" --prefix "$prefix" --libdir lib --buildtype release \
    --default-library static -Denable_tools=false -Denable_tests=false -Db_staticpic=true
  ninja -C "$work/dav1d/out" -j "$jobs" install
}

headers() {
  fetch curl
  cp -r "$work/curl/include/curl" "$prefix/include/"
  with_cmake nlohmann-json -DJSON_BuildTests=OFF
  with_cmake cli11 -DCLI11_BUILD_TESTS=OFF -DCLI11_BUILD_EXAMPLES=OFF -DCLI11_BUILD_DOCS=OFF -DCLI11_SINGLE_FILE=OFF
}

# with_configure NAME ARGUMENTS...
with_configure() {
  fetch "$1"
  (cd "$work/$1" && ./configure "${@:2}" --prefix="$prefix" && make -j "$jobs" && make install)
}

build_all() {
  CHOST=$arch-linux-gnu with_configure zlib --static
  bzip2
  with_configure xz --host="$arch-linux-gnu" --disable-shared --with-pic --disable-nls --disable-doc --disable-scripts --disable-xz \
    --disable-xzdec --disable-lzmadec --disable-lzmainfo
  with_cmake zstd/build/cmake -DZSTD_BUILD_SHARED=OFF -DZSTD_BUILD_PROGRAMS=OFF -DZSTD_BUILD_TESTS=OFF
  isal
  liburing
  openssl
  with_cmake libarchive -DENABLE_TEST=OFF -DENABLE_TAR=OFF -DENABLE_CPIO=OFF -DENABLE_CAT=OFF -DENABLE_OPENSSL=OFF \
    -DENABLE_LIBXML2=OFF -DENABLE_EXPAT=OFF -DENABLE_LZ4=OFF -DENABLE_LIBB2=OFF -DENABLE_ACL=OFF -DENABLE_XATTR=OFF \
    -DENABLE_ICONV=OFF -DENABLE_NETTLE=OFF -DENABLE_MBEDTLS=OFF -DENABLE_PCREPOSIX=OFF -DENABLE_UNZIP=OFF -DENABLE_WERROR=OFF \
    -DENABLE_INSTALL=ON
  with_cmake libjpeg-turbo -DCMAKE_INSTALL_LIBDIR="$prefix/lib" -DENABLE_SHARED=OFF -DWITH_TURBOJPEG=OFF -DREQUIRE_SIMD=ON
  with_cmake libpng -DPNG_SHARED=OFF -DPNG_TESTS=OFF -DPNG_EXECUTABLES=OFF
  with_cmake libwebp -DWEBP_BUILD_ANIM_UTILS=OFF -DWEBP_BUILD_CWEBP=OFF -DWEBP_BUILD_DWEBP=OFF -DWEBP_BUILD_GIF2WEBP=OFF \
    -DWEBP_BUILD_IMG2WEBP=OFF -DWEBP_BUILD_VWEBP=OFF -DWEBP_BUILD_WEBPINFO=OFF -DWEBP_BUILD_WEBPMUX=OFF -DWEBP_BUILD_EXTRAS=OFF
  dav1d
  # Its functions are shown by the library that holds the archive.
  with_cmake libavif -DCMAKE_C_FLAGS="$CFLAGS -DAVIF_DLL -DAVIF_BUILDING_SHARED_LIBS" -DAVIF_CODEC_DAV1D=ON \
    -DAVIF_BUILD_APPS=OFF -DAVIF_BUILD_TESTS=OFF
  with_cmake tiff -Dtiff-tools=OFF -Dtiff-tests=OFF -Dtiff-docs=OFF -Dtiff-contrib=OFF -Djbig=OFF -Dlerc=OFF -Dlibdeflate=OFF \
    -Dcxx=OFF
  with_cmake fmt -DFMT_TEST=OFF -DFMT_DOC=OFF
  with_cmake protobuf -Dprotobuf_BUILD_TESTS=OFF -Dprotobuf_BUILD_PROTOC_BINARIES=OFF -Dprotobuf_WITH_ZLIB=OFF
  headers
}

echo "wheel: building libraries for $arch into $prefix" >&2
(build_all) >"$work/log" 2>&1
rm -rf "$prefix/lib"/*.so* "$prefix"/share/{doc,man,locale} "$prefix/bin"
touch "$prefix/complete"
echo "$prefix"
