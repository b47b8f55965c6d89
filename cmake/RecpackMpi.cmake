# RECPACK_MPI says whether processes may be connected by MPI: RECPACK_HAVE_MPI tells what came of it.
# auto leaves it out of builds with sanitizers, as MPI libraries leak.
include(RecpackWish)
recpack_wish(MPI "Build collectives over MPI: auto (where it is found)")
if(recpack_wish STREQUAL "auto" AND
   (RECPACK_ONLY_DATA_MODULES OR RECPACK_SANITIZE OR CMAKE_CROSSCOMPILING))
  set(recpack_wish off)
endif()
if(recpack_wish STREQUAL "off")
  message(STATUS "MPI: off")
  return()
endif()

# The C interface is the one that MPI libraries agree on; CMake looks for it where there is C.
include(CheckLanguage)
check_language(C)
if(CMAKE_C_COMPILER)
  enable_language(C)
  find_package(MPI COMPONENTS C)
endif()
if(MPI_C_FOUND)
  set(RECPACK_HAVE_MPI ON)
  message(STATUS "MPI: ${MPI_C_VERSION}")
elseif(recpack_wish STREQUAL "on")
  message(FATAL_ERROR "RECPACK_MPI is on, but no MPI was found; install libopenmpi-dev, or name its "
                      "compiler wrapper with MPI_C_COMPILER")
else()
  message(STATUS "MPI: not found")
endif()
