"""One build file for both vendors, as CMake and make read it with the switch and without."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from cass_ray.translate.project.hunks import SharedError
from cass_ray.translate.project.switches import VendorSwitch, share_build_file, switch_of

CMAKE, MAKE = "CMakeLists.txt", "Makefile"


def shared(path: str, cuda: str, hip: str) -> tuple[str, VendorSwitch]:
    switch = switch_of({path: (cuda, hip)})
    return share_build_file(path, cuda, hip, switch), switch


def said_by_cmake(folder: Path, text: str, *options: str) -> list[str]:
    """The messages of a script."""
    (folder / "script.cmake").write_text(text)
    command = ["cmake", *options, "-P", str(folder / "script.cmake")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line.removeprefix("-- ") for line in done.stdout.splitlines()]


def said_by_make(folder: Path, text: str, *options: str) -> list[str]:
    (folder / "Makefile").write_text(text)
    command = ["make", "-s", "--no-print-directory", "-C", str(folder), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not here")
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("message(STATUS {V})\nmessage(STATUS b)\n", id="a command"),
        pytest.param("if(1)\n  message(STATUS {V}\n    c)\nendif()\n", id="of several lines"),
        pytest.param(
            "if({B})\n  message(STATUS {V})\nelse()\nmessage(STATUS c)\nendif()\n", id="if"
        ),
        pytest.param("foreach(a {V} d)\n  message(STATUS ${a})\nendforeach()\n", id="foreach"),
        pytest.param(
            "function(f a) # {V}\n  message(STATUS ${a}{V})\nendfunction()\nf(x)\n", id="function"
        ),
        pytest.param("#[[\nmessage(STATUS {V})\n]]\nmessage(STATUS [=[{V})]=])", id="brackets"),
        pytest.param('message(STATUS "(#{V}") # )\nmessage(STATUS "a\n{V}")\n', id="quoted"),
    ],
)
def test_cmake_says_what_either_file_says(tmp_path: Path, text: str) -> None:
    cuda = text.replace("{V}", "cuda").replace("{B}", "1")
    hip = text.replace("{V}", "hip").replace("{B}", "0")
    one, switch = shared(CMAKE, cuda, hip)
    assert switch == VendorSwitch(cmake="USE_HIP")
    assert said_by_cmake(tmp_path, one) == said_by_cmake(tmp_path, cuda)
    assert said_by_cmake(tmp_path, one, "-DUSE_HIP=ON") == said_by_cmake(tmp_path, hip)


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not here")
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("A = {V}\nall:\n\t@echo $(A)\n", id="a variable"),
        pytest.param("all:\n\t@echo a\n\t@echo {V} \\\n\t  b\n\t@echo c\n", id="a recipe's line"),
        pytest.param("ifeq ({V},cuda)\nA = 1\nelse\nA = 2\nendif\nall:\n\t@echo $(A)\n", id="ifeq"),
        pytest.param("define A\n@echo {V}\n@echo b\nendef\nall:\n\t$(A)\n", id="define"),
        pytest.param("all: a-{V}\na-cuda a-hip:\n\t@echo $@", id="a target, no line end"),
    ],
)
def test_make_says_what_either_file_says(tmp_path: Path, text: str) -> None:
    cuda, hip = (text.replace("{V}", name) for name in ("cuda", "hip"))
    one, switch = shared(MAKE, cuda, hip)
    assert switch == VendorSwitch(make="HIP")
    assert said_by_make(tmp_path, one) == said_by_make(tmp_path, cuda)
    assert said_by_make(tmp_path, one, "HIP=1") == said_by_make(tmp_path, hip)


def test_a_variable_of_the_project_is_not_taken() -> None:
    text = "option(USE_HIP OFF)\n"
    one, switch = shared(CMAKE, f"{text}a(cuda)\n", f"{text}a(hip)\n")
    assert switch == VendorSwitch(cmake="CASS_HIP")
    assert "if(CASS_HIP)" in one


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        ("cmake -S . && cmake --build b -j 2", "cmake -DUSE_HIP=ON -S . && cmake --build b -j 2"),
        ("make -j 2", "make HIP=1 -j 2"),
        ("cd b && cmake .. && make", "cd b && cmake -DUSE_HIP=ON .. && make HIP=1"),
        ("cmake -DUSE_HIP=ON .. && make HIP=1", "cmake -DUSE_HIP=ON .. && make HIP=1"),
        ("cmake -E rm a && ./make.sh", "cmake -E rm a && ./make.sh"),
        ("ctest --test-dir b", "ctest --test-dir b"),
    ],
)  # fmt: skip
def test_commands_get_the_switch_once(command: str, wanted: str) -> None:
    assert VendorSwitch("USE_HIP", "HIP").applied(command) == wanted


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        ("make HIP=1 cuda", "make cuda"),
        ("cmake -DUSE_HIP=ON .. && make HIP=1", "cmake .. && make"),
        ("cmake -S . -DUSE_HIP:BOOL=ON -B b", "cmake -S . -B b"),
        ("make HIP=10 cuda && ./HIP=1", "make HIP=10 cuda && ./HIP=1"),
    ],
)
def test_commands_lose_the_switch_for_cuda(command: str, wanted: str) -> None:
    assert VendorSwitch("USE_HIP", "HIP").without(command) == wanted
    assert VendorSwitch().without(command) == command


def test_files_of_autotools_are_not_shared() -> None:
    assert switch_of(dict.fromkeys(("Makefile.am", "Makefile.in"), ("a", "b"))) == VendorSwitch()


def test_a_block_without_an_end_is_refused() -> None:
    with pytest.raises(SharedError, match="does not end"):
        shared(CMAKE, "if(cuda)\na()\n", "if(hip)\na()\n")


def test_a_template_of_a_package_has_both_vendors(tmp_path: Path) -> None:
    text, _ = shared("OwnConfig.cmake.in", 'message(STATUS "cuda")\n', 'message(STATUS "hip")\n')
    assert said_by_cmake(tmp_path, text) == ["cuda"]
    assert said_by_cmake(tmp_path, text, "-DUSE_HIP=ON") == ["hip"]
