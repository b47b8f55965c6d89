# RECPACK_HAVE_CUDNN says whether the trainer's CUDA half is built: where there is a CUDA compiler
# and cudnn.h of version 9, in RECPACK_CUDNN_ROOT (a wheel's nvidia/cudnn, say), in the toolkit (as
# tools/setup.sh --cuda lays it out), or where the system has it. cuDNN and cuBLASLt are loaded when a
# device is asked for: programs start where neither they nor a driver are.
set(RECPACK_CUDNN_ROOT "" CACHE PATH "A folder with include/cudnn.h and lib/libcudnn.so.9")
set(RECPACK_HAVE_CUDNN OFF)
if(NOT RECPACK_HAVE_CUDA)
  return()
endif()

find_path(RECPACK_CUDNN_INCLUDE cudnn.h HINTS ${RECPACK_CUDNN_ROOT}/include NO_DEFAULT_PATH)
find_path(RECPACK_CUDNN_INCLUDE cudnn.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
find_library(RECPACK_CUDNN_LIBRARY NAMES libcudnn.so.9 cudnn HINTS ${RECPACK_CUDNN_ROOT}/lib
             ${RECPACK_CUDNN_ROOT}/lib64 NO_DEFAULT_PATH)
find_library(RECPACK_CUDNN_LIBRARY NAMES libcudnn.so.9 cudnn HINTS ${CUDAToolkit_LIBRARY_DIR})
mark_as_advanced(RECPACK_CUDNN_INCLUDE RECPACK_CUDNN_LIBRARY)
set(recpack_cudnn_version 0)
if(RECPACK_CUDNN_INCLUDE AND EXISTS ${RECPACK_CUDNN_INCLUDE}/cudnn_version.h)
  file(STRINGS ${RECPACK_CUDNN_INCLUDE}/cudnn_version.h recpack_cudnn_lines
       REGEX "define CUDNN_(MAJOR|MINOR|PATCHLEVEL)")
  string(REGEX REPLACE "[^0-9]*([0-9]+)[^0-9]*([0-9]+)[^0-9]*([0-9]+).*" "\\1.\\2.\\3"
         recpack_cudnn_version "${recpack_cudnn_lines}")
endif()
find_path(RECPACK_CUBLAS_INCLUDE cublasLt.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
mark_as_advanced(RECPACK_CUBLAS_INCLUDE)
if(NOT recpack_cudnn_version VERSION_GREATER_EQUAL 9 OR NOT RECPACK_CUBLAS_INCLUDE)
  message(STATUS "cuDNN: none of version 9 found; the trainer is built for CPUs")
  return()
endif()

# Headers alone; where the libraries are is remembered, for machines whose loader does not know.
set(recpack_cudnn_folder "")
if(RECPACK_CUDNN_LIBRARY)
  cmake_path(GET RECPACK_CUDNN_LIBRARY PARENT_PATH recpack_cudnn_folder)
endif()
add_library(recpack_cudnn INTERFACE)
target_include_directories(recpack_cudnn SYSTEM INTERFACE
  ${RECPACK_CUDNN_INCLUDE} ${RECPACK_CUBLAS_INCLUDE})
target_compile_definitions(recpack_cudnn INTERFACE
  RECPACK_CUDNN_FOLDER="${recpack_cudnn_folder}" RECPACK_CUBLAS_FOLDER="${CUDAToolkit_LIBRARY_DIR}")
set(RECPACK_HAVE_CUDNN ON)
message(STATUS "cuDNN: ${recpack_cudnn_version}, ${recpack_cudnn_folder}")
