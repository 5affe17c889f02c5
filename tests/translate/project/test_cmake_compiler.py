"""CMake files that end unless CUDA's compiler is the one that they know."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cass_ray.translate.project.build_files import translate_cmake

ASKED = 'if(CMAKE_CUDA_COMPILER_ID STREQUAL "NVIDIA")'
CHOSEN = f"{ASKED}\n  message(first)\n"
ENDS = "  message(FATAL_ERROR unknown)\n"


def said(text: str, folder: Path) -> str:
    """What CMake says where HIP's compiler is Clang."""
    made = translate_cmake(text).source
    (folder / "a.cmake").write_text(f'set(CMAKE_HIP_COMPILER_ID "Clang")\n{made}')
    command = ["cmake", "-P", str(folder / "a.cmake")]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{CHOSEN}else()\n{ENDS}endif()", "first"),
        (f"{CHOSEN}elseif(CMAKE_CUDA_COMPILER_ID STREQUAL Clang)\n  message(second)\nelse()\n"
         f"{ENDS}endif()", "first"),
        (f'if(NOT "${{CMAKE_CUDA_COMPILER_ID}}" STREQUAL "NVIDIA")\n{ENDS}endif()', ""),
        (f"if(NOT CMAKE_CUDA_COMPILER_ID MATCHES NVIDIA)\n  if(A OR NOT B)\n  {ENDS}  endif()\n"
         "endif()", ""),
        (f"{CHOSEN}else()\n  message(other)\nendif()", "other"),  # flags of nvcc's
        (f"{ASKED}\n  if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 9)\n  {ENDS}  endif()\nendif()",
         ""),
        (f"if(NOT A)\n{CHOSEN}endif()\n{ENDS}endif()", "unknown"),
    ],
)  # fmt: skip
def test_the_known_compiler_is_hips(text: str, expected: str, tmp_path: Path) -> None:
    assert expected in (said(text, tmp_path) or "\n")
    assert bool(expected) == bool(said(text, tmp_path))


OLDER = '"${CUDAToolkit_VERSION}" VERSION_LESS "${LEAST}"'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"if({OLDER})\n{ENDS}endif()", ""),
        (f"if(NOT A AND {OLDER})\n{ENDS}else()\n  message(first)\nendif()", "first"),
        (f"if({OLDER})\n  message(flags)\nendif()", "flags"),  # of an older CUDA
        (f"if({OLDER})\n  message(flags)\nelse()\n{ENDS}endif()", "flags"),
        (f"if({OLDER})\n  message(flags)\n  if(A)\n  {ENDS}  endif()\nendif()", "flags"),
        (f"if(NOT {OLDER})\n  message(flags)\nelse()\n{ENDS}endif()", "unknown"),
        (f"if(CUDAToolkit_VERSION VERSION_GREATER 13)\n{ENDS}endif()", ""),
    ],
)
def test_any_version_is_new_enough_where_an_older_one_is_an_error(
    text: str, expected: str, tmp_path: Path
) -> None:
    heard = said(f"set(CUDAToolkit_VERSION 11.8)\nset(LEAST 12)\n{text}", tmp_path)
    assert expected in heard and bool(expected) == bool(heard)
