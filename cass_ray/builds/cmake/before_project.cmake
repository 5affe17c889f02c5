# For recorded builds, read before the first project(): its languages are found by CMake's own means.
include_guard(GLOBAL)

cmake_policy(PUSH)
cmake_policy(SET CMP0054 NEW)

if(CMAKE_TOOLCHAIN_FILE AND NOT EXISTS "${CMAKE_TOOLCHAIN_FILE}")
  unset(CMAKE_TOOLCHAIN_FILE)
  unset(CMAKE_TOOLCHAIN_FILE CACHE)
endif()

function(message)
  set(_cass_words ${ARGV})
  if("${ARGV0}" STREQUAL "FATAL_ERROR" OR "${ARGV0}" STREQUAL "SEND_ERROR")
    list(REMOVE_AT _cass_words 0)
    _message(WARNING ${_cass_words})
  elseif(ARGC GREATER 0)
    _message(${ARGV})
  endif()
endfunction()

cmake_policy(POP)
