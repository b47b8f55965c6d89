# Cross-builds for aarch64 Linux with Debian's compiler, against the libraries that
# tools/cross_aarch64.sh unpacked into RECPACK_AARCH64_ROOT; qemu runs the tests.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

# A project of CMake's own, made to try the compiler, gets the root from the environment.
if(RECPACK_AARCH64_ROOT)
  set(ENV{RECPACK_AARCH64_ROOT} ${RECPACK_AARCH64_ROOT})
endif()
set(root $ENV{RECPACK_AARCH64_ROOT})

# Libraries and headers are the root's or the cross compiler's, programs (protoc) are this machine's.
set(CMAKE_FIND_ROOT_PATH ${root} /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${root}/usr/lib/aarch64-linux-gnu/pkgconfig:${root}/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${root})

# The root holds no C library: the compiler brings its own.
set(CMAKE_CXX_FLAGS_INIT "-isystem ${root}/usr/include/aarch64-linux-gnu")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,-rpath-link,${root}/usr/lib/aarch64-linux-gnu")
find_program(RECPACK_QEMU qemu-aarch64)
set(CMAKE_CROSSCOMPILING_EMULATOR ${RECPACK_QEMU} -L /usr/aarch64-linux-gnu
    -E LD_LIBRARY_PATH=${root}/usr/lib/aarch64-linux-gnu:/usr/aarch64-linux-gnu/lib)
