# With RECPACK_STATIC_DEPENDENCIES, third-party libraries come as archives where they exist, so that the
# programs start in half the time: libarchive alone brings ten shared libraries that are never used.
# See docs/decisions/0003-static-dependencies.md.
macro(recpack_prefer_archives)
  if(RECPACK_STATIC_DEPENDENCIES)
    set(recpack_suffixes ${CMAKE_FIND_LIBRARY_SUFFIXES})
    list(PREPEND CMAKE_FIND_LIBRARY_SUFFIXES .a)
    set(OPENSSL_USE_STATIC_LIBS ON)
    set(Protobuf_USE_STATIC_LIBS ON)
  endif()
endmacro()

macro(recpack_prefer_archives_end)
  if(RECPACK_STATIC_DEPENDENCIES)
    set(CMAKE_FIND_LIBRARY_SUFFIXES ${recpack_suffixes})
  endif()
endmacro()

# libarchive.a names nothing that it needs. What the filters and formats in use need is added, and if
# they do not link all the same, the shared library is taken.
function(recpack_complete_libarchive)
  if(NOT RECPACK_STATIC_DEPENDENCIES OR NOT LibArchive_LIBRARY MATCHES "\\.a$")
    return()
  endif()
  set(needed)
  foreach(name zstd lzma bz2)
    find_library(RECPACK_${name}_ARCHIVE lib${name}.a)
    mark_as_advanced(RECPACK_${name}_ARCHIVE)
    if(RECPACK_${name}_ARCHIVE)
      list(APPEND needed ${RECPACK_${name}_ARCHIVE})
    endif()
  endforeach()
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_INCLUDES ${LibArchive_INCLUDE_DIRS})
  set(CMAKE_REQUIRED_LIBRARIES ${LibArchive_LIBRARY} ${needed} ZLIB::ZLIB OpenSSL::Crypto)
  check_cxx_source_compiles("
    #include <archive.h>
    int main() {
      struct archive* a = archive_read_new();
      return archive_read_support_filter_gzip(a) + archive_read_support_filter_zstd(a) +
             archive_read_support_format_tar(a) + archive_read_support_format_raw(a) +
             archive_read_support_format_empty(a) + archive_read_open_memory(a, nullptr, 0);
    }" RECPACK_LIBARCHIVE_ARCHIVE_LINKS)
  if(RECPACK_LIBARCHIVE_ARCHIVE_LINKS)
    target_link_libraries(LibArchive::LibArchive INTERFACE ${needed} ZLIB::ZLIB OpenSSL::Crypto)
  else()
    find_library(RECPACK_LIBARCHIVE_SHARED libarchive.so REQUIRED)
    mark_as_advanced(RECPACK_LIBARCHIVE_SHARED)
    set_target_properties(LibArchive::LibArchive PROPERTIES
                          IMPORTED_LOCATION ${RECPACK_LIBARCHIVE_SHARED})
  endif()
endfunction()
