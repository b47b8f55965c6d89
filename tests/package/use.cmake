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
  set(where -DFETCHCONTENT_SOURCE_DIR_RECPACK=${RECPACK_SOURCE} -DRECPACK_ONLY_DATA_MODULES=ON
            -DRECPACK_UNITY_BUILD=ON)
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

if(NOT WAY STREQUAL installed)
  return()
endif()
# The same program without CMake.
file(GLOB_RECURSE package ${work}/prefix/recpack.pc)
cmake_path(GET package PARENT_PATH packages)
execute_process(COMMAND ${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${packages} pkg-config --cflags --libs recpack
                OUTPUT_VARIABLE flags COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags UNIX_COMMAND "${flags}")
execute_process(COMMAND ${COMPILER} -std=c++20 ${CMAKE_CURRENT_LIST_DIR}/outside/main.cc ${flags} -o ${work}/by_pkg_config
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${work}/by_pkg_config ${work}/shard.tfrecord COMMAND_ERROR_IS_FATAL ANY)
if(NOT TOOLS)
  return()
endif()
# The examples, and that a trainer which was stopped ends up with the same weights.
set(examples ${work}/examples)
execute_process(
  COMMAND ${CMAKE_COMMAND} -S ${RECPACK_SOURCE}/examples -B ${examples} -G ${GENERATOR}
          -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}
          -DCMAKE_BUILD_TYPE=${BUILD_TYPE} ${where}
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${examples} COMMAND_ERROR_IS_FATAL ANY)
execute_process(
  COMMAND ${work}/prefix/bin/recpack pack ${RECPACK_SOURCE}/tests/golden/cifar10/cifar-10-batches-py
          ${work}/shards --splits train,test --quiet
  COMMAND_ERROR_IS_FATAL ANY)

function(train checkpoint)
  execute_process(COMMAND ${examples}/softmax ${work}/shards ${work}/${checkpoint} ${ARGN}
                  OUTPUT_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
  set(said "${said}" PARENT_SCOPE)
endfunction()

train(straight 3)
set(straight "${said}")
train(stopped 3 3)
train(stopped 3 4)
train(stopped 3)
foreach(run straight said)
  if(NOT "${${run}}" MATCHES "epoch 2: loss ([0-9.]+)\nweights ([0-9a-f]+)")
    message(FATAL_ERROR "softmax said: ${${run}}")
  endif()
  set(${run}_end "${CMAKE_MATCH_1} ${CMAKE_MATCH_2}")
endforeach()
if(NOT straight_end STREQUAL said_end)
  message(FATAL_ERROR "stopped and gone on: ${said_end}; without a stop: ${straight_end}")
endif()
if(NOT straight MATCHES "epoch 0: loss ([0-9.]+)" OR NOT "${CMAKE_MATCH_1}" GREATER 0)
  message(FATAL_ERROR "no loss: ${straight}")
endif()
string(REGEX MATCH "epoch 2: loss ([0-9.]+)" last "${straight}")
set(last ${CMAKE_MATCH_1})
string(REGEX MATCH "epoch 0: loss ([0-9.]+)" first "${straight}")
if(NOT last LESS CMAKE_MATCH_1)
  message(FATAL_ERROR "nothing was learned: ${straight}")
endif()
