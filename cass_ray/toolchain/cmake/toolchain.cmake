set(CMAKE_HIP_COMPILER "@clang@")
set(CMAKE_HIP_COMPILER_ROCM_ROOT "${CMAKE_CURRENT_LIST_DIR}")
list(APPEND CMAKE_PREFIX_PATH "${CMAKE_CURRENT_LIST_DIR}")
if(NOT DEFINED CMAKE_HIP_ARCHITECTURES)
  set(CMAKE_HIP_ARCHITECTURES @architecture@ CACHE STRING "AMD targets")
endif()
# To identify the compiler CMake names no processor; clang's default is one of another generation.
set(CMAKE_HIP_COMPILER_ID_TEST_FLAGS_FIRST "--offload-arch=@architecture@")
set(CMAKE_HIP_FLAGS_INIT "--rocm-path=${CMAKE_CURRENT_LIST_DIR} -B${CMAKE_CURRENT_LIST_DIR}/bin")
string(APPEND CMAKE_HIP_FLAGS_INIT " @workarounds@")
# Projects leave out tests where it is defined, for they take it that CMake cross-compiles. CMake
# itself does not read this file again, neither: what later runs need is in the cache.
unset(CMAKE_TOOLCHAIN_FILE)
unset(CMAKE_TOOLCHAIN_FILE CACHE)
