# Debian packages, by `cpack -G DEB` in a build of the preset deb: recpack has the programs, librecpack-dev headers,
# archives and the packages of CMake and pkg-config.
if(NOT RECPACK_INSTALL OR NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()
set(CPACK_PACKAGE_NAME recpack)
set(CPACK_PACKAGE_CONTACT "Recpack <recpack@localhost>" CACHE STRING "Maintainer of the packages")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_CURRENT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL programs development)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_NAME recpack)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SECTION utils)
# Loaded at the first URL, export of Nsight Systems, AVIF and TIFF.
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_RECOMMENDS "libcurl4, libsqlite3-0, ${RECPACK_AVIF_PACKAGE}, ${RECPACK_TIFF_PACKAGE}")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME librecpack-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "libarchive-dev, libfmt-dev, libisal-dev, libjpeg-dev, libpng-dev, libwebp-dev, libprotobuf-dev, libssl-dev, nlohmann-json3-dev, \
pkg-config, zlib1g-dev")
if(LIBURING_FOUND)
  string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", liburing-dev")
endif()
include(CPack)
