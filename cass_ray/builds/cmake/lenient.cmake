# For recorded builds: what keeps a project from being configured is a warning. Packages that are not
# here, folders of submodules and targets of either are passed over; what is left is configured.
include_guard(GLOBAL)

function(message)
  set(_cass_words ${ARGV})
  if("${ARGV0}" STREQUAL "FATAL_ERROR" OR "${ARGV0}" STREQUAL "SEND_ERROR")
    list(REMOVE_AT _cass_words 0)
    _message(WARNING ${_cass_words})
  elseif(ARGC GREATER 0)
    _message(${ARGV})
  endif()
endfunction()

macro(find_package _cass_name)
  set(_cass_words ${ARGN})
  list(FIND _cass_words REQUIRED _cass_required)
  list(REMOVE_ITEM _cass_words REQUIRED)
  _find_package(${_cass_name} ${_cass_words})
  if(NOT ${_cass_name}_FOUND AND NOT _cass_required EQUAL -1)
    string(TOUPPER ${_cass_name} _cass_upper)
    set(${_cass_name}_FOUND TRUE)
    set(${_cass_upper}_FOUND TRUE)
  endif()
endmacro()

macro(add_subdirectory _cass_folder)
  get_filename_component(_cass_absolute "${_cass_folder}" ABSOLUTE)
  if(EXISTS "${_cass_absolute}/CMakeLists.txt")
    _add_subdirectory(${_cass_folder} ${ARGN})
  else()
    _message(WARNING "${_cass_folder} is not here")
  endif()
endmacro()

function(target_link_libraries _cass_target)
  if(NOT TARGET ${_cass_target})
    return()
  endif()
  foreach(_cass_word ${ARGN})
    if(_cass_word MATCHES "^[A-Za-z0-9_]+::[A-Za-z0-9_:.+-]+$")
      set_property(GLOBAL APPEND PROPERTY CASS_NAMES ${_cass_word})
    endif()
  endforeach()
  _target_link_libraries(${_cass_target} ${ARGN})
endfunction()

foreach(_cass_command
    target_include_directories target_compile_definitions target_compile_options
    target_compile_features target_sources target_link_directories target_link_options
    add_dependencies set_target_properties)
  cmake_language(EVAL CODE "
    function(${_cass_command} _cass_target)
      if(TARGET \${_cass_target})
        _${_cass_command}(\${_cass_target} \${ARGN})
      endif()
    endfunction()")
endforeach()

macro(get_target_property _cass_variable _cass_target _cass_property)
  if(TARGET ${_cass_target})
    _get_target_property(${_cass_variable} ${_cass_target} ${_cass_property})
  else()
    set(${_cass_variable} "${_cass_variable}-NOTFOUND")
  endif()
endmacro()

function(install)
endfunction()

function(export)
endfunction()

# Names that no package has given: empty targets, once all files have been read.
function(_cass_make_targets)
  get_property(_cass_names GLOBAL PROPERTY CASS_NAMES)
  list(REMOVE_DUPLICATES _cass_names)
  foreach(_cass_name ${_cass_names})
    if(NOT TARGET ${_cass_name})
      add_library(${_cass_name} INTERFACE IMPORTED GLOBAL)
    endif()
  endforeach()
endfunction()
cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL _cass_make_targets)
