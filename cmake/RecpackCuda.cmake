# RECPACK_CUDA says whether the CUDA half is wanted. No target is compiled with CUDA yet: kernels/cuda
# and device will be.
include(CheckLanguage)
set(RECPACK_CUDA auto CACHE STRING "Build the CUDA half: auto (where a compiler is found), on or off")
set_property(CACHE RECPACK_CUDA PROPERTY STRINGS auto on off)
if(NOT RECPACK_CUDA MATCHES "^(auto|on|off|ON|OFF)$")
  message(FATAL_ERROR "RECPACK_CUDA is '${RECPACK_CUDA}'; choose auto, on or off")
endif()

string(TOLOWER "${RECPACK_CUDA}" recpack_cuda_wish)
if(recpack_cuda_wish STREQUAL "off" OR RECPACK_ONLY_DATA_MODULES)
  message(STATUS "CUDA: off")
else()
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    message(STATUS "CUDA: found ${CMAKE_CUDA_COMPILER}; nothing is compiled with it yet")
  elseif(recpack_cuda_wish STREQUAL "on")
    message(FATAL_ERROR "RECPACK_CUDA is on, but no CUDA compiler was found; name one with "
                        "CMAKE_CUDA_COMPILER or the CUDACXX environment variable")
  else()
    message(STATUS "CUDA: no compiler found; the host half is built")
  endif()
endif()
