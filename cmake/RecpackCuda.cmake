# RECPACK_CUDA says whether the CUDA half is built: RECPACK_HAVE_CUDA tells what came of it. It is
# compiled for RECPACK_CUDA_ARCHITECTURES: code for Hopper and, for all others from Turing on, PTX
# that the driver compiles when it is first used. It links the static runtime and never the driver:
# programs start on machines without one.
include(CheckLanguage)
include(RecpackWish)
recpack_wish(CUDA "Build the CUDA half: auto (where a compiler is found)")
set(RECPACK_CUDA_ARCHITECTURES 90-real 75-virtual CACHE STRING "As CMAKE_CUDA_ARCHITECTURES")
if(recpack_wish STREQUAL "auto" AND
   (RECPACK_ONLY_DATA_MODULES OR RECPACK_SANITIZE OR CMAKE_CROSSCOMPILING))
  set(recpack_wish off)
endif()
if(recpack_wish STREQUAL "off")
  message(STATUS "CUDA: off")
  return()
endif()

# What tools/setup.sh --cuda brought, where the machine has no compiler of its own.
find_program(RECPACK_NVCC nvcc PATHS ENV PATH NO_DEFAULT_PATH)
mark_as_advanced(RECPACK_NVCC)
set(recpack_own_nvcc ${CMAKE_CURRENT_SOURCE_DIR}/.cuda/toolkit/bin/nvcc)
if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX} AND NOT RECPACK_NVCC AND
   EXISTS ${recpack_own_nvcc})
  set(CMAKE_CUDA_COMPILER ${recpack_own_nvcc})
endif()
check_language(CUDA)
if(CMAKE_CUDA_COMPILER)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES ${RECPACK_CUDA_ARCHITECTURES})
  endif()
  if(RECPACK_CCACHE AND NOT CMAKE_CUDA_COMPILER_LAUNCHER)
    set(CMAKE_CUDA_COMPILER_LAUNCHER ${RECPACK_CCACHE})
  endif()
  enable_language(CUDA)
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  set(CMAKE_CUDA_EXTENSIONS OFF)
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)  # CMake 3.25 does not know it of nvcc
  endif()
  find_package(CUDAToolkit REQUIRED)
  set(RECPACK_HAVE_CUDA ON)
  message(STATUS "CUDA: ${CMAKE_CUDA_COMPILER_VERSION} for ${CMAKE_CUDA_ARCHITECTURES}")
elseif(recpack_wish STREQUAL "on")
  message(FATAL_ERROR "RECPACK_CUDA is on, but no CUDA compiler was found; name one with "
                      "CMAKE_CUDA_COMPILER or the CUDACXX environment variable")
else()
  message(STATUS "CUDA: no compiler found; the host half is built")
endif()
