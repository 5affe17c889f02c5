# For recorded builds, read before each project(): its languages are found by CMake's own means.

# CMake 3.25 tries nvcc as the standard that is set, and knows none of nvcc's after C++17.
if(CMAKE_CUDA_STANDARD GREATER 17)
  set(_cass_cuda_standard ${CMAKE_CUDA_STANDARD})
  unset(CMAKE_CUDA_STANDARD)
endif()
include_guard(GLOBAL)

macro(enable_language)
  set(_cass_cuda_standard_here ${CMAKE_CUDA_STANDARD})
  if(CMAKE_CUDA_STANDARD GREATER 17)
    unset(CMAKE_CUDA_STANDARD)
  endif()
  _enable_language(${ARGV})
  set(CMAKE_CUDA_STANDARD ${_cass_cuda_standard_here})
endmacro()

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
