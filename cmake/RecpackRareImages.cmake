# AVIF and TIFF are rare, and their libraries bring ten others: programs load them at the first such picture, by the
# name of the version whose headers they were compiled with. Archives, as portable wheels have them, are linked.
#
# Defines recpack_rare_images: include folders, definitions, and archives where they are linked.
add_library(recpack_rare_images INTERFACE)

# recpack_rare_image(NAME HEADER LIBRARY archives...): archives: those that LIBRARY's own archive needs, by file name.
function(recpack_rare_image name header library)
  find_path(RECPACK_${name}_HEADERS ${header} REQUIRED)
  find_library(RECPACK_${name}_FILE ${library} REQUIRED)
  mark_as_advanced(RECPACK_${name}_HEADERS RECPACK_${name}_FILE)
  target_include_directories(recpack_rare_images SYSTEM INTERFACE ${RECPACK_${name}_HEADERS})
  if(RECPACK_${name}_FILE MATCHES "\\.a$")
    set(needed)
    foreach(archive ${ARGN})
      find_library(RECPACK_${archive}_ARCHIVE ${archive} REQUIRED)
      mark_as_advanced(RECPACK_${archive}_ARCHIVE)
      list(APPEND needed ${RECPACK_${archive}_ARCHIVE})
    endforeach()
    target_compile_definitions(recpack_rare_images INTERFACE RECPACK_LINKED_${name})
    target_link_libraries(recpack_rare_images INTERFACE ${RECPACK_${name}_FILE} ${needed})
    return()
  endif()
  get_filename_component(file ${RECPACK_${name}_FILE} REALPATH)
  string(REGEX MATCH "[^/]*\\.so\\.[0-9]+" versioned ${file})
  target_compile_definitions(recpack_rare_images INTERFACE RECPACK_${name}_LIBRARY="${versioned}")
  string(REPLACE ".so." "" package ${versioned})  # as Debian names it
  set(RECPACK_${name}_PACKAGE ${package} PARENT_SCOPE)
endfunction()

recpack_rare_image(AVIF avif/avif.h avif dav1d)
recpack_rare_image(TIFF tiffio.h tiff webp zstd lzma jpeg z)
