"""PyTorch as a package of CMake's.

The wheel's own asks for the CUDA toolkit that PyTorch was built with. This one gives the headers
and libraries that an extension is built with here, by the names of the wheel's.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = "lib/cmake/Torch"
_CONFIG = """\
set(TORCH_FOUND TRUE)
set(Torch_FOUND TRUE)
set(TORCH_INSTALL_PREFIX "{torch}")
set(TORCH_INCLUDE_DIRS "{include}" "{torch}/include" "{torch}/include/torch/csrc/api/include")
set(TORCH_CXX_FLAGS "")
if(NOT TARGET torch)
  foreach(_name {names})
    if(EXISTS "{torch}/lib/lib${{_name}}.so")
      list(APPEND _torch_libraries "{torch}/lib/lib${{_name}}.so")
    endif()
  endforeach()
  foreach(_name torch torch_library)
    add_library(${{_name}} INTERFACE IMPORTED)
    set_target_properties(${{_name}} PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES "${{TORCH_INCLUDE_DIRS}};{rocm}/include"
      INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${{TORCH_INCLUDE_DIRS}};{rocm}/include"
      INTERFACE_COMPILE_DEFINITIONS "__HIP_PLATFORM_AMD__=1;USE_ROCM=1;HIPBLAS_V2"
      INTERFACE_LINK_OPTIONS "-Wl,-rpath,{torch}/lib"
      INTERFACE_LINK_LIBRARIES "${{_torch_libraries}};{library};{rocm}/lib/libamdhip64.so")
  endforeach()
endif()
set(TORCH_LIBRARIES torch)
set(TORCH_LIBRARY torch)
set(TORCH_PYTHON_LIBRARY "{torch}/lib/libtorch_python.so")
"""
_VERSION = """\
set(PACKAGE_VERSION "{version}")
if(PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE FALSE)
else()
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
"""


def write_cmake_package(
    prefix: Path, torch: Path, include: Path, library: Path, version: str
) -> None:
    """Write ``TorchConfig.cmake`` below the root ``prefix``.

    ``torch`` is the folder of the Python package, ``include`` has its headers about devices, and
    ``library`` is what stands in for its part for CUDA.
    """
    folder = prefix / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    text = _CONFIG.format(
        torch=torch.as_posix(),
        include=include.as_posix(),
        library=library.as_posix(),
        rocm=prefix.as_posix(),
        names="torch torch_cpu c10",
    )
    (folder / "TorchConfig.cmake").write_text(text)
    text = _VERSION.format(version=version.partition("+")[0])
    (folder / "TorchConfigVersion.cmake").write_text(text)
