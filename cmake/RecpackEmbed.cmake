# recpack_embed(OUTPUT VARIABLE FOLDER files...): OUTPUT, a generated .cc, holds the texts of the files
# in FOLDER as an array of recpack::probe::EmbeddedFile (src/probe/util/embedded_file.h) named VARIABLE.
function(recpack_embed output variable folder)
  set(files ${ARGN})
  list(TRANSFORM files PREPEND ${folder}/ OUTPUT_VARIABLE paths)
  string(REPLACE ";" "," names "${files}")
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DVARIABLE=${variable} -DFOLDER=${folder}
            -DFILES=${names} -P ${PROJECT_SOURCE_DIR}/cmake/RecpackEmbed.cmake
    DEPENDS ${paths} ${PROJECT_SOURCE_DIR}/cmake/RecpackEmbed.cmake
    VERBATIM)
endfunction()

# As a script: writes OUTPUT.
if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  set(text "// Made by cmake/RecpackEmbed.cmake.\n#include \"src/probe/util/embedded_file.h\"\n\n")
  string(APPEND text "namespace recpack::probe {\nconst std::vector<EmbeddedFile>& ${VARIABLE}() {\n")
  string(APPEND text "  static const std::vector<EmbeddedFile> files = {\n")
  string(REPLACE "," ";" files "${FILES}")
  foreach(name IN LISTS files)
    file(READ ${FOLDER}/${name} content)
    string(APPEND text "      {\"${name}\", R\"embedded(${content})embedded\"},\n")
  endforeach()
  string(APPEND text "  };\n  return files;\n}\n}  // namespace recpack::probe\n")
  file(WRITE ${OUTPUT} "${text}")
endif()
