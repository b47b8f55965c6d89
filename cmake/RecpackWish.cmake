# recpack_wish(NAME DOC): the option RECPACK_NAME, auto, on or off. Sets RECPACK_HAVE_NAME to OFF, for
# the caller to say what comes of it, and recpack_wish to the choice in lower case.
macro(recpack_wish name doc)
  set(RECPACK_${name} auto CACHE STRING "${doc}, on or off")
  set_property(CACHE RECPACK_${name} PROPERTY STRINGS auto on off)
  if(NOT RECPACK_${name} MATCHES "^(auto|on|off|ON|OFF)$")
    message(FATAL_ERROR "RECPACK_${name} is '${RECPACK_${name}}'; choose auto, on or off")
  endif()
  set(RECPACK_HAVE_${name} OFF)
  string(TOLOWER "${RECPACK_${name}}" recpack_wish)
endmacro()
