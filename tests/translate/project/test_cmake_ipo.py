"""Intermediate code of GCC's, which the HIP compiler cannot link."""

from __future__ import annotations

import pytest

from cass_ray.translate.project.build_files import translate_cmake

BEGIN = 'if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")'


def guarded(text: str) -> list[str]:
    """What the translation does unless C++ is clang's."""
    lines = translate_cmake(f"project(a CXX CUDA)\n{text}\n").source.splitlines()
    return [
        lines[place + 1].partition("  #")[0].strip()
        for place, line in enumerate(lines)
        if line == BEGIN
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("check_ipo_supported(RESULT ok OUTPUT why)", "set(ok FALSE)"),
        ("CHECK_IPO_SUPPORTED(\n  RESULT has_ipo LANGUAGES CXX)", "set(has_ipo FALSE)"),
        (
            "set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)",
            "set(CMAKE_INTERPROCEDURAL_OPTIMIZATION OFF)",
        ),
        (
            "set(CMAKE_INTERPROCEDURAL_OPTIMIZATION_RELEASE TRUE)",
            "set(CMAKE_INTERPROCEDURAL_OPTIMIZATION_RELEASE OFF)",
        ),
        (
            "set_property(TARGET a b PROPERTY INTERPROCEDURAL_OPTIMIZATION TRUE)",
            "set_target_properties(a b PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF)",
        ),
        (
            "set_target_properties(a PROPERTIES X 1 INTERPROCEDURAL_OPTIMIZATION ON)",
            "set_target_properties(a PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF)",
        ),
    ],
)
def test_off_where_gcc_compiles(text: str, expected: str) -> None:
    assert guarded(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "set(CMAKE_INTERPROCEDURAL_OPTIMIZATION OFF)",
        "set(MINE ON) # CMAKE_INTERPROCEDURAL_OPTIMIZATION ON",
        "set_target_properties(a PROPERTIES X 1 # INTERPROCEDURAL_OPTIMIZATION ON\n)",
        "get_target_property(x a INTERPROCEDURAL_OPTIMIZATION)",
        "check_ipo_supported()",
    ],
)
def test_nothing_where_none_is_asked_for(text: str) -> None:
    assert guarded(text) == []


def test_a_property_behind_the_check_follows_its_result() -> None:
    text = (
        "check_ipo_supported(RESULT ok)\nif(ok)\n"
        "set_target_properties(a PROPERTIES INTERPROCEDURAL_OPTIMIZATION TRUE)\nendif()"
    )
    assert guarded(text) == ["set(ok FALSE)"]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("pybind11_add_module(m a.cu b.cpp)", "pybind11_add_module(m NO_EXTRAS a.cu b.cpp)"),
        ("pybind11_add_module(\n  m MODULE a.cu)", "pybind11_add_module(m NO_EXTRAS MODULE a.cu)"),
        ("pybind11_add_module(${n} a.cu)", "pybind11_add_module(${n} NO_EXTRAS a.cu)"),
        ("pybind11_add_module(m NO_EXTRAS a.cu)", "pybind11_add_module(m NO_EXTRAS a.cu)"),
        ("python_add_library(m a.cu)", "python_add_library(m a.cu)"),
    ],
)
def test_modules_of_pybind11_have_no_flags_of_its_own(command: str, expected: str) -> None:
    assert translate_cmake(f"project(a CXX CUDA)\n{command}\n").source.splitlines()[1] == expected
