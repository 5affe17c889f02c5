"""Files of PyTorch extensions with its headers precompiled: which, with what, and as without."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cass_ray.project.pytorch.startup import cass_precompile as precompile
from cass_ray.toolchain.cmake_prefix import BUNDLER
from cass_ray.toolchain.locate import find_amd

HIPCC = ["clang++", "--rocm-path=/r", "-I", "inc", "-DTORCH_EXTENSION_NAME=a", "-O3", "-g"]


@pytest.mark.parametrize("behind", [[], ["-O3", "-DX=1"]], ids=["ninja", "distutils"])
def test_a_file_to_an_object(behind: list[str]) -> None:
    source = ["-x", "hip", "a.cu", "-x", "none", *behind]
    made = precompile.read([*HIPCC, "-MD", "-MF", "a.d", *source, "-c", "-o", "a.o"])
    assert made is not None
    assert (made.source, made.output) == (Path("a.cu"), "a.o")
    assert made.dependencies == ("-MD", "-MF", "a.d")
    assert "-g" not in made.flags
    assert made.module == "a"
    assert not any("TORCH_EXTENSION_NAME" in flag for flag in made.flags)
    assert made.flags[-2:] == ("-x", "hip")  # not ended before the file
    assert made.flags.count("-x") == 1
    command = made.command("-Xclang", "x", output="b.o", dependencies=False)
    assert "-MD" not in command
    assert command[-4:] == ["-c", "a.cu", "-o", "b.o"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["a.o", "-o", "a.so"],
        ["-c", "a.cu"],
        ["-c", "a.cu", "b.cu", "-o", "c.o"],
        ["-E", "-c", "a.cu", "-o", "a.i"],
        ["-fgpu-rdc", "-c", "a.cu", "-o", "a.o"],
    ],
)
def test_what_is_compiled_as_it_is(arguments: list[str]) -> None:
    assert precompile.read(["clang++", *arguments]) is None


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@pytest.mark.parametrize(
    ("files", "header"),
    [
        ({"a.cu": "#include <torch/extension.h>\n"}, "torch/extension.h"),
        ({"a.cu": "#include <vector>\n#include <c10/util/Half.h>\n"}, ""),
        # The larger one of two, also through the project's own headers.
        (
            {
                "a.cu": '#include <ATen/ATen.h>\n#include "own.h"\n',
                "own.h": '#pragma once\n#include "deep/own.h"\n',
                "deep/own.h": '#include "../own.h"\n#include <torch/extension.h>\n',
            },
            "torch/extension.h",
        ),
        (
            {"a.cu": '#include "far.h"\n', "inc/far.h": "#include <torch/torch.h>\n"},
            "torch/torch.h",
        ),
        # What PyTorch's headers may look at stays in front of them; what is the file's own may not.
        ({"a.cu": "#define TORCH_ASSERT_NO_OPERATORS\n#include <torch/torch.h>\n"}, ""),
        ({"a.cu": "#include <torch/torch.h>\n#define AT_SOMETHING 1\n"}, "torch/torch.h"),
        ({"a.cu": "#define THREADS 256\n#include <torch/torch.h>\n"}, "torch/torch.h"),
        (
            {
                "a.cu": '#include "own.h"\n#include <torch/torch.h>\n',
                "own.h": "#define USE_X 1\n#include <vector>\n",
            },
            "",
        ),
    ],
)
def test_the_header_that_is_precompiled(tmp_path: Path, files: dict[str, str], header: str) -> None:
    write(tmp_path, files)
    assert precompile.header_of(tmp_path / "a.cu", [tmp_path / "inc"]) == header


@pytest.fixture
def extension(tmp_path: Path) -> Path:
    """Files that include a header named like PyTorch's: enough of them, and one of another."""
    write(
        tmp_path,
        {
            "torch/torch.h": "#pragma once\n#include <vector>\nint of_the_header();\n",
            "a.cpp": "#include <torch/torch.h>\nint a() { return of_the_header(); }\n",
            "b.cpp": "#include <torch/torch.h>\nstatic int of_the_header = 3;\nint main() {}\n",
            "c.cpp": "#include <torch/torch.h>\n#define NAME_(x) #x\n#define NAME(x) NAME_(x)\n"
            "const char *name() { return NAME(TORCH_EXTENSION_NAME); }\n",
            "d.cpp": "#include <torch/torch.h>\n",
            "e.cpp": "#include <torch/all.h>\n",
        },
    )
    return tmp_path


def compiled(extension: Path, name: str, *more: str) -> subprocess.CompletedProcess[str]:
    launcher = [sys.executable, "-I", str(Path(precompile.__file__))]
    flags = ["-O2", f"-I{extension}", *more]
    command = [*launcher, "g++", *flags, "-c", f"{name}.cpp", "-o", f"{name}.o"]
    folder = extension / ".cass-precompiled"
    return subprocess.run(
        command,
        cwd=extension,
        env={"PATH": "/usr/bin:/bin", precompile.FOLDER: str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_host_file_with_its_header_precompiled(extension: Path) -> None:
    assert compiled(extension, "a").returncode == 0
    symbols = subprocess.run(
        ["nm", "-C", "a.o"], cwd=extension, capture_output=True, text=True, check=True
    ).stdout
    assert "T a()" in symbols
    assert len(list((extension / ".cass-precompiled").glob("*.gch"))) == 1


def test_a_header_of_few_files_is_not_precompiled(extension: Path) -> None:
    write(extension, {"torch/all.h": "int all();\n"})
    assert compiled(extension, "e").returncode == 0
    assert not list(extension.rglob("*.gch"))


def test_modules_of_an_extension_have_one_header(extension: Path) -> None:
    """Each has a name of its own, which is a macro: GCC says which header it did not take."""
    for module in ("_first", "_second"):
        done = compiled(extension, "c", f"-DTORCH_EXTENSION_NAME={module}", "-Winvalid-pch", "-H")
        assert done.returncode == 0
        used = [line for line in done.stderr.splitlines() if ".gch" in line]
        assert used[0].startswith("! "), used  # "x": not used
        assert module.encode() in (extension / "c.o").read_bytes()
    assert len(list((extension / ".cass-precompiled").glob("*.gch"))) == 1


def test_an_error_is_the_compilers_own(extension: Path) -> None:
    done = compiled(extension, "b")
    assert done.returncode != 0
    assert "b.cpp:2:12" in done.stderr
    assert done.stderr.count("error:") == 1


def test_device_files_of_one_module_link(tmp_path: Path) -> None:
    unit = """#include <torch/torch.h>
    __attribute__((device)) int NAME(int x) { return of_the_header(x); }
    """
    header = "#pragma once\n__attribute__((device)) inline int of_the_header(int x) { return x; }\n"
    files = {f"{name}.hip": unit.replace("NAME", name) for name in ("a", "b")}
    write(tmp_path, {"torch/torch.h": header, **files})
    toolchain = find_amd(architectures=("gfx1100",))
    launcher = [sys.executable, "-I", str(Path(precompile.__file__)), str(toolchain.clang)]
    flags = [
        *toolchain.workarounds,
        f"-B{BUNDLER.parent}",
        "--offload-arch=gfx1100",
        "-nogpuinc",
        "-nogpulib",
        "-fPIC",
        f"-I{tmp_path}",
    ]
    folder = tmp_path / ".cass-precompiled"
    environment = {**os.environ, precompile.FOLDER: str(folder)}
    for name in ("a", "b"):
        command = [*launcher, *flags, "-c", f"{name}.hip", "-o", f"{name}.o"]
        subprocess.run(command, cwd=tmp_path, env=environment, check=True)
    assert len(list(folder.glob("*.pch"))) == 2, "both sides with the header precompiled"
    subprocess.run(["g++", "-shared", "a.o", "b.o", "-o", "ab.so"], cwd=tmp_path, check=True)
