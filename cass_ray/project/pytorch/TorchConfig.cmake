set(TORCH_FOUND TRUE)
set(Torch_FOUND TRUE)
set(TORCH_INSTALL_PREFIX "@torch@")
set(TORCH_INCLUDE_DIRS "@include@" "@torch@/include" "@torch@/include/torch/csrc/api/include")
set(TORCH_CXX_FLAGS "")
if(NOT TARGET torch)
  foreach(_name torch torch_cpu c10)
    if(EXISTS "@torch@/lib/lib${_name}.so")
      list(APPEND _torch_libraries "@torch@/lib/lib${_name}.so")
    endif()
  endforeach()
  foreach(_name torch torch_library)
    add_library(${_name} INTERFACE IMPORTED)
    set_target_properties(${_name} PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES "${TORCH_INCLUDE_DIRS};@rocm@/include"
      INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${TORCH_INCLUDE_DIRS};@rocm@/include"
      INTERFACE_COMPILE_DEFINITIONS "__HIP_PLATFORM_AMD__=1;USE_ROCM=1;HIPBLAS_V2"
      INTERFACE_LINK_OPTIONS "-Wl,-rpath,@torch@/lib"
      INTERFACE_LINK_LIBRARIES "${_torch_libraries};@library@;@rocm@/lib/libamdhip64.so")
  endforeach()
endif()
set(TORCH_LIBRARIES torch)
set(TORCH_LIBRARY torch)
set(TORCH_PYTHON_LIBRARY "@torch@/lib/libtorch_python.so")
