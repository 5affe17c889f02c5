"""Searches of CMake's for headers of CUDA's."""

from __future__ import annotations

import pytest

from cass_ray.translate.project.build_files import translate_cmake

HEAD = "cmake_minimum_required(VERSION 3.18)\nproject(a LANGUAGES CXX CUDA)\n"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ('find_path(CUB_DIR cub/cub.cuh HINTS "${X}")', "find_path(CUB_DIR hipcub/hipcub.hpp"),
        ("find_path(A NAMES cuda_runtime.h cuda.h)", "NAMES hip/hip_runtime.h hip/hip_runtime.h)"),
        ('find_path(C\n  NAMES "cub/version.cuh")', 'NAMES "hipcub/hipcub.hpp")'),
        ('find_path(D NAMES "cuda/std/version")', 'NAMES "hip/hip_version.h")'),
        ("find_path(N nccl.h)", "find_path(N rccl/rccl.h)"),
        ("find_file(F NAMES cuda_fp16.h)", "NAMES hip/hip_fp16.h)"),
        ("check_include_file_cxx(cuda.h HAVE_CUDA_H)", "(hip/hip_runtime.h HAVE_CUDA_H)"),
        # The same in HIP, the project's own, and what is no header.
        ("find_path(T thrust/version.h)", "find_path(T thrust/version.h)"),
        ("find_path(J jitify.hpp)", "find_path(J jitify.hpp)"),
        ("find_path(M ${PREFIX}/cuda.h)", "find_path(M ${PREFIX}/cuda.h)"),
        ("find_program(NVCC nvcc)", "find_program(NVCC nvcc)"),
        ("install(FILES cuda.h)", "install(FILES cuda.h)"),
    ],
)
def test_headers_that_are_searched(command: str, expected: str) -> None:
    assert expected in translate_cmake(f"{HEAD}{command}\n").source


def test_sources_compiled_on_trial() -> None:
    text = f"""{HEAD}try_compile(WORKS ${{CMAKE_CURRENT_BINARY_DIR}}/tried
  "${{CMAKE_CURRENT_LIST_DIR}}/a.b/check.cu" CUDA_STANDARD 17 CXX_STANDARD 17)
"""
    made = translate_cmake(text).source
    copy = "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/check.hip"
    assert f'"{copy}" HIP_STANDARD 17 CXX_STANDARD 17)' in made
    assert f'configure_file("${{CMAKE_CURRENT_LIST_DIR}}/a.b/check.cu" "{copy}" COPYONLY)' in made
    other = "try_compile(WORKS ${BUILD} ${HERE}/check.cpp CXX_STANDARD 17)"
    assert other in translate_cmake(f"{HEAD}{other}\n").source
