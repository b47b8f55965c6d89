# Builds and runs the outside project of this folder. WAY is `installed` (find_package) or `fetched`
# (FetchContent); see CMakeLists.txt for the other variables.
set(work ${WORK}/${WAY})
file(REMOVE_RECURSE ${work})
file(MAKE_DIRECTORY ${work})

if(WAY STREQUAL installed)
  execute_process(COMMAND ${CMAKE_COMMAND} --install ${RECPACK_BUILD} --prefix ${work}/prefix
                  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  if(TOOLS)
    execute_process(COMMAND ${work}/prefix/bin/recpack --version COMMAND_ERROR_IS_FATAL ANY)
  endif()
  set(where -DCMAKE_PREFIX_PATH=${work}/prefix)
else()
  # It is all compiled again: what is cheap to compile shows as much.
  set(where -DFETCHCONTENT_SOURCE_DIR_RECPACK=${RECPACK_SOURCE} -DRECPACK_ONLY_DATA_MODULES=ON)
  set(BUILD_TYPE Debug)
endif()

execute_process(
  COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/outside -B ${work}/build -G ${GENERATOR}
          -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}
          -DCMAKE_BUILD_TYPE=${BUILD_TYPE} ${where}
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${work}/build --parallel 2
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${work}/build/outside ${work}/shard.tfrecord COMMAND_ERROR_IS_FATAL ANY)
# An outside project gets the library alone.
if(EXISTS ${work}/build/_deps/recpack-build/tests)
  message(FATAL_ERROR "recpack's tests were configured inside another project")
endif()
