# Compiler settings that every target of this project shares.
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(RECPACK_CCACHE ccache)
if(RECPACK_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # What precompiled headers need of ccache, by its manual: they are named by options, and seen whole.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${RECPACK_CCACHE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
  else()
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  endif()
endif()

add_library(recpack_flags INTERFACE)
# Multiply and add stay two roundings on every machine, so that results do not depend on the CPU.
set(recpack_cxx_flags -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion
                      -Wno-missing-field-initializers -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # std::string's functions draw false warnings from GCC 12 (its bug 105651), with precompiled headers more of them.
  list(APPEND recpack_cxx_flags -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
endif()
set(recpack_cuda_flags -fmad=false --expt-relaxed-constexpr
                       -Xcompiler=-Wall,-Wextra,-Wno-missing-field-initializers,-ffp-contract=off)
if(RECPACK_WERROR)
  list(APPEND recpack_cxx_flags -Werror)
  list(APPEND recpack_cuda_flags -Werror=all-warnings)
endif()
target_compile_options(recpack_flags INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${recpack_cxx_flags}>"
                       "$<$<COMPILE_LANGUAGE:CUDA>:${recpack_cuda_flags}>")
if(RECPACK_SANITIZE)
  add_compile_options(-fsanitize=${RECPACK_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${RECPACK_SANITIZE})
endif()
