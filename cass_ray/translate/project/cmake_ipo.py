"""Optimization while linking, which GCC and the HIP compiler cannot do together.

Where C++ is GCC's and the HIP compiler links, an object of GCC's intermediate code alone
(``-fno-fat-lto-objects``: CMake's ``INTERPROCEDURAL_OPTIMIZATION``, ``pybind11_add_module``) is
left out with a warning, and the library lacks what it defined.
"""

from __future__ import annotations

import re

from cass_ray.translate.project.cmake_features import targets_of

_ON = {"ON", "YES", "TRUE", "Y", "1"}
_COMMENT = re.compile(r"#[^\n]*")
_RESULT = re.compile(r"\bRESULT\s+(\w+)")
_CHECK = re.compile(r"\bcheck_ipo_supported\s*\([^()]*\bRESULT\s", re.IGNORECASE)
_VARIABLE = re.compile(r"CMAKE_INTERPROCEDURAL_OPTIMIZATION(?:_[A-Z]+)?")
_PROPERTY = "INTERPROCEDURAL_OPTIMIZATION"


def is_checked(text: str) -> bool:
    """Whether a CMake file asks if there is such optimization, and so can be told that not."""
    return _CHECK.search(_COMMENT.sub("", text)) is not None


def without_gcc(command: str, body: str, checked: bool) -> str:
    """What follows ``command`` so that no object is made of GCC's intermediate code.

    Empty where it asks for none. ``checked`` as :func:`is_checked` of its file says.
    """
    text = _COMMENT.sub("", body)
    words = text.split()
    if command == "check_ipo_supported" and (result := _RESULT.search(text)):
        return _unless_clang(f"set({result[1]} FALSE)")
    if command == "set" and words and _VARIABLE.fullmatch(words[0]) and _is_on(words[1:2]):
        return _unless_clang(f"set({words[0]} OFF)")
    if checked or _PROPERTY not in words or not _is_on(_after(words, _PROPERTY)):
        return ""
    if not (targets := targets_of(command, words)):
        return ""
    return _unless_clang(f"set_target_properties({' '.join(targets)} PROPERTIES {_PROPERTY} OFF)")


def plain_module(command: str) -> str:
    """``pybind11_add_module(...)`` without the flags that it adds by itself; others stay."""
    name, _, body = command.partition("(")
    if name.strip().lower() != "pybind11_add_module" or "NO_EXTRAS" in body.split():
        return command
    return re.sub(r"\(\s*([^\s()]+)", r"(\1 NO_EXTRAS", command, count=1)


def _is_on(words: list[str]) -> bool:
    return bool(words) and words[0].strip('"').upper() in _ON


def _after(words: list[str], word: str) -> list[str]:
    place = words.index(word) + 1
    return words[place : place + 1]


def _unless_clang(command: str) -> str:
    return (
        '\nif(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")\n'
        f"  {command}  # the HIP compiler links, which cannot read GCC's intermediate code\nendif()"
    )
