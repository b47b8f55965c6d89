# RECPACK_HAVE_NCCL: NCCL's header is there, beside CUDA's. The library is loaded at run time: by
# its name, or else from where it was found here.
set(RECPACK_HAVE_NCCL OFF)
if(NOT RECPACK_HAVE_CUDA)
  return()
endif()
find_path(RECPACK_NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
find_file(RECPACK_NCCL_LIBRARY libnccl.so.2 HINTS ${CUDAToolkit_LIBRARY_DIR}
          PATH_SUFFIXES lib lib64 lib/${CMAKE_LIBRARY_ARCHITECTURE})
mark_as_advanced(RECPACK_NCCL_INCLUDE_DIR RECPACK_NCCL_LIBRARY)
if(NOT RECPACK_NCCL_LIBRARY)
  set(RECPACK_NCCL_LIBRARY "")
endif()
if(RECPACK_NCCL_INCLUDE_DIR)
  set(RECPACK_HAVE_NCCL ON)
endif()
message(STATUS "NCCL: ${RECPACK_NCCL_INCLUDE_DIR}")
