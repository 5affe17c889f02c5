"""Units with preludes: the same code as without, and none where it would be another's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from cass_ray.toolchain.amd import toolchain as amd_toolchain
from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.prelude import preludes
from cass_ray.toolchain.sandbox import isolation, process
from cass_ray.toolchain.sandbox.process import Completed
from cass_ray.toolchain.unit import CompileFailure, Unit
from tests.toolchain.nvidia.test_toolchain import TOOLCHAIN

pytestmark = [
    pytest.mark.amd,
    pytest.mark.skipif(not isolation.available(), reason=isolation.problem()),
]

SHARED = """#pragma once
#include <cstdio>
#include <string>
#include <vector>
#define SCALE 3
#define WHERE __FILE__, __LINE__
template <class T> struct Table {
  static int made;
  std::vector<T> rows;
  T first(const std::string &name) { return rows.at(name.size()) * SCALE; }
};
template <class T> int Table<T>::made = 0;
static Table<int> every;
inline int told(const char *file, int line) { return std::printf("%s %d\\n", file, line); }
template <class T> __global__ void scale(T *out) { out[threadIdx.x] *= SCALE; }
inline int launch(int *out) { scale<int><<<1, 32>>>(out); return every.first("a"); }
"""
BODIES = {
    "plain": "int first(int *out) { return launch(out) + told(WHERE); }\n",
    "templates": "template struct Table<double>;\n__global__ void own(float *x) { *x = SCALE; }\n"
    "void call(float *x, double *y) { own<<<1, 1>>>(x); scale<double><<<1, 8>>>(y); }\n",
    "statics": "static Table<float> mine; int made() { return Table<float>::made++ + "
    "mine.rows.size(); }\n__global__ void own(int *x) { *x = __LINE__; }\n"
    "int (*choose)(const char *, int) = told;\n",
    "counter": "int numbers[] = {__COUNTER__, __COUNTER__, __LINE__};\n"
    "__global__ void own(int *x) { *x = __COUNTER__; }\n",
}

KERNEL = "__global__ void own(int *x) { *x = 7; }\n"


@dataclass
class Runs:
    """What clang was called for."""

    made: int = 0
    used: int = 0
    whole: int = 0

    def note(self, words: list[str]) -> None:
        if "-emit-pch" in words:
            self.made += "prelude" in words
        elif "-fno-validate-pch" in words:
            self.used += 1
        else:
            self.whole += "-x" in words and "-S" in words


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Runs]:
    runs = Runs()

    def noted(argv: Any, **options: Any) -> Completed:
        runs.note([str(word) for word in argv])
        return process_run(argv, **options)

    process_run = process.run
    monkeypatch.setattr(amd_toolchain, "run", noted)
    monkeypatch.setattr("cass_ray.toolchain.nvidia.steps.process.run", noted)
    monkeypatch.setattr(preludes, "_WORTH", 0.0)
    yield runs


def tree_of(folder: Path, **files: str) -> Path:
    (folder / "src").mkdir(parents=True)
    (folder / "inc").mkdir()
    (folder / "inc/shared.h").write_text(SHARED)
    for name, text in files.items():
        (folder / f"src/{name}.hip").write_text(text)
    return folder


def unit(root: Path, name: str) -> Unit:
    return Unit(root, PurePosixPath(f"src/{name}.hip"), (PurePosixPath("inc"),))


def beginning(body: str, comment: str = "", before: str = "") -> str:
    return f'// {comment}\n{before}#include <cstdlib>\n\n#include "shared.h"\n{body}'


def amd(tmp_path: Path) -> amd_toolchain.AmdToolchain:
    return replace(find_amd(), cache=tmp_path / "cache")


def texts(toolchain: amd_toolchain.AmdToolchain, given: Unit) -> tuple[str, str]:
    made = toolchain.compile(given)
    return made.host_assembly, made.device_assembly


def test_the_code_is_that_without_preludes(
    tmp_path: Path, runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {name: beginning(body, name) for name, body in BODIES.items()}
    root, toolchain = tree_of(tmp_path / "tree", **files), amd(tmp_path)
    with_preludes = [texts(toolchain, unit(root, name)) for name in BODIES]
    assert runs.made == 2, "one a side, for the second unit"
    assert runs.used == 2 * (len(BODIES) - 1)
    monkeypatch.setattr(preludes.Preludes, "compile", lambda *_: None)
    assert [texts(toolchain, unit(root, name)) for name in BODIES] == with_preludes


def test_another_copy_of_the_tree_shares_them(tmp_path: Path, runs: Runs) -> None:
    bodies = {name: beginning(BODIES[name]) for name in ("plain", "statics")}
    toolchain = amd(tmp_path)
    for number, name in enumerate(("plain", "statics", "plain", "statics")):
        texts(toolchain, unit(tree_of(tmp_path / f"tree{number}", **bodies), name))
    assert (runs.made, runs.used) == (2, 6)


@pytest.mark.parametrize("change", ["text", "macro", "shadow", "folder"])
def test_what_would_be_another_text_is_not_used(change: str, tmp_path: Path, runs: Runs) -> None:
    toolchain = amd(tmp_path)
    bodies = {name: beginning(BODIES[name]) for name in ("plain", "counter")}
    for name in bodies:
        texts(toolchain, unit(tree_of(tmp_path / name, **bodies), name))
    assert runs.used == 2
    before = "#define _GLIBCXX_ASSERTIONS 1\n" if change == "macro" else ""
    root = tree_of(tmp_path / "other", statics=beginning(BODIES["statics"], before=before))
    other = SHARED.replace("SCALE 3", "SCALE 5")
    given = unit(root, "statics")
    if change == "text":
        (root / "inc/shared.h").write_text(other)
    if change == "shadow":
        (root / "src/shared.h").write_text(other)
    if change == "folder":
        (root / "other").mkdir()
        (root / "src/statics.hip").rename(root / "other/statics.hip")
        (root / "src/shared.h").write_text(other)
        given = replace(given, main=PurePosixPath("other/statics.hip"))
    made = texts(toolchain, given)
    used, without = runs.used, replace(toolchain, cache=tmp_path / "another_cache")
    assert texts(without, given) == made
    assert runs.used == used


def test_what_does_not_compile_says_what_it_says_without(tmp_path: Path, runs: Runs) -> None:
    bodies = {name: beginning(BODIES[name]) for name in ("plain", "statics")}
    bodies["wrong"] = beginning("int x = unknown;\n")
    root, toolchain = tree_of(tmp_path / "tree", **bodies), amd(tmp_path)
    said = []
    for name in ("wrong", "plain", "statics", "wrong"):
        try:
            texts(toolchain, unit(root, name))
        except CompileFailure as failure:
            said.append(failure.diagnostic)
    assert len(said) == 2
    assert said[0] == said[1]
    assert "src/wrong.hip:5:9: error: use of undeclared identifier 'unknown'" in said[0]


@pytest.mark.parametrize("kind", ["forced", "replaced", "damaged", "full"])
def test_where_there_can_be_none(
    kind: str, tmp_path: Path, runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    toolchain = amd(tmp_path)
    bodies = {name: beginning(BODIES[name]) for name in ("plain", "statics", "templates")}
    root = tree_of(tmp_path / "tree", **bodies)
    given = [unit(root, name) for name in bodies]
    if kind == "forced":
        given = [replace(each, forced=("cstdint",)) for each in given]
    if kind == "replaced":
        given = [replace(each, replaced=(("inc/shared.h", SHARED),)) for each in given]
    if kind == "full":
        monkeypatch.setattr(preludes, "ROOM", 1 << 62)
    made = [texts(toolchain, each) for each in given[:2]]
    if kind == "damaged":
        for path in (toolchain.cache / "precompiled/preludes").glob("*.pch"):
            path.write_bytes(b"CPCH no such thing")
    made.append(texts(toolchain, given[2]))
    if kind != "damaged":
        assert runs.made == runs.used == 0
    monkeypatch.setattr(preludes.Preludes, "compile", lambda *_: None)
    assert [texts(toolchain, each) for each in given] == made


def test_what_cannot_be_made_is_tried_once(
    tmp_path: Path, runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preludes.PreludeFiles, "read", lambda *_: None)
    root, toolchain = tree_of(tmp_path / "tree"), amd(tmp_path)
    for number in range(4):
        (root / f"src/u{number}.hip").write_text(f"#include <vector>\n{KERNEL}")
        texts(toolchain, unit(root, f"u{number}"))
    assert (runs.made, runs.used) == (2, 0)


def test_a_new_commit_gets_its_own(
    tmp_path: Path, runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    toolchain, kernel = amd(tmp_path), f'#include "shared.h"\n{KERNEL}'
    old, new = (tree_of(tmp_path / each, a=kernel, b=kernel) for each in ("old", "new"))
    (new / "inc/shared.h").write_text(SHARED.replace("SCALE 3", "SCALE 5"))
    for root in (old, new):
        made = [texts(toolchain, unit(root, name)) for name in ("a", "b")]
    assert (runs.made, runs.used) == (2, 2)
    monkeypatch.setattr(preludes, "_TRIED_AGAIN", -1.0)
    assert [texts(toolchain, unit(new, name)) for name in ("a", "b")] == made
    assert (runs.made, runs.used) == (4, 4)


@pytest.mark.nvidia
@pytest.mark.skipif(TOOLCHAIN is None, reason="no CUDA compiler among the Python packages")
def test_the_host_side_of_cuda(tmp_path: Path, runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    assert TOOLCHAIN is not None
    if TOOLCHAIN.clang is None:
        pytest.skip("no clang")
    toolchain = replace(TOOLCHAIN, cache=tmp_path / "cache")
    root = tree_of(tmp_path / "tree")
    units = []
    for name, body in BODIES.items():
        (root / f"src/{name}.cu").write_text(beginning(body, name))
        units.append(replace(unit(root, name), main=PurePosixPath(f"src/{name}.cu")))
    made = [toolchain.compile(each).host_assembly for each in units]
    assert (runs.made, runs.used) == (1, len(BODIES) - 1)
    monkeypatch.setattr(preludes.Preludes, "compile", lambda *_: None)
    assert [toolchain.compile(each).host_assembly for each in units] == made
