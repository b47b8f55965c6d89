# Install rules and the exported package: find_package(recpack) with the target recpack::recpack, and
# pkg-config's recpack. Components: programs, development; python is that of the wheel.
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
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
if(TARGET recprobe_inject)
  install(TARGETS recprobe_inject LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/recpack COMPONENT programs)
endif()
install(DIRECTORY include/recpack DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(EXPORT recpackTargets NAMESPACE recpack:: COMPONENT development
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/recpack)
configure_package_config_file(cmake/recpackConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/recpackConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/recpack)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/recpackConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/recpackConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/recpackConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/recpack COMPONENT development)

# pkg-config: the modules as archives, those that need others first.
set(recpack_pc_libraries ${modules})
list(REVERSE recpack_pc_libraries)
list(TRANSFORM recpack_pc_libraries PREPEND -l)
list(JOIN recpack_pc_libraries " " recpack_pc_libraries)
set(recpack_pc_requires fmt libcrypto zlib protobuf libjpeg libpng libwebp libisal)
if(LIBURING_FOUND)
  list(APPEND recpack_pc_requires liburing)
endif()
if(NOT RECPACK_ONLY_DATA_MODULES)
  list(APPEND recpack_pc_requires libarchive)
endif()
list(JOIN recpack_pc_requires ", " recpack_pc_requires)
file(RELATIVE_PATH recpack_pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/recpack.pc.in ${CMAKE_CURRENT_BINARY_DIR}/recpack.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/recpack.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
