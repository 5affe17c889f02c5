"""Build files that read ``nvcc --version``: what they read it for goes on to work."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cass_ray.translate.project.build_files import (
    translate_cmake,
    translate_module,
    translate_setup,
)
from cass_ray.translate.project.makefiles import translate_makefile, translate_script
from cass_ray.translate.project.nvcc_version import in_python

READ = '.split("release ")[1].split(",")[0])'


@pytest.mark.parametrize(
    "asked",
    [
        # apex, flash-attention, mamba
        'subprocess.check_output([cuda_dir + "/bin/nvcc", "-V"], universal_newlines=True)',
        'subprocess.check_output([os.path.join(cuda_dir, "bin", "nvcc"), "--version"]).decode()',
        "subprocess.run([nvcc_path, '--version'], stdout=subprocess.PIPE).stdout.decode('utf-8')",
        'subprocess.run(f"{cuda_dir}/bin/nvcc --version", shell=True, capture_output=True,'
        " text=True).stdout",
        "os.popen('nvcc -V').read()",
        'subprocess.check_output("nvcc --version".split()).decode()',
    ],
)
def test_python_that_reads_the_version(asked: str, tmp_path: Path) -> None:
    text = (
        "import os, subprocess\nfrom setuptools import setup\n"
        f"cuda_dir = '/no/such'\nnvcc_path = '/no/such/nvcc'\nprint({asked}{READ}\n"
    )
    (tmp_path / "setup.py").write_text(translate_setup(text).source)
    done = subprocess.run(
        [sys.executable, tmp_path / "setup.py"], capture_output=True, text=True, check=True
    )
    assert done.stdout == "11.8\n"


@pytest.mark.parametrize(
    "kept",
    [
        'subprocess.check_output(["gcc", "--version"])',
        'subprocess.check_output([nvcc, "-V", "a.cu"])',
        "os.popen('ninja --version')",
        'print("nvcc --versions")',
        'flags = ["nvcc", "-V2"]',
    ],
)
def test_other_programs_are_asked_as_before(kept: str) -> None:
    assert in_python(kept) == kept


@pytest.mark.parametrize(
    "value",
    [
        """$(shell $(NVCC) --version | grep "release" | sed 's/.*release //' | sed 's/,.*//')""",
        """$(shell nvcc --version | grep release | sed -e 's/.*release //' -e 's/,.*//')""",
        """$(shell $(CUDA_PATH)/bin/nvcc -V | grep -o 'release [0-9.]*' | cut -d' ' -f2)""",
        """$(shell "${CUDA_HOME}/bin/nvcc" --version | sed 's/.*rel[a-z]* //' | cut -d, -f1)""",
        """$(shell echo `nvcc --version | sed -n 's/.*release \\([0-9.]*\\).*/\\1/p'`)""",
    ],
)
def test_makefiles_that_read_the_version(value: str, tmp_path: Path) -> None:
    text = f"NVCC := nvcc\nVERSION := {value}\nall:\n\t@echo $(VERSION)\n"
    (tmp_path / "Makefile").write_text(translate_makefile(text).source)
    done = subprocess.run(["make", "-s"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "11.8\n"


def test_scripts_that_read_the_version(tmp_path: Path) -> None:
    text = "V=$(nvcc --version | grep -o 'release [0-9.]*')\necho \"$V\"\nnvcc -o a a.cu\n"
    made = translate_script(text).source
    assert made.endswith("hipcc -o a a.cu\n")
    done = subprocess.run(
        ["bash", "-c", made.rpartition("hipcc")[0]], capture_output=True, text=True, check=True
    )
    assert done.stdout == "release 11.8\n"


@pytest.mark.parametrize(
    "program",
    ["nvcc", "${CMAKE_CUDA_COMPILER}", '"${CUDA_NVCC_EXECUTABLE}"', "${CUDAToolkit_BIN_DIR}/nvcc"],
)
def test_cmake_that_reads_the_version(program: str, tmp_path: Path) -> None:
    text = (
        f"execute_process(COMMAND {program} --version OUTPUT_VARIABLE said ERROR_QUIET)\n"
        'string(REGEX MATCH "release ([0-9]+\\\\.[0-9]+)" _ "${said}")\n'
        "message(${CMAKE_MATCH_1})\n"
    )
    (tmp_path / "a.cmake").write_text(translate_cmake(text).source)
    done = subprocess.run(
        ["cmake", "-P", tmp_path / "a.cmake"], capture_output=True, text=True, check=True
    )
    assert done.stderr.split() == ["11.8"]


def test_a_recipe_that_prints_a_version_prints_hipccs() -> None:
    made = translate_makefile("v:\n\tnvcc --version\n").source
    assert re.search(r"^\thipcc\s+--version$", made, re.MULTILINE)


def test_modules_that_load_an_extension() -> None:
    text = (
        "from torch.utils.cpp_extension import load\n"
        'v = subprocess.check_output(["nvcc", "--version"])\nload(name="a", sources=["a.cu"])\n'
    )
    assert '["echo", "Cuda compilation tools, release 11.8' in translate_module(text).source
    assert os.linesep not in translate_module(text).source.partition("\n")[0]
