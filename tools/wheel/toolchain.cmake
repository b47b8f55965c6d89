# Builds portable wheels by the compilers and against the archives that tools/wheel.sh has made.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR $ENV{RECPACK_WHEEL_ARCH})
set(compilers $ENV{RECPACK_WHEEL_COMPILERS})
set(CMAKE_C_COMPILER ${compilers}/cc)
set(CMAKE_CXX_COMPILER ${compilers}/c++)
set(CMAKE_AR ${compilers}/ar)
set(CMAKE_RANLIB ${compilers}/ranlib)

set(CMAKE_FIND_ROOT_PATH $ENV{RECPACK_WHEEL_LIBRARIES})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)  # nanobind is Python's
set(ENV{PKG_CONFIG_LIBDIR} $ENV{RECPACK_WHEEL_LIBRARIES}/lib/pkgconfig)
set(ENV{PKG_CONFIG_PATH} "")

set(RECPACK_PORTABLE_WHEEL ON)
set(RECPACK_STATIC_DEPENDENCIES ON)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG" CACHE STRING "")  # with which clang vectorises, too
set(CMAKE_C_FLAGS_INIT "-g0 -ffunction-sections -fdata-sections")
set(CMAKE_CXX_FLAGS_INIT "-g0 -ffunction-sections -fdata-sections")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,--gc-sections -s")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-Wl,--gc-sections -s")
set(CMAKE_MODULE_LINKER_FLAGS_INIT "-Wl,--gc-sections -s -Wl,--version-script=${CMAKE_CURRENT_LIST_DIR}/exports.map")
