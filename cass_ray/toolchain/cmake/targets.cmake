get_filename_component(_hip_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET @space@::amdhip64)
  add_library(@space@::amdhip64 SHARED IMPORTED)
  set_target_properties(@space@::amdhip64 PROPERTIES
    IMPORTED_LOCATION "${_hip_prefix}/lib/libamdhip64.so"
    INTERFACE_INCLUDE_DIRECTORIES "${_hip_prefix}/include"
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${_hip_prefix}/include"
    INTERFACE_COMPILE_DEFINITIONS "__HIP_PLATFORM_AMD__=1"
    INTERFACE_LINK_OPTIONS "-Wl,-rpath,${_hip_prefix}/lib")
  foreach(_hip_name @names@)
    add_library(@space@::${_hip_name} INTERFACE IMPORTED)
    set_target_properties(@space@::${_hip_name} PROPERTIES
      INTERFACE_LINK_LIBRARIES @space@::amdhip64)
  endforeach()
endif()
