# AVIF and TIFF are rare, and their libraries bring ten others: programs load them at the first such picture, by the
# name of the version whose headers they were compiled with. Where there are archives only, as for portable wheels, one
# library of our own has them all, recpack_pictures, which lies where programs look for theirs.
#
# Defines recpack_rare_images: include folders, and the libraries' names.
add_library(recpack_rare_images INTERFACE)
set(recpack_picture_archives)

function(recpack_rare_image name header library)
  find_path(RECPACK_${name}_HEADERS ${header} REQUIRED)
  find_library(RECPACK_${name}_FILE ${library} REQUIRED)
  mark_as_advanced(RECPACK_${name}_HEADERS RECPACK_${name}_FILE)
  target_include_directories(recpack_rare_images SYSTEM INTERFACE ${RECPACK_${name}_HEADERS})
  get_filename_component(file ${RECPACK_${name}_FILE} REALPATH)
  if(file MATCHES "\\.a$")
    set(recpack_picture_archives ${recpack_picture_archives} ${file} PARENT_SCOPE)
    set(loaded librecpack_pictures.so)
  else()
    string(REGEX MATCH "[^/]*\\.so\\.[0-9]+" loaded ${file})
    string(REPLACE ".so." "" package ${loaded})  # as Debian names it
    set(RECPACK_${name}_PACKAGE ${package} PARENT_SCOPE)
  endif()
  target_compile_definitions(recpack_rare_images INTERFACE RECPACK_${name}_LIBRARY="${loaded}")
endfunction()

recpack_rare_image(AVIF avif/avif.h avif)
recpack_rare_image(TIFF tiffio.h tiff)

if(recpack_picture_archives)
  # It shows the functions that are looked up, and has what they need.
  set(shown)
  set(wanted)
  foreach(source avif/avif_library.cc tiff/tiff_library.cc)
    file(STRINGS ${CMAKE_CURRENT_SOURCE_DIR}/src/image/${source} lines REGEX "RECPACK_FIND\\([a-z_]+, [A-Za-z0-9]+\\);")
    list(TRANSFORM lines REPLACE ".*, ([A-Za-z0-9]+)\\);" "\\1")
    foreach(function ${lines})
      string(APPEND shown "${function}; ")
      list(APPEND wanted -Wl,-u,${function})
    endforeach()
  endforeach()
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/pictures/exports.map "{ global: ${shown}local: *; };\n")
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/pictures/pictures.cc "")
  add_library(recpack_pictures SHARED ${CMAKE_CURRENT_BINARY_DIR}/pictures/pictures.cc)
  target_link_options(recpack_pictures PRIVATE ${wanted}
    -Wl,--version-script=${CMAKE_CURRENT_BINARY_DIR}/pictures/exports.map)
  target_link_libraries(recpack_pictures PRIVATE ${recpack_picture_archives})
  foreach(archive dav1d webp zstd lzma jpeg z)  # what those need
    find_library(RECPACK_${archive}_ARCHIVE ${archive} REQUIRED)
    mark_as_advanced(RECPACK_${archive}_ARCHIVE)
    target_link_libraries(recpack_pictures PRIVATE ${RECPACK_${archive}_ARCHIVE})
  endforeach()
endif()
