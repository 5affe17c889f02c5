"""The compilers of the ROCm root that projects are built with."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from cass_ray.project import prefix
from cass_ray.project.missing import NVCC_CALLED

SCRIPTS = Path(prefix.__file__).parent / "rocm"
TARGET = "--offload-arch=gfx1100"


def clang(folder: Path, *arguments: str) -> list[str]:
    """What the compiler of CMake's builds hands to clang."""
    script = folder / "clang++"
    script.write_text(prefix._COMPILER.replace("@command@", "printf '%s\\n'"))
    return said("sh", str(script), *arguments)


def hipcc(folder: Path, *arguments: str) -> list[str]:
    """What ``hipcc`` hands to clang."""
    root = folder / "rocm"
    (root / "bin").mkdir(parents=True, exist_ok=True)
    (root / "share/cass").mkdir(parents=True, exist_ok=True)
    echo = folder / "echo"
    echo.write_text("#!/bin/sh\nprintf '%s\\n' \"$@\"\n")
    echo.chmod(0o755)
    settings = f"CLANG={echo}\nLINKER=ld\nARCHITECTURE=gfx1100\nLINK_FLAGS=\nWORKAROUNDS=\n"
    (root / "share/cass/hipcc.env").write_text(settings)
    script = root / "bin/hipcc"
    script.write_text((SCRIPTS / "hipcc").read_text())
    return said("bash", str(script), *arguments)


def said(*command: str) -> list[str]:
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.parametrize("compiler", [clang, hipcc])
@pytest.mark.parametrize(
    ("arguments", "targets"),
    [
        (("-fopenmp", TARGET, "a b.o", "-o", "a"), 0),
        (("-fopenmp", TARGET, "-c", "a.hip", "-o", "a.o"), 1),
        (("-fopenmp", TARGET, "a.hip", "-o", "a"), 1),
    ],
)
def test_objects_are_linked_without_targets(
    compiler: Callable[..., list[str]],
    arguments: tuple[str, ...],
    targets: int,
    tmp_path: Path,
) -> None:
    given = compiler(tmp_path, *arguments)
    assert given.count(TARGET) == targets
    assert [name for name in ("a b.o", "-fopenmp") if name in arguments and name not in given] == []


def test_relocatable_device_code_is_linked_for_its_targets(tmp_path: Path) -> None:
    assert TARGET in clang(tmp_path, "--hip-link", TARGET, "a.o", "-o", "a")
    assert TARGET in hipcc(tmp_path, "-fgpu-rdc", TARGET, "a.o", "-o", "a")


@pytest.mark.parametrize(
    ("asked", "levels"), [((), ["-O3"]), (("-O0", "-g"), ["-O0"]), (("-O",), ["-O"])]
)
def test_hipcc_optimizes_where_nothing_is_asked_for(
    asked: tuple[str, ...], levels: list[str], tmp_path: Path
) -> None:
    """As ROCm's hipcc (``HIPCXXFLAGS += " -O3"``) and nvcc, unlike clang."""
    given = hipcc(tmp_path, *asked, "-c", "a.cu", "-o", "a.o")
    assert [flag for flag in given if flag.startswith("-O")] == levels
    assert not [flag for flag in hipcc(tmp_path, "a.o", "-o", "a") if flag.startswith("-O")]


@pytest.mark.parametrize(
    ("arguments", "languages"),
    [
        (("-c", "a.c", "-o", "a.o"), ["c", "none"]),
        (("a.c", "b.cu"), ["c", "none", "hip", "none"]),
        (("-x", "c++", "a.c"), ["c++"]),
        (("-xhip", "a.c"), []),
        (("a.cpp", "-x", "none", "b.c"), ["hip", "none", "none", "c", "none"]),
    ],
)
def test_c_stays_c_and_is_linked_as_cxx(
    arguments: tuple[str, ...], languages: list[str], tmp_path: Path
) -> None:
    """As nvcc and ROCm's hipcc: clang alone takes the language of the link from its own name."""
    given = hipcc(tmp_path, *arguments)
    assert "--driver-mode=g++" in given
    assert [given[place + 1] for place, word in enumerate(given) if word == "-x"] == languages


def test_an_object_of_objects_has_no_runtime(tmp_path: Path) -> None:
    given = hipcc(tmp_path, "-fgpu-rdc", "--hip-link", "-r", "a.o", "-o", "b.o")
    assert "-lamdhip64" not in given and "--hip-link" in given


RUNTIME = ("-include", "hip/hip_runtime.h")
"""nvcc includes ``cuda_runtime.h`` before a ``.cu`` file (nvcc's manual, ``--pre-include``)."""


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("-gencode", "arch=compute_80,code=sm_80", "-c", "a.cu"), ["-c", *RUNTIME, "a.cu"]),
        (
            ("-gencode=arch=compute_80,code=sm_80", "--use_fast_math"),
            ["-fgpu-approx-transcendentals"],
        ),
        (("-Xcompiler", "-fPIC,-Wall", "-shared"), ["-fPIC", "-Wall", "-shared"]),
        (("--compiler-options", "'-fPIC'"), ["-fPIC"]),
        (("-Xcompiler=-O2", "-rdc=true"), ["-O2", "-fgpu-rdc", "--hip-link"]),
        (("-dc", "a.cu"), ["-fgpu-rdc", "-c", *RUNTIME, "a.cu"]),
        (("-lcudart", "-lcublas", "-lm"), ["-lhipblas", "-lm"]),
        (("-x", "cu", "a.cpp"), ["-x", "hip", "a.cpp"]),
        (("-maxrregcount", "32", "-G", "-lineinfo"), ["-g", "-gline-tables-only"]),
        (("-DA=a b", "a.cu"), ["-DA=a b", *RUNTIME, "a.cu"]),
        (("-std", "c++17", "a.cu"), ["-std=c++17", *RUNTIME, "a.cu"]),
        (("--std", "c++20", "--std=c++17"), ["-std=c++20", "--std=c++17"]),
    ],
)
def test_nvcc_is_hipcc_with_its_flags(
    arguments: tuple[str, ...], expected: list[str], tmp_path: Path
) -> None:
    (tmp_path / "nvcc").write_text((SCRIPTS / "nvcc").read_text())
    echo = tmp_path / "hipcc"
    echo.write_text("#!/bin/sh\nprintf '%s\\n' \"$@\"\n")
    echo.chmod(0o755)
    command = ["bash", str(tmp_path / "nvcc"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == expected
    assert NVCC_CALLED in done.stderr


def test_ninja_goes_on_where_a_target_fails(tmp_path: Path) -> None:
    if shutil.which("ninja") is None:
        pytest.skip("ninja is not installed")
    tools = tmp_path / "bin"
    tools.mkdir()
    shutil.copy(SCRIPTS / "ninja", tools)
    (tmp_path / "build.ninja").write_text(
        "pool one\n  depth = 1\nrule bad\n  command = false\n  pool = one\n"
        "rule good\n  command = touch $out\n  pool = one\n"
        "build a: bad\nbuild b: bad\nbuild c: good\n"
    )
    variables = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
    done = subprocess.run(["ninja"], cwd=tmp_path, env=variables, check=False, capture_output=True)
    assert done.returncode == 1 and (tmp_path / "c").exists()
    version = subprocess.run(["ninja", "--version"], env=variables, capture_output=True, check=True)
    assert version.stdout.strip().decode().split(".")[0].isdigit()
    alone = subprocess.run(
        ["/bin/bash", tools / "ninja"], env={"PATH": f"{tools}:/nowhere"}, check=False
    )
    assert alone.returncode == 127
