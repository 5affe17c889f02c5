"""The Python that the commands of a port start."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cass_ray.cache import default_directory
from cass_ray.project.interpreter import names_python, starts_python, write_interpreter
from cass_ray.toolchain.archive.library_root import LibraryRoot, find_library_root


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("python setup.py build_ext --inplace", True),
        ("cd a && python3 -m pytest -q", True),
        ("FORCE=1 pytest tests", True),
        ("make test | python check.py", True),
        ("./python/run.sh", False),
        ("make python-module", False),
        ("/usr/bin/python3 a.py", False),
        ("ctest --test-dir build-hip", False),
    ],
)
def test_commands_that_name_python(command: str, expected: bool) -> None:
    assert names_python(command) is expected


def test_recipes_start_it_too(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("NAME = python3\ntest: a\n\tpython3 test.py\n")
    assert starts_python(tmp_path, "make", "make test")
    (tmp_path / "Makefile").write_text("NAME = python3\ntest: a\n\t./a\n")
    assert not starts_python(tmp_path, "make", "make test")
    assert starts_python(tmp_path, "make", "pytest")


def test_a_makefile_of_a_folder_starts_it_too(tmp_path: Path) -> None:
    (tmp_path / "test/more").mkdir(parents=True)
    (tmp_path / "test/more/Makefile").write_text("a:\n\tpython a.py\n")
    assert not starts_python(tmp_path, "make -C test")
    (tmp_path / "test/Makefile").write_text("a:\n\tpython a.py\n")
    assert starts_python(tmp_path, "make -C test")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("find_program(PYTHON NAMES python3)\n", True),
        ("find_package(Python3 COMPONENTS Interpreter REQUIRED)\n", True),
        ("add_test(NAME a COMMAND python3 a.py)\n", True),
        ("find_package(Python3 COMPONENTS Interpreter Development)\n", False),
        ("add_test(NAME a COMMAND a python/b)\n", False),
    ],
)
def test_files_of_cmake_start_it_too(text: str, expected: bool, tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/CMakeLists.txt").write_text(text)
    assert starts_python(tmp_path, "ctest --test-dir build-hip") is expected


@pytest.mark.parametrize("libraries", [None, LibraryRoot(Path("/nowhere"), ())])
def test_it_is_this_interpreter(tmp_path: Path, libraries: LibraryRoot | None) -> None:
    folder, beside = write_interpreter(tmp_path, libraries)
    assert beside == Path(sys.executable).parent
    code = "import json, sys; print(json.dumps([sys.executable, sys.prefix, sys.argv[1:]]))"
    for name in ("python", "python3"):
        command = [folder / name, "-c", code, "a b", ""]
        done = subprocess.run(command, capture_output=True, check=True)
        assert json.loads(done.stdout) == [sys.executable, sys.prefix, ["a b", ""]]


@pytest.mark.parametrize(
    "command", ["", "PYTHONPATH=", "PYTHONPATH=/a", "PYTHONPATH=$PYTHONPATH:/a"]
)
def test_modules_of_the_start_are_found_whatever_a_command_says(
    tmp_path: Path, command: str
) -> None:
    startup = tmp_path / "startup"
    folder, _ = write_interpreter(tmp_path, None, startup)
    code = "import sys; print(sys.path)"
    done = subprocess.run(
        ["bash", "-c", f'{command} "{folder}/python" -c "{code}"'],
        capture_output=True,
        check=True,
        text=True,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(startup)},
    )
    assert done.stdout.count(f"'{startup}'") == 1
    assert done.stdout.count("'/a'") == command.count("/a")


@pytest.mark.amd
def test_it_starts_with_the_libraries_own_loader(tmp_path: Path) -> None:
    libraries = find_library_root(default_directory())
    if libraries is None:
        pytest.skip("AMD's libraries are not installed: cass setup libraries")
    folder, _ = write_interpreter(tmp_path, libraries)
    code = "import ctypes, sys; print(sys.prefix, open('/proc/self/maps').read())"
    done = subprocess.run([folder / "python", "-c", code], capture_output=True, check=True)
    printed = done.stdout.decode()
    assert printed.startswith(sys.prefix)
    assert f"{libraries.folder.resolve()}/libc.so.6" in printed


def test_the_systems_cmake_comes_before_one_beside_python(tmp_path: Path) -> None:
    """A package's CMake 4 refuses what projects of before 2015 ask for."""
    system = shutil.which("cmake", path="/usr/local/bin:/usr/bin:/bin")
    if system is None:
        pytest.skip("needs cmake")
    path = ":".join(map(str, write_interpreter(tmp_path, None)))
    code = ["/bin/sh", "-c", "cmake --version; command -v cmake"]
    done = subprocess.run(code, capture_output=True, check=True, text=True, env={"PATH": path})
    own = subprocess.run([system, "--version"], capture_output=True, check=True, text=True)
    assert done.stdout == f"{own.stdout}{tmp_path}/interpreter/cmake\n"
