# recpack_module(NAME [DEVICE | NOT_INSTALLED] SOURCES ... [DEPENDS modules...] [LINK third-party...])
# One static library a module; public headers in include/recpack/NAME, sources in src/NAME. DEVICE: it
# needs an accelerator's libraries and is no part of recpack::recpack; programs name it. NOT_INSTALLED:
# it is in neither recpack::recpack nor the package.
function(recpack_module name)
  cmake_parse_arguments(ARG "DEVICE;NOT_INSTALLED" "" "SOURCES;DEPENDS;LINK" ${ARGN})
  add_library(recpack_${name} STATIC ${ARG_SOURCES})
  add_library(recpack::${name} ALIAS recpack_${name})
  set_target_properties(recpack_${name} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(recpack_${name} PUBLIC cxx_std_20)
  target_include_directories(recpack_${name}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>
    PRIVATE ${PROJECT_SOURCE_DIR})
  list(TRANSFORM ARG_DEPENDS PREPEND recpack_)
  target_link_libraries(recpack_${name} PUBLIC ${ARG_DEPENDS} PRIVATE ${ARG_LINK}
                        $<BUILD_INTERFACE:recpack_flags>)
  recpack_unity_build(recpack_${name})
  if("fmt::fmt" IN_LIST ARG_LINK)  # whose definitions they were precompiled with
    recpack_precompile(recpack_${name} library)
  endif()
  if(ARG_DEVICE)
    set_property(GLOBAL APPEND PROPERTY RECPACK_DEVICE_MODULES recpack_${name})
  elseif(NOT ARG_NOT_INSTALLED)
    set_property(GLOBAL APPEND PROPERTY RECPACK_MODULES recpack_${name})
  endif()
endfunction()

# recpack_test(MODULE names... [LIBRARY library]): one gtest program a module from
# tests/MODULE/NAME_test.cc, whose cases ctest lists one by one. LIBRARY: of another module's name.
# A case that hangs says where (tests/base/hang_report.cc).
function(recpack_test module)
  cmake_parse_arguments(ARG "" "LIBRARY" "" ${ARGN})
  if(NOT ARG_LIBRARY)
    set(ARG_LIBRARY ${module})
  endif()
  set(sources ${ARG_UNPARSED_ARGUMENTS})
  list(TRANSFORM sources APPEND _test.cc)
  add_executable(${module}_tests ${sources})
  target_include_directories(${module}_tests PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${module}_tests PRIVATE recpack_${ARG_LIBRARY} recpack_flags
                        recpack_golden recpack_hang_report GTest::gmock GTest::gtest_main)
  recpack_unity_build(${module}_tests)
  recpack_precompile(${module}_tests test)
  include(GoogleTest)
  gtest_discover_tests(${module}_tests DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS ${module} ENVIRONMENT OMP_WAIT_POLICY=passive)  # tests share processors
endfunction()
