# Install rules and the exported package: find_package(recpack), target recpack::recpack.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(modules GLOBAL PROPERTY RECPACK_MODULES)
get_property(device_modules GLOBAL PROPERTY RECPACK_DEVICE_MODULES)
add_library(recpack INTERFACE)
add_library(recpack::recpack ALIAS recpack)
target_link_libraries(recpack INTERFACE ${modules})
if(NOT RECPACK_INSTALL)
  return()
endif()

install(TARGETS recpack ${modules} ${device_modules} EXPORT recpackTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET recprobe_inject)
  install(TARGETS recprobe_inject LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/recpack)
endif()
install(DIRECTORY include/recpack DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT recpackTargets NAMESPACE recpack:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/recpack)
configure_package_config_file(cmake/recpackConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/recpackConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/recpack)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/recpackConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/recpackConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/recpackConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/recpack)
