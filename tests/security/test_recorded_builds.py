"""Builds of strangers, recorded: what their files for CMake and make try to do with this machine.

What a build sees, its network and its records: ``tests/builds/test_recording.py``.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

import pytest

from cass_ray.builds import recording as recording_module
from cass_ray.builds.recording import BuildRecorder
from cass_ray.cache import default_directory
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_nvidia
from cass_ray.toolchain.provided.store import HeaderStore
from cass_ray.toolchain.sandbox import isolation
from cass_ray.toolchain.sandbox.process import Limits

pytestmark = pytest.mark.skipif(not isolation.available(), reason="bubblewrap does not work here")

KERNEL = "__global__ void k(int *a) { a[0] = 1; }\n"
LIMITS = Limits(
    cpu_seconds=60, wall_seconds=120, memory_bytes=2 << 30, address_space_bytes=None, processes=64
)


@pytest.fixture(scope="module")
def recorder() -> BuildRecorder:
    if shutil.which("cmake") is None or shutil.which("make") is None:
        pytest.skip("cmake and make are not installed")
    try:
        nvidia = find_nvidia()
    except ToolMissing as missing:
        pytest.skip(str(missing))
    store = HeaderStore(default_directory())
    return BuildRecorder(nvidia.nvcc, nvidia.home, nvidia.library_directories, store, LIMITS)


def tree_of(folder: Path, **files: str) -> Path:
    tree = folder / "tree"
    tree.mkdir()
    for name, text in {"a_dot_cu": KERNEL, **files}.items():
        (tree / name.replace("_dot_", ".")).write_text(text)
    return tree


def test_cmake_writes_and_reads_in_its_tree_alone(recorder: BuildRecorder, tmp_path: Path) -> None:
    secret, outside = tmp_path / "secret.h", tmp_path / "outside"
    secret.write_text("#define SECRET 1\n")
    outside.mkdir()
    lists = f"""\
cmake_minimum_required(VERSION 3.18)
project(p LANGUAGES CXX CUDA)
file(GLOB_RECURSE found "{tmp_path}/*" "$ENV{{HOME}}/*" "/root/*" "/home/*")
file(WRITE "${{CMAKE_SOURCE_DIR}}/found.h" "// ${{found}}\\n")
execute_process(COMMAND ${{CMAKE_COMMAND}} -E copy {secret} ${{CMAKE_SOURCE_DIR}}/copied.h)
execute_process(COMMAND ${{CMAKE_COMMAND}} -E create_symlink {secret} ${{CMAKE_SOURCE_DIR}}/link.h)
execute_process(COMMAND ${{CMAKE_COMMAND}} -E touch {outside}/written /usr/local/bin/nvcc)
add_library(p a.cu)
"""
    tree = tree_of(tmp_path, CMakeLists_dot_txt=lists)

    with tempfile.NamedTemporaryFile(dir=Path.home(), prefix="cass-own-", suffix=".h"):
        made = recorder.record(tree, [])

    assert set(made.units) == {"a.cu"}
    assert set(made.generated) == {"found.h"}
    # Tools that are installed below the home folder are seen there.
    assert not re.search(rb"cass-own-|secret|outside|/tree/", made.generated["found.h"])
    assert list(outside.iterdir()) == []


def test_options_that_load_code_are_not_taken_over(recorder: BuildRecorder, tmp_path: Path) -> None:
    makefile = (
        "all:\n\tnvcc -Xcompiler -fplugin=./evil.so -ccbin ./evil "
        "--compiler-options -wrapper,./evil -Xcompiler -specs=evil -optf evil.txt "
        "-I@evil -I/etc -include evil.h -DN=1 -c a.cu\n"
    )
    tree = tree_of(tmp_path, Makefile=makefile, evil_dot_txt="-Xcicc -load=./evil.so\n")

    unit = recorder.record(tree, []).units["a.cu"]

    assert unit.definitions == ("N=1",)
    assert unit.include_directories == ("@evil",)  # which no compiler is given: Unit refuses it
    assert unit.forced == ("evil.h",)
    assert unit.options == ()


def test_what_a_build_writes_is_bounded(
    recorder: BuildRecorder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording_module, "_GENERATED_BYTES", 1000)
    monkeypatch.setattr(recording_module, "_ALL_GENERATED_BYTES", 2500)
    makefile = (
        "all:\n\tfor i in 1 2 3 4; do head -c 999 /dev/zero > $$i.h; done\n"
        "\thead -c 1001 /dev/zero > 0.h\n\tnvcc -c a.cu\n"
    )
    made = recorder.record(tree_of(tmp_path, Makefile=makefile), [])
    assert sorted(made.generated) == ["1.h", "2.h"]


def test_a_bomb_of_processes_ends_its_plan(recorder: BuildRecorder, tmp_path: Path) -> None:
    makefile = "all: a.o\n\tbomb() { bomb | bomb & }; bomb; sleep 60\na.o:\n\tnvcc -c a.cu\n"
    made = recorder.record(tree_of(tmp_path, Makefile=makefile), [])
    assert set(made.units) == {"a.cu"}


@pytest.mark.parametrize(
    "target", ["../../../escaped", "/escaped", "/usr/escaped", "/cass/recorders/escaped"]
)
def test_a_clone_lands_nowhere_but_in_the_tree(
    recorder: BuildRecorder, tmp_path: Path, target: str
) -> None:
    address = "https://github.com/f/fmt.git"
    makefile = f"all:\n\t-git clone {address} {target}\n\tnvcc -c a.cu\n"
    tree = tree_of(tmp_path, Makefile=makefile)
    (tree / "lib").mkdir()
    (tree / "lib/core.h").write_text("int core;\n")

    made = recorder.record(tree, [], {address: "lib"})

    assert set(made.units) == {"a.cu"}
    assert made.generated == {}
    assert not list(tmp_path.rglob("escaped"))
    assert not Path("/escaped").exists() and not Path("/usr/escaped").exists()
