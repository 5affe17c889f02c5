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
