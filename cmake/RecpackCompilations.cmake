# Fewer and cheaper compilations: precompiled headers, and several sources of a target compiled as one (unity builds).
# With both a build from nothing takes half of the time. Sources include what they use all the same, and do not rely
# on each other: the builds for clang-tidy and for aarch64 do neither.
option(RECPACK_PRECOMPILED_HEADERS "Precompile the headers of other libraries that most sources include" ${PROJECT_IS_TOP_LEVEL})
option(RECPACK_UNITY_BUILD "Compile several sources of a target as one; OFF: changes of one compile sooner" ${PROJECT_IS_TOP_LEVEL})

# recpack_unity_build(TARGET): lets up to eight sources of a target that lie in one folder be compiled as one. Those with options of
# their own stay alone.
function(recpack_unity_build target)
  if(NOT RECPACK_UNITY_BUILD)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    cmake_path(GET source PARENT_PATH folder)
    string(MAKE_C_IDENTIFIER "in_${folder}" group)
    if(NOT DEFINED count_${group})
      set(count_${group} 0)
    endif()
    math(EXPR part "${count_${group}} / 8")
    math(EXPR count_${group} "${count_${group}} + 1")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group}_${part})
  endforeach()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC takes included sources for headers.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
  endif()
endfunction()

# recpack_precompiled(KIND HEADERS headers... [LINK libraries...]): defines the headers that targets of this KIND have
# precompiled. Called in the folder whose options those targets are compiled with: a precompiled header serves no others.
function(recpack_precompiled kind)
  cmake_parse_arguments(ARG "" "" "HEADERS;LINK" ${ARGN})
  if(NOT RECPACK_PRECOMPILED_HEADERS)
    return()
  endif()
  set(source ${CMAKE_CURRENT_BINARY_DIR}/precompiled_${kind}.cc)
  file(CONFIGURE OUTPUT ${source} CONTENT "// Made by cmake/RecpackCompilations.cmake.\n")
  add_library(recpack_precompiled_${kind} OBJECT ${source})
  target_link_libraries(recpack_precompiled_${kind} PRIVATE ${ARG_LINK} recpack_flags)
  target_precompile_headers(recpack_precompiled_${kind} PRIVATE ${ARG_HEADERS})
endfunction()

# recpack_precompile(TARGET KIND): lets a target use them.
function(recpack_precompile target kind)
  if(NOT RECPACK_PRECOMPILED_HEADERS)
    return()
  endif()
  target_precompile_headers(${target} REUSE_FROM recpack_precompiled_${kind})
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")  # compiled as libraries are, and so as the headers: -fPIC, not -fPIE
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fPIC>)
  endif()
endfunction()

set(RECPACK_STANDARD_HEADERS
  <algorithm> <array> <atomic> <charconv> <chrono> <cmath> <condition_variable> <cstdint> <cstring> <deque> <filesystem>
  <functional> <limits> <map> <memory> <mutex> <numeric> <optional> <set> <span> <string> <string_view> <thread> <utility>
  <variant> <vector>)
