# RECPACK_ONEDNN says whether the trainer is built: RECPACK_HAVE_ONEDNN tells what came of it.
# Version 3 is needed: Debian 12 has 2.6, so tools/setup.sh brings one to .onednn, which goes first.
include(RecpackWish)
recpack_wish(ONEDNN "Build the trainer: auto (where oneDNN 3 is found)")
if(recpack_wish STREQUAL "off" OR RECPACK_ONLY_DATA_MODULES)
  message(STATUS "oneDNN: off")
  return()
endif()

find_path(RECPACK_ONEDNN_INCLUDE oneapi/dnnl/dnnl_version.h
          HINTS ${CMAKE_CURRENT_SOURCE_DIR}/.onednn/include)
find_library(RECPACK_ONEDNN_LIBRARY dnnl HINTS ${CMAKE_CURRENT_SOURCE_DIR}/.onednn/lib)
mark_as_advanced(RECPACK_ONEDNN_INCLUDE RECPACK_ONEDNN_LIBRARY)
set(recpack_onednn_version 0)
if(RECPACK_ONEDNN_INCLUDE AND RECPACK_ONEDNN_LIBRARY)
  file(STRINGS ${RECPACK_ONEDNN_INCLUDE}/oneapi/dnnl/dnnl_version.h recpack_onednn_lines
       REGEX "define DNNL_VERSION_(MAJOR|MINOR|PATCH)")
  string(REGEX REPLACE "[^0-9]*([0-9]+)[^0-9]*([0-9]+)[^0-9]*([0-9]+).*" "\\1.\\2.\\3"
         recpack_onednn_version "${recpack_onednn_lines}")
endif()
if(recpack_onednn_version VERSION_GREATER_EQUAL 3)
  add_library(recpack_onednn INTERFACE)
  target_include_directories(recpack_onednn SYSTEM INTERFACE ${RECPACK_ONEDNN_INCLUDE})
  target_link_libraries(recpack_onednn INTERFACE ${RECPACK_ONEDNN_LIBRARY})
  set(RECPACK_HAVE_ONEDNN ON)
  message(STATUS "oneDNN: ${recpack_onednn_version}, ${RECPACK_ONEDNN_LIBRARY}")
elseif(recpack_wish STREQUAL "on")
  message(FATAL_ERROR "RECPACK_ONEDNN is on, but no oneDNN 3 was found (version "
                      "${recpack_onednn_version}); run tools/setup.sh")
else()
  message(STATUS "oneDNN: none of version 3 found; the trainer is not built")
endif()
