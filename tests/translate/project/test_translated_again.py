"""A build file that was translated already stays as it is: --in-place may be run twice."""

from __future__ import annotations

import pytest

from cass_ray.translate.project.build_files import kind_of, translate_cmake, translate_makefile

HEAD = "cmake_minimum_required(VERSION 3.20)\nproject(p LANGUAGES CXX CUDA)\n"


@pytest.mark.parametrize(
    "text",
    [
        "add_executable(a a.cu b.cu ${FLAGS}) # nor (\n",
        "add_executable(a make.${SUFFIX})\n",
        "cuda_add_executable(a a.cu OPTIONS -O2)\n",
        "aux_source_directory(src SRC)\nadd_library(a ${SRC})\n",
        "file(GLOB_RECURSE SRC *.h *.cu *.cpp)\nadd_library(a ${SRC})\n",
        "function(add name file)\n  add_executable(${name} ${file})\nendfunction()\n",
        "add_library(a a.cu)\nset_property(TARGET a PROPERTY CUDA_SEPARABLE_COMPILATION ON)\n",
        "set(CMAKE_CUDA_SEPARABLE_COMPILATION ON)\n",
        "if(CUDA_VERSION VERSION_LESS 11)\nendif()\n",
        "find_package(CUDA REQUIRED)\nmessage(${CUDA_VERSION_MAJOR})\n",
        "include_directories(${CUDA_INCLUDE_DIRS})\n",
        "target_link_libraries(a PRIVATE CUDA::cublas cufft)\n",
        'set(CMAKE_CUDA_FLAGS "-Werror -Xcompiler -Wall")\n',
        "target_compile_options(a PRIVATE -Werror)\n",
    ],
)
@pytest.mark.parametrize("head", [HEAD, "find_package(CUDAToolkit REQUIRED)\n"])
def test_cmake(head: str, text: str) -> None:
    once = translate_cmake(head + text).source
    assert once != head + text
    assert translate_cmake(once).source == once


def test_what_another_command_says_is_said_here_too() -> None:
    """Only what stands behind the same command is taken for an earlier translation's."""
    made = translate_cmake("add_library(a x.cu)\nadd_library(b x.cu)\n").source
    assert made.count("set_source_files_properties(x.cu PROPERTIES LANGUAGE HIP)") == 2


@pytest.mark.parametrize(
    "text",
    [
        "NVCC = nvcc\nNVCCFLAGS += -arch=sm_80 -Werror\n",
        "a: a.cu\n\tnvcc -Werror -dc -o $@ $< -lcublas\n",
        "CUDA_PATH = /usr/local/cuda\na: a.cpp\n\t$(NVCC) -c a.cpp -I$(CUDA_PATH)/include\n",
        "CXXFLAGS = -Wall -Werror\nNVCC = nvcc -ccbin g++\n",
        "a: a.o\n\tnvcc -dlink -o link.o a.o\n\tg++ a.o link.o -L/usr/local/cuda/lib64 -lcudart\n",
    ],
)
def test_makefiles(text: str) -> None:
    once = translate_makefile(text).source
    assert once != text
    assert translate_makefile(once).source == once


@pytest.mark.parametrize(
    "name",
    ["Makefile.orig", "makefile.bak", "Makefile.old", "GNUmakefile.rej", "Makefile~", "a.mk.save"],
)
def test_backups_are_no_build_files(name: str) -> None:
    assert kind_of(f"some/{name}") is None
    assert kind_of("some/Makefile.linux") is translate_makefile
