"""Headers that no build wrote, from their templates: real CMake, in the sandbox."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cass_ray.builds.recording import BuildRecorder
from cass_ray.builds.templates import unwritten, written_as_stated
from tests.builds.test_recording import KERNEL, project, recording

pytestmark = pytest.mark.skipif(shutil.which("cmake") is None, reason="CMake is not installed")

__all__ = ["recording"]

CATCH = """\
cmake_minimum_required(VERSION 3.10)
project(Catch2 VERSION 3.5.2 LANGUAGES CXX)
option(CATCH_CONFIG_FAST "speed" ON)
set(CATCH_WIDTH 80 CACHE STRING "width")
configure_file(src/catch2/catch_user_config.hpp.in
  ${CMAKE_CURRENT_BINARY_DIR}/generated-includes/catch2/catch_user_config.hpp)
"""
TEMPLATE = """\
#cmakedefine CATCH_CONFIG_FAST
#cmakedefine01 CATCH_CONFIG_NOTHING
#define WIDTH @CATCH_WIDTH@
#define VERSION "${PROJECT_VERSION_MAJOR}.@Catch2_VERSION_MINOR@"
"""
WRITTEN = (
    b"#define CATCH_CONFIG_FAST\n#define CATCH_CONFIG_NOTHING 0\n#define WIDTH 80\n"
    b'#define VERSION "3.5"\n'
)


def test_a_dependency_that_was_brought_is_configured(
    recording: BuildRecorder, tmp_path: Path
) -> None:
    """The project has no build; the dependency has headers that include what its CMake writes."""
    tree = project(tmp_path, a_dot_cu="#include <catch2/all.hpp>\n" + KERNEL)
    place = project(
        tree / ".cass-dependencies/Catch2",
        CMakeLists_dot_txt=CATCH,
        src__catch2__all_dot_hpp="#include <catch2/catch_user_config.hpp>\n",
        src__catch2__catch_user_config_dot_hpp_dot_in=TEMPLATE,
    )
    folder = place.relative_to(tree).as_posix()

    made = recording.record(tree, [], {"https://github.com/catchorg/Catch2.git": folder})

    written = f"{folder}/cass-build/generated-includes/catch2/catch_user_config.hpp"
    assert made.generated == {written: WRITTEN}, made.log


@pytest.mark.parametrize(
    ("template", "included", "lists"),
    [
        ("src/catch2/catch_user_config.hpp.in", "catch2/catch_user_config.hpp", "CMakeLists.txt"),
        ("src/catch_user_config.in.hpp", "catch_user_config.hpp", "CMakeLists.txt"),
        ("src/catch_user_config.hpp.cmake", "../src/catch_user_config.hpp", "CMakeLists.txt"),
        ("lib/catch_user_config.h.cmakein", "catch_user_config.h", "lib/CMakeLists.txt"),
        ("include/p/config.cuh.in", "p/config.cuh", "CMakeLists.txt"),
    ],
)
def test_what_cmake_files_state_is_written(
    recording: BuildRecorder, tmp_path: Path, template: str, included: str, lists: str
) -> None:
    """CMake ends at a package and reads no line after it: nothing is configured by the project."""
    text = CATCH.replace("option(", "cmake_language(EXIT 1)\nreturn()\noption(")
    tree = project(tmp_path, a_dot_cu=f'#include "{included}"\n{KERNEL}')
    project(tree, **{lists.replace("/", "__").replace(".", "_dot_"): text})
    project(tree, **{template.replace("/", "__").replace(".", "_dot_"): TEMPLATE})

    made = recording.record(tree, [])

    ((path, content),) = made.generated.items()
    assert content == WRITTEN, made.log
    assert f"/{path}".endswith(f"/{included.removeprefix('../')}")


def test_a_template_of_another_name_is_found_by_what_cmake_says(
    recording: BuildRecorder, tmp_path: Path
) -> None:
    tree = project(tmp_path, a_dot_cu='#include "catch2/user.h"\n' + KERNEL)
    folder = tree / ".cass-dependencies/Catch2"
    text = CATCH.replace("src/catch2/catch_user_config.hpp.in", "./configure/user.in")
    text = text.replace("catch2/catch_user_config.hpp", "catch2/user.h")
    project(folder, CMakeLists_dot_txt=text, configure__user_dot_in=TEMPLATE)
    place = folder.relative_to(tree).as_posix()

    made = recording.record(tree, [], {"https://github.com/catchorg/Catch2.git": place})

    written = f"{place}/cass-build/generated-includes/catch2/user.h"
    assert made.generated == {written: WRITTEN}, made.log


def test_headers_that_nobody_includes_or_that_are_there_are_left(tmp_path: Path) -> None:
    tree = project(
        tmp_path,
        a_dot_cu='#include "here.h"\n#include <config.h>\n// #include "comment.h"\n',
        here_dot_h="",
        here_dot_h_dot_in="",
        unwanted_dot_h_dot_in="",
        comment_dot_h_dot_in="",
        notes_dot_txt_dot_in="",
        deep__config_dot_h_dot_in="#undef HAVE_X\n",
    )
    (tree / "linked.h.in").symlink_to("/etc/passwd")
    (tree / "b.cu").write_text('#include "linked.h"\n')

    found = unwritten(tree, ())

    assert [each.path for each in found] == ["deep/config.h.in"]
    assert written_as_stated(tree, []) is None


def test_values_that_a_configure_script_finds_out_are_numbers(
    recording: BuildRecorder, tmp_path: Path
) -> None:
    """The script ends early; conditions with what it would have written are valid."""
    template = "#define B_CUDA @HAVE_CUDA@\n#define B_NUMA @HAVE_NUMA@\n#define B_NAME @NAME@.h\n"
    tree = project(tmp_path, a_dot_cu=f'#include "config.h"\n{KERNEL}', configure="exit 1\n")
    project(tree, config_dot_h_dot_in=template)

    made = recording.record(tree, [])

    written = b"#define B_CUDA 1\n#define B_NUMA 0\n#define B_NAME .h\n"
    assert list(made.generated.values()) == [written], made.log
