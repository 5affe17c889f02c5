"""Overloads that become one: HIP has a single error type where CUDA has two.

Programs that check both interfaces define ``check(cudaError_t)`` and ``check(CUresult)``. Both
would take ``hipError_t``; the one for the driver's type goes behind a guard.

C++20's ``<math.h>`` names ``std::lerp`` at global scope, where a program's own of the same types,
as CUDA's samples have it, does not compile any more: there the library's is left.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cass_ray.translate.rules.rewrite import Rewrite
from cass_ray.translate.rules.vectors import GUARD, definition_start

_LEAD = re.compile(
    r"(?<!\w)(?P<name>\w+)\s*\((?P<before>[^(){};]*?)(?<![\w:])(?:const\s+)?(?:enum\s+)?\Z"
)
_BODY = re.compile(r"\s*(?=[{;])")

_LERP = re.compile(
    r"\s*\(\s*(?:const\s+)?(?P<type>float|double)(?:\s+const)?(?:\s+\w+)?\s*"
    r"(?:,\s*(?:const\s+)?(?P=type)(?:\s+const)?(?:\s+\w+)?\s*){2}\)\s*(?=[{;])"
)
_LIBRARYS = "#if __cplusplus < 202002L  // C++20 has it, and may round otherwise"


def guard_overloads(unit: Rewrite) -> None:
    """Guard functions on ``CUresult`` that the file also has for ``cudaError_t``, and ``lerp``."""
    if not unit.is_hip:
        _guard_lerp(unit)
    if "CUresult" not in unit.words or not {"cudaError_t", "cudaError"} & unit.words.keys():
        return
    code = unit.source.code
    twins = {
        signature
        for word in ("cudaError_t", "cudaError")
        for signature, _, _ in _with_parameter(unit, word)
    }
    for signature, name_start, closing in _with_parameter(unit, "CUresult"):
        body = _BODY.match(code, closing + 1)
        if body is None or signature not in twins:
            continue
        end = unit.source.closing(body.end()) if code[body.end()] == "{" else body.end()
        if end < 0:
            continue
        start = definition_start(code, name_start)
        if start >= name_start:
            continue  # A call, not a declaration.
        unit.guard(start, end + 1, f"#ifndef {GUARD}  // the same as for hipError_t")


def _guard_lerp(unit: Rewrite) -> None:
    """Definitions and declarations of ``lerp`` at global scope that are C++20's as well."""
    code = unit.source.code
    for offset in unit.words.get("lerp", ()):
        match = _LERP.match(code, offset + len("lerp"))
        start = definition_start(code, offset)
        if match is None or start >= offset or code[start] == "<":
            continue  # A call, or a template, which is another function.
        end = unit.source.closing(match.end()) if code[match.end()] == "{" else match.end()
        if end >= 0 and code.count("{", 0, start) == code.count("}", 0, start):
            unit.guard(start, end + 1, _LIBRARYS)


def _with_parameter(unit: Rewrite, word: str) -> Iterator[tuple[tuple[str, str, int], int, int]]:
    """Functions with a parameter of the type ``word``.

    Their name, what stands before that parameter and the number of parameters; then the offsets of
    the name and of the closing parenthesis.
    """
    code = unit.source.code
    for offset in unit.words.get(word, ()):
        match = _LEAD.search(code, max(0, offset - 200), offset)
        parsed = unit.source.arguments(code.index("(", match.end("name"))) if match else None
        if match and parsed:
            signature = (match["name"], " ".join(match["before"].split()), len(parsed[0]))
            yield signature, match.start("name"), parsed[1]
