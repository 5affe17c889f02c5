"""A translated CMake project configures, builds and runs with nothing but the prefix."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from cass_ray.emulator.build import runtime_library
from cass_ray.toolchain.amd.bundle import unbundle
from cass_ray.toolchain.amd.toolchain import DEFAULT_ARCHITECTURE
from cass_ray.toolchain.cmake_prefix import BUNDLER, find_archiver, main, write_cmake_prefix
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_amd
from cass_ray.translate.project.build_files import translate_cmake
from cass_ray.translate.rules import RulesTranslator

CMAKE = """\
cmake_minimum_required(VERSION 3.21)
project(squares LANGUAGES CXX CUDA)
find_package(CUDAToolkit REQUIRED)
set(CMAKE_CUDA_ARCHITECTURES 80 89)
add_executable(squares main.cpp squares.cu)
target_link_libraries(squares PRIVATE CUDA::cudart)
target_compile_features(squares PRIVATE cxx_std_17 cuda_std_17)
"""
HOST = """\
#include <cstdio>
#include <cuda_runtime.h>
void squares(int* values, int count);
int main() {
  int* values;
  cudaMallocManaged(&values, 8 * sizeof(int));
  squares(values, 8);
  for (int i = 0; i < 8; ++i) std::printf("%d ", values[i]);
}
"""
KERNEL = """\
__global__ void fill(int* values) { values[threadIdx.x] = threadIdx.x * threadIdx.x; }
void squares(int* values, int count) {
  fill<<<1, count>>>(values);
  cudaDeviceSynchronize();
}
"""


@pytest.mark.amd
@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cmake") is None, reason="CMake is not installed")
def test_a_translated_project_builds_and_runs(tmp_path: Path) -> None:
    try:
        toolchain, runtime = find_amd(), runtime_library()
    except ToolMissing as error:
        pytest.skip(str(error))
    project, build = tmp_path / "project", tmp_path / "build"
    project.mkdir()
    (project / "CMakeLists.txt").write_text(translate_cmake(CMAKE).source)
    for name, text in (("main.cpp", HOST), ("squares.cu", KERNEL)):
        translated = RulesTranslator().translate(text, filename=name).source
        (project / name).write_text(translated)
    file = write_cmake_prefix(tmp_path / "prefix", toolchain, runtime)

    configure = ["cmake", "-S", project, "-B", build, f"-DCMAKE_TOOLCHAIN_FILE={file}"]
    for command in (configure, ["cmake", "--build", build]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    done = subprocess.run([build / "squares"], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "1", "4", "9", "16", "25", "36", "49"]


@pytest.mark.amd
@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cmake") is None, reason="CMake is not installed")
def test_a_project_configures_again(tmp_path: Path) -> None:
    """Repairs and changed build files have it do so; the toolchain file is read once."""
    try:
        toolchain, runtime = find_amd(), runtime_library()
    except ToolMissing as error:
        pytest.skip(str(error))
    (tmp_path / "a.hip").touch()
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.21)\nproject(a LANGUAGES HIP)\nadd_library(a a.hip)\n"
    )
    file = write_cmake_prefix(tmp_path / "prefix", toolchain, runtime)

    configure = [
        "cmake",
        "-S",
        str(tmp_path),
        "-B",
        f"{tmp_path}/b",
        f"-DCMAKE_TOOLCHAIN_FILE={file}",
    ]
    for _ in range(2):
        done = subprocess.run(configure, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    flags = (tmp_path / "b" / "CMakeFiles" / "a.dir" / "flags.make").read_text()
    assert f"--offload-arch={DEFAULT_ARCHITECTURE}" in flags


def test_static_libraries_are_made_without_llvm_ar(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}" if name == "ar" else None)
    assert find_archiver(tmp_path / "clang") == Path("/bin/ar")
    (tmp_path / "llvm-ar").touch()
    assert find_archiver(tmp_path / "clang") == tmp_path / "llvm-ar"


def test_the_bundler_does_what_clang_asks(tmp_path: Path) -> None:
    """The command line is clang 19's."""
    (tmp_path / "a.out").write_bytes(b"\x7fELF of gfx1100")
    (tmp_path / "b.out").write_bytes(b"\x7fELF of gfx1101")
    targets = "host-x86_64-unknown-linux--,hipv4-amdgcn-amd-amdhsa--gfx1100"
    done = subprocess.run(
        [
            BUNDLER,
            "-type=o",
            "-bundle-align=4096",
            f"-targets={targets},hipv4-amdgcn-amd-amdhsa--gfx1101",
            "-input=/dev/null",
            f"-input={tmp_path}/a.out",
            f"-input={tmp_path}/b.out",
            f"-output={tmp_path}/out.hipfb",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert unbundle((tmp_path / "out.hipfb").read_bytes()) == {
        "gfx1100": b"\x7fELF of gfx1100",
        "gfx1101": b"\x7fELF of gfx1101",
    }


def test_the_bundler_takes_archives_apart(tmp_path: Path) -> None:
    """What clang 19 asks for to link device code from a static library (-fgpu-rdc --hip-link).

    Two members have one name, one has no code for the target.
    """
    target = "hip-amdgcn-amd-amdhsa-gfx1100"
    script = tmp_path / "clang-offload-bundler"
    script.write_bytes(BUNDLER.read_bytes())
    script.chmod(0o755)
    (tmp_path / "llvm-objcopy").symlink_to(shutil.which("objcopy") or pytest.skip("no objcopy"))
    library = tmp_path / "a library.a"
    for place, code in (("first", "one"), ("second", "two"), ("third", "")):
        folder = tmp_path / place
        folder.mkdir()
        member = folder / ("other.o" if place == "third" else "unit.o")
        subprocess.run(["gcc", "-x", "c", "-c", "/dev/null", "-o", member], check=True)
        if code:
            (folder / "code").write_text(code)
            section = f"__CLANG_OFFLOAD_BUNDLE__{target}={folder / 'code'}"
            subprocess.run(["objcopy", "--add-section", section, member], check=True)
        subprocess.run(["ar", "qc", library, member], check=True)
    command = [script, "-unbundle", "-type=a", f"-input={library}", f"-targets={target}"]
    command += [f"-output={tmp_path}/out.a", "-allow-missing-bundles", "-hip-openmp-compatible"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    members = subprocess.run(["ar", "p", tmp_path / "out.a"], capture_output=True, check=True)
    assert members.stdout == b"onetwo"


@pytest.mark.parametrize(
    "arguments",
    [
        ["-type=o", "-unbundle", "-targets=a,b", "-input=/dev/null", "-output=x"],
        ["-type=a", "-targets=a", "-input=/dev/null", "-output=x"],
        ["-type=bc", "-targets=a", "-input=/dev/null", "-output=x"],
        ["-type=o", "-targets=a,b", "-input=/dev/null", "-output=x"],
    ],
)
def test_the_bundler_refuses_the_rest(arguments: list[str]) -> None:
    done = subprocess.run([BUNDLER, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "cannot do this" in done.stderr


def test_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "cmake_prefix FOLDER" in capsys.readouterr().err


EMBEDS = """\
# *** Automatically generated by Clang ***
# HIP Object Generator
  .type __hip_fatbin,@object
  .section .hip_fatbin,"a",@progbits
  .globl __hip_fatbin
  .globl __hip_gpubin_handle
  .p2align 12
__hip_fatbin:
  .incbin "{file}"
  .section .hip_gpubin_handle,"aw",@progbits
__hip_gpubin_handle:
  .zero 8
  .section .note.GNU-stack, "", @progbits
"""
"""What clang 19 writes where it links device code (``HIPUtility.cpp``)."""
ASSEMBLER = BUNDLER.with_name("llvm-mc")


def assembler(prefix: Path) -> Path:
    """Where a prefix has it, beside its compiler."""
    for name in ("bin", "llvm/bin"):
        (prefix / name).mkdir(parents=True)
    shutil.copy(ASSEMBLER, prefix / "bin/llvm-mc")
    (prefix / "llvm/bin/clang++").symlink_to(find_amd().clang)
    return prefix / "bin/llvm-mc"


def assembled(program: Path | str, folder: Path, *arguments: str) -> bytes:
    (folder / "a folder").mkdir(exist_ok=True)
    (folder / "a folder/code.hipfb").write_bytes(b"__CLANG_OFFLOAD_BUNDLE__ and more\0")
    source, made = folder / "a folder/a.mcin", folder / "a folder/a.o"
    source.write_text(EMBEDS.format(file=folder / "a folder/code.hipfb"))
    command = [str(program), *arguments, "-o", str(made), str(source), "--filetype=obj"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return made.read_bytes()


@pytest.mark.amd
@pytest.mark.parametrize(
    "arguments",
    [["-triple", "x86_64-unknown-linux-gnu"], ["--triple=x86_64-unknown-linux-gnu"], []],
)
def test_the_assembler_does_what_clang_asks(tmp_path: Path, arguments: list[str]) -> None:
    """The command line is clang 19's."""
    made = assembled(assembler(tmp_path / "a prefix"), tmp_path, *arguments)
    assert made[:4] == b"\x7fELF"
    assert b"__CLANG_OFFLOAD_BUNDLE__ and more\0" in made
    names = subprocess.run(
        ["nm", tmp_path / "a folder/a.o"], capture_output=True, text=True, check=True
    ).stdout.split()
    assert names[1:3] + names[4:6] == ["R", "__hip_fatbin", "D", "__hip_gpubin_handle"]


@pytest.mark.amd
def test_the_assemblers_object_is_llvms(tmp_path: Path) -> None:
    theirs = shutil.which("llvm-mc-19") or shutil.which("llvm-mc")
    if theirs is None:
        pytest.skip("LLVM's own llvm-mc is not installed")
    triple = ("-triple", "x86_64-unknown-linux-gnu")
    ours = contents(assembled(assembler(tmp_path / "prefix"), tmp_path, *triple), tmp_path)
    assert ours == contents(assembled(theirs, tmp_path, *triple), tmp_path)


def contents(made: bytes, folder: Path) -> str:
    (folder / "o.o").write_bytes(made)
    command = ["objdump", "-s", "-t", "-j", ".hip_fatbin", "-j", ".hip_gpubin_handle", "o.o"]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder).stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["-o", "x", "a.s"],
        ["--filetype=obj", "a.s"],
        ["--filetype=obj", "-o", "x"],
        ["--filetype=asm", "-o", "x", "a.s"],
        ["--filetype=obj", "-o", "x", "a.s", "b.s"],
        ["--disassemble", "--filetype=obj", "-o", "x", "a.s"],
    ],
)
def test_the_assembler_refuses_the_rest(arguments: list[str], tmp_path: Path) -> None:
    done = subprocess.run(
        [ASSEMBLER, *arguments], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 1
    assert done.stderr.startswith("llvm-mc: ")
