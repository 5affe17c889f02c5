"""Libraries of CUDA that CMake files look for as files or keep in lists."""

from __future__ import annotations

import pytest

from cass_ray.translate.project.build_files import translate_cmake


def test_a_static_library_found_by_a_function_of_the_projects_own() -> None:
    source = """function(cuda_find_library out name)
  find_library(${out} ${name} PATHS ${CMAKE_CUDA_IMPLICIT_LINK_DIRECTORIES} REQUIRED)
endfunction()
cuda_find_library(RUNTIME cudart_static)
cuda_find_library(BLAS cublas_static)
cuda_find_library(SPARSE cusparse_static)
list(APPEND LIBS "cudart_static;cublas_static;cusparse_static;culibos;cublasLt_static")
"""
    expected = """function(cuda_find_library out name)
  find_library(${out} ${name} PATHS ${CMAKE_HIP_COMPILER_ROCM_ROOT}/lib REQUIRED)
endfunction()
cuda_find_library(RUNTIME amdhip64)
cuda_find_library(BLAS hipblas)
cuda_find_library(SPARSE hipsparse)
find_package(hip REQUIRED)
find_package(hipblas REQUIRED)
find_package(hipsparse REQUIRED)
list(APPEND LIBS hip::host roc::hipblas roc::hipsparse)
"""
    assert translate_cmake(source).source == expected


def test_a_file_that_names_libraries_alone() -> None:
    source = 'list(APPEND LIBS "cudart_static;cufft_static;culibos")\n'
    made = translate_cmake(source).source
    assert made.endswith("\nlist(APPEND LIBS hip::host hip::hipfft)\n")
    assert "find_package(hipfft REQUIRED)" in made


def test_packages_are_where_the_file_finds_cuda() -> None:
    source = "find_package(CUDAToolkit)\nset(LIBS cudart cublas PARENT_SCOPE)\n"
    assert translate_cmake(source).source == (
        "find_package(hip)\nfind_package(hipblas)\nset(LIBS hip::host roc::hipblas PARENT_SCOPE)\n"
    )


@pytest.mark.parametrize(
    "command",
    [
        "set(CUDA_NAME cuda)",
        "set(LIBS cublas mine)",
        "set(LIBS ${CUDA_ALL} cublas)",
        "list(APPEND LIBS /opt/cuda/libcublas_static.a)",
        "message(STATUS cublas_static)",
    ],
)
def test_what_may_be_something_else_stays(command: str) -> None:
    assert translate_cmake(command).source == command


def test_cublas_lt_alone_is_a_library_of_its_own() -> None:
    made = translate_cmake("list(APPEND LIBS cublasLt_static culibos)").source
    assert made.endswith("list(APPEND LIBS roc::hipblaslt)")


@pytest.mark.parametrize(
    ("lists", "takes", "expected"),
    [
        ("list(APPEND KINDS CUDA)", "project(p LANGUAGES ${KINDS})", "list(APPEND KINDS HIP)"),
        ("set(KINDS C CXX CUDA)", "project(p ${KINDS})", "set(KINDS C CXX HIP)"),
        (
            'set(KINDS "CXX;CUDA")',
            "project(p VERSION 1 LANGUAGES ${KINDS})",
            'set(KINDS "CXX;HIP")',
        ),
        ("set(K CUDA)", "enable_language(${K})", "set(K HIP)"),
        ("list(APPEND NAMES CUDA)", "project(p LANGUAGES ${KINDS})", "list(APPEND NAMES CUDA)"),
        ("set(KINDS MY_CUDA)", "project(p LANGUAGES ${KINDS})", "set(KINDS MY_CUDA)"),
    ],
)
def test_lists_of_languages(lists: str, takes: str, expected: str) -> None:
    made = translate_cmake(f"{lists}\n{takes}\n").source
    assert made.startswith(f"{expected}\n")


@pytest.mark.parametrize(
    ("before", "chosen"),
    [
        ('set(K src/a.cu CACHE FILEPATH "which")\n', True),
        ('set(P src/a.cu CACHE STRING "which")\nset(K "${PROJECT_SOURCE_DIR}/${P}")\n', True),
        ("set(N a.cu)\nset(F ${SRC}/${N})\nset(K ${F} main.cpp)\n", True),
        ("set(K a.cu b.cu)\n", False),  # is known where it is set
        ("set(A a.cu)\nset(K ${A} c.cpp)\n", False),
        ('set(O fast CACHE STRING "which")\nset(K ${O})\n', False),
    ],
)
def test_a_source_that_the_user_of_a_build_chooses_is_hip(before: str, chosen: bool) -> None:
    made = translate_cmake(f"{before}add_executable(x main.cpp ${{K}})\n").source
    assert ("foreach(source ${K})" in made) == chosen
