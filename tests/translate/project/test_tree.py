"""Whole folders."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.project.tree import STATE, is_source, translate_tree
from cass_ray.translate.rules import RulesTranslator


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / "src/a.cu").write_text('#include "cuda.h"\nint main() { cudaFree(0); }\n')
    (root / "src/cuda.h").write_text("#pragma once\n")
    (root / "src/plain.cpp").write_bytes("int x; // caf\xe9\r\n".encode("latin-1"))
    (root / "data.bin").write_bytes(b"\0cudaMalloc")
    (root / "run.sh").write_text("#!/bin/sh\necho cudaMalloc\n")
    (root / "run.sh").chmod(0o755)
    (root / ".git").mkdir()
    (root / ".git/config").write_text("x")
    (root / "loop").symlink_to(root)
    return root


def test_a_tree_is_translated(project: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = translate_tree(project, out, make_translator())
    assert {file.path: file.action for file in result.files} == {
        "data.bin": "copied",
        "run.sh": "unchanged",
        "src/a.cu": "translated",
        "src/cuda.h": "unchanged",
        "src/plain.cpp": "unchanged",
    }
    translated = (out / "src/a.cu").read_text()
    assert "hipFree(0)" in translated
    # The project's own cuda.h is not CUDA's.
    assert '#include "cuda.h"' in translated
    for name in ("data.bin", "run.sh", "src/plain.cpp"):
        assert (out / name).read_bytes() == (project / name).read_bytes()
    assert (out / "run.sh").stat().st_mode & 0o111
    assert not (out / ".git").exists()
    assert not (out / "loop").exists()


def test_what_sources_include_is_translated_whatever_its_name(tmp_path: Path) -> None:
    root, out = tmp_path / "project", tmp_path / "out"
    root.mkdir()
    (root / "a.h").write_text('#include "parts/a.tcu"\n')
    (root / "parts").mkdir()
    for name in ("a.tcu", "b.tcu"):
        (root / "parts" / name).write_text("inline void f(cudaStream_t s) {}\n")
    translate_tree(root, out, make_translator())
    assert "hipStream_t" in (out / "parts/a.tcu").read_text()
    assert "cudaStream_t" in (out / "parts/b.tcu").read_text()

    (root / "a.h").write_text('#include "parts/b.tcu"\n')
    translate_tree(root, out, make_translator())
    assert "cudaStream_t" in (out / "parts/a.tcu").read_text()
    assert "hipStream_t" in (out / "parts/b.tcu").read_text()


def test_a_second_run_writes_only_what_changed(project: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    translate_tree(project, out, make_translator())
    os.utime(out / "src/a.cu", (1, 1))
    os.utime(out / "src/plain.cpp", (1, 1))
    (project / "src/plain.cpp").write_text("int y = cudaSuccess;\n")
    result = translate_tree(project, out, make_translator())
    actions = {file.path: file.action for file in result.files}
    assert actions["src/a.cu"] == "kept"
    assert actions["src/plain.cpp"] == "translated"
    assert (out / "src/a.cu").stat().st_mtime == 1
    assert (out / "src/plain.cpp").read_text() == "int y = hipSuccess;\n"


def test_a_second_run_follows_the_choice_of_vector_types(tmp_path: Path) -> None:
    root, out = tmp_path / "project", tmp_path / "out"
    root.mkdir()
    (root / "a.cu").write_text("#include <cuda_runtime.h>\n__global__ void f(int*);\n")
    (root / "b.cu").write_text("#include <cuda_runtime.h>\nint g;\n")
    translate_tree(root, out, make_translator())
    # Another file of the same names wants them: those that did not change are translated again.
    (root / "b.cu").write_text("#include <cuda_runtime.h>\nfloat4 g;\n")
    translate_tree(root, out, make_translator())
    translate_tree(root, tmp_path / "fresh", make_translator())
    assert (out / "a.cu").read_text() == (tmp_path / "fresh/a.cu").read_text()


def test_edits_by_hand_survive(project: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    translate_tree(project, out, make_translator())
    (out / "src/a.cu").write_text("mine\n")
    (project / "src/a.cu").write_text("int main() {}\n")
    result = translate_tree(project, out, make_translator())
    assert {file.path: file.action for file in result.files}["src/a.cu"] == "edited"
    assert (out / "src/a.cu").read_text() == "mine\n"


def test_a_broken_state_file_only_costs_time(project: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / STATE).write_text("{not json")
    assert translate_tree(project, out, make_translator()).number("translated") == 1


def test_the_output_cannot_lie_inside_the_tree(project: Path) -> None:
    with pytest.raises(ValueError, match="inside"):
        translate_tree(project, project / "out", make_translator())


def test_what_the_tree_no_longer_has_goes(tmp_path: Path) -> None:
    """Except what was changed by hand; a file that was never ours stays as well."""
    root, out = tmp_path / "in", tmp_path / "out"
    for name in ("a.cu", "old/b.cu", "old/deep/c.cu", "edited.cu"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("int x;\n")
    translate_tree(root, out, make_translator())
    (out / "edited.cu").write_text("mine\n")
    (out / "own.txt").write_text("mine\n")
    for name in ("old/b.cu", "old/deep/c.cu", "edited.cu"):
        (root / name).unlink()
    translate_tree(root, out, make_translator())
    left = sorted(path.relative_to(out).as_posix() for path in out.rglob("*"))
    assert left == [".cass-translate.json", "a.cu", "edited.cu", "own.txt"]


OWN = "#pragma once\nnamespace cuda { namespace device { int count(); } struct barrier {}; }\n"


@pytest.mark.parametrize(
    ("header", "use", "errors"),
    [
        (OWN, "int n = cuda::device::count();", 0),
        (OWN, "cuda::barrier b;", 0),
        ("namespace cuda::device { int count(); }\n", "int n = cuda::device::count();", 0),
        ("namespace cuda { int count(); }\n", "int n = cuda::device::count();", 1),
        ("namespace cuda { namespace std { struct a; } }\n", "cuda::std::barrier<> b;", 1),
        ("namespace my { namespace cuda {} }\n", "cuda::annotated_ptr<int> b;", 1),
    ],
)
def test_a_namespace_cuda_of_the_projects_own(
    tmp_path: Path, header: str, use: str, errors: int
) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "own.hpp").write_text(header)
    (source / "main.cu").write_text(f'#include "own.hpp"\n{use}\n')
    assert translate_tree(source, tmp_path / "out", RulesTranslator()).errors == errors


@pytest.mark.parametrize(
    ("name", "translated"),
    [
        ("config.h.in", True),
        ("kernels.cu.in", True),
        ("performdocking.cpp.Cuda", True),
        ("sum.cuh.template", True),
        ("kernel.cu.j2", True),
        ("kernel.h.jinja", True),
        ("notes.txt.in", False),
        ("Makefile.in", False),
        ("program.cu.orig", False),
    ],
)
def test_files_that_a_build_copies(name: str, translated: bool, tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / name).write_text("#include <cuda_runtime.h>\nint f() { return cudaFree(0); } // @X@\n")
    translate_tree(root, tmp_path / "out", make_translator("rules"))
    text = (tmp_path / "out" / name).read_text()
    assert ("hipFree" in text) == translated
    assert "// @X@" in text


@pytest.mark.parametrize("name", ["CMakeLists.txt.jinja", "OwnConfig.cmake.in", "Own.cmake"])
def test_build_files_that_are_made_from_others_are_translated(name: str, tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / name).write_text("find_package(CUDAToolkit REQUIRED)\n@X@ {{ name }}\n")
    translate_tree(root, tmp_path / "out", make_translator("rules"))
    text = (tmp_path / "out" / name).read_text()
    assert "find_package(hip REQUIRED)" in text
    assert text.endswith("@X@ {{ name }}\n")


@pytest.mark.parametrize(
    "name", ["kernels.cu.in", "kernel.cu.j2", "a.cu.template", "plain.cu", "x.cu.cuda"]
)
def test_what_a_build_makes_of_a_file_has_nvccs_own_header(name: str, tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / name).write_text("__global__ void k(@T@* a) { a[threadIdx.x] = 0; }\n")
    translate_tree(root, tmp_path / "out", make_translator("rules"))
    text = (tmp_path / "out" / name).read_text()
    assert text.startswith("#include <hip/hip_runtime.h>\n")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.cu", True),
        ("include/LightGBM/cuda/cuda_utils.hu", True),
        ("x.txx", True),
        ("Runtime.CPP", True),
        ("config.h.in", True),
        ("notes.txt", False),
        ("hu", False),
    ],
)
def test_what_is_named_like_source(name: str, expected: bool) -> None:
    assert is_source(name) is expected


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("#if defined(__HIPCC__)\n#define EIGEN_HIPCC __HIPCC__\n#endif\n", True),
        ("// Eigen 3.3, which does not know HIP\n", False),
    ],
)
def test_libraries_that_know_hip_stay(tmp_path: Path, text: str, kept: bool) -> None:
    library = tmp_path / "project/thirdparty/eigen"
    macros = library / "Eigen/src/Core/util/Macros.h"
    macros.parent.mkdir(parents=True)
    guard = "#if defined(__CUDACC__)\n#define EIGEN_CUDACC __CUDACC__\n#endif\n"
    macros.write_text(guard + text)
    files = ["thirdparty/eigen/unsupported/Eigen/T.h", "thirdparty/own.h", "Eigen.h"]
    for name in files:
        place = tmp_path / "project" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(guard)
    made = translate_tree(tmp_path / "project", tmp_path / "out", make_translator())
    actions = {file.path: file.action for file in made.files}
    assert actions["thirdparty/own.h"] == actions["Eigen.h"] == "translated"
    of_library = {action for name, action in actions.items() if "/eigen/" in name}
    assert of_library == ({"copied"} if kept else {"translated"})
