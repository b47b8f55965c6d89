# RECPACK_HAVE_CUPTI: CUPTI's headers are there. The library is loaded at run time: by its name, or else
# from where it was found here.
set(RECPACK_HAVE_CUPTI OFF)
if(NOT RECPACK_HAVE_CUDA)
  return()
endif()
set(hints ${CUDAToolkit_INCLUDE_DIRS} ${CUDAToolkit_LIBRARY_ROOT}/extras/CUPTI)
find_path(RECPACK_CUPTI_INCLUDE_DIR cupti.h HINTS ${hints} PATH_SUFFIXES include)
find_file(RECPACK_CUPTI_LIBRARY NAMES libcupti.so.13 libcupti.so.12
          HINTS ${CUDAToolkit_LIBRARY_DIR} ${CUDAToolkit_LIBRARY_ROOT}/extras/CUPTI
          PATH_SUFFIXES lib64 lib)
mark_as_advanced(RECPACK_CUPTI_INCLUDE_DIR RECPACK_CUPTI_LIBRARY)
if(NOT RECPACK_CUPTI_LIBRARY)
  set(RECPACK_CUPTI_LIBRARY "")
endif()
if(RECPACK_CUPTI_INCLUDE_DIR)
  set(RECPACK_HAVE_CUPTI ON)
endif()
message(STATUS "CUPTI: ${RECPACK_CUPTI_INCLUDE_DIR}")
