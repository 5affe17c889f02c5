"""Macros of build files that say that there is CUDA, and the C++ that they ask for."""

from __future__ import annotations

from pathlib import Path

import pytest

from cass_ray.builds.settings import UnitSettings
from cass_ray.corpus.reading.switches import build_texts, cuda_switches, stated_standards
from cass_ray.corpus.reading.units import find_units
from tests.corpus.reading.test_other_repositories import tree


@pytest.mark.parametrize(
    ("name", "text", "switches"),
    [
        ("Makefile", "CXXFLAGS += -DHAVE_CUDA -O2\n", ("HAVE_CUDA",)),
        ("src__cuda_dot_mk", "F = -DHAVE_CUDA=1 -DGPU=0\n", ("HAVE_CUDA=1",)),
        ("CMakeLists_dot_txt", 'add_definitions("-DHAVE_CUDA")\n', ("HAVE_CUDA",)),
        (
            "a_dot_cmake",
            'set(F "-DMY_CUDA_FOUND=1 -DGPU_FOUND=0")\n',
            ("MY_CUDA_FOUND=1",),
        ),
        ("CMakeLists_dot_txt", "add_definitions(\n  -DX_USE_GPU\n -DY)\n", ("X_USE_GPU",)),
        (
            "a_dot_cmake",
            "target_compile_definitions(t PUBLIC $<$<BOOL:${C}>:WITH_CUDA=2> OTHER)\n",
            ("WITH_CUDA=2",),
        ),
        ("Makefile_dot_am", "AM_CPPFLAGS = -D GPU -D_GPU\n", ("GPU", "_GPU")),
        # Of other builds, of what is off, and of other files.
        ("CMakeLists_dot_txt", "set(ARGS -DUSE_CUDA=ON -DWITH_GPU=off)\n", ()),
        ("CMakeLists_dot_txt", "option(USE_CUDA x ON)\nif(HAVE_CUDA)\nendif()\n", ()),
        ("Makefile", "F = -DNO_CUDA -DDISABLE_GPU -DMY_NO_CUDA\n", ()),
        ("Makefile", "F = -DCUDA_ARCH=80 -DGPU_ID=1 -DHAVE_CUDA_TORCH\n", ()),
        (
            "CMakeLists_dot_txt",
            "add_compile_definitions($<$<COMPILE_LANGUAGE:CUDA>:_SILENCE>)\n"
            "target_compile_definitions(t PRIVATE $<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:A=1>\n"
            " $<$<BOOL:USE_CUDA>:B>)\nadd_definitions($<$<CONFIG:GPU>:C>)\n",
            (),
        ),
        ("README_dot_md", "-DHAVE_CUDA\n", ()),
        ("run_dot_sh", "cmake -DHAVE_CUDA=1 .\n", ()),
        (
            "builders__cuda_dot_py",
            "from torch.utils.cpp_extension import CUDA_HOME\nflags = ['-DMINE_WITH_CUDA']\n",
            ("MINE_WITH_CUDA",),
        ),
        ("tools__cuda_dot_py", "flags = ['-DMINE_WITH_CUDA']\n", ()),
    ],
)
def test_switches_of_build_files(
    tmp_path: Path, name: str, text: str, switches: tuple[str, ...]
) -> None:
    assert cuda_switches(build_texts(tree(tmp_path, **{name: text}))) == switches


@pytest.mark.parametrize(
    ("texts", "standard"),
    [
        (["set(CMAKE_CXX_STANDARD 20)\n"], "c++20"),
        (["set(CMAKE_CUDA_STANDARD 23)\n", "set(CMAKE_CXX_STANDARD 17)\n"], "c++20"),
        (["set(CMAKE_CUDA_STANDARD 17)\n", "set(CMAKE_CXX_STANDARD 20)\n"], ""),
        (["set_target_properties(t PROPERTIES CUDA_STANDARD 20\n  CXX_STANDARD 14)\n"], "c++20"),
        (["target_compile_features(t PUBLIC cxx_std_20)\n"], "c++20"),
        (["NVFLAGS = -O3 --std=c++20\n"], "c++20"),
        (["extra_compile_args={'nvcc': ['-std=c++2a']}\n"], "c++20"),
        (["project('x', 'cuda', default_options : ['cpp_std=gnu++20'])\n"], "c++20"),
        (["CXXFLAGS = -std=c++11\n", "CXXFLAGS += -std=gnu++14\n"], ""),
        (["set(CMAKE_CXX_STANDARD_REQUIRED ON)\n"], ""),
        ([], ""),
    ],
)
def test_the_standard_that_build_files_ask_for(texts: list[str], standard: str) -> None:
    assert stated_standards(texts)[1] == standard


def test_what_is_said_of_cuda_alone() -> None:
    texts = ["set(CMAKE_CXX_STANDARD 20)\n"]
    assert stated_standards(texts) == ("", "c++20")
    assert stated_standards([*texts, "set(CMAKE_CUDA_STANDARD 20)\n"]) == ("c++20", "c++20")


def test_cuda_files_without_a_command_are_compiled_with_them(tmp_path: Path) -> None:
    files = {
        "deps_dot_mk": "F = -DHAVE_CUDA -std=c++20\n",
        "CMakeLists_dot_txt": "set(CMAKE_CUDA_STANDARD 20)\n",
        "compile_commands_dot_json": (
            '[{"directory": "/x", "file": "a.cu", "command": "nvcc -DOWN -c a.cu"},'
            '{"directory": "/x", "file": "c.cu", "command": "nvcc -std=c++17 -c c.cu"}]'
        ),
        "a_dot_cu": "",
        "b_dot_cu": "",
        "c_dot_cu": "",
    }
    found = find_units(tree(tmp_path, **files), UnitSettings(recorded_builds=True), True)
    assert found.definitions("a.cu") == ("OWN",)
    assert found.definitions("b.cu") == ("HAVE_CUDA",)
    assert found.definitions("c.cpp") == ()
    assert [found.standard(f"{name}.cu") for name in "abc"] == ["c++20", "c++20", ""]
    assert find_units(tree(tmp_path), UnitSettings(), True).definitions("b.cu") == ()
