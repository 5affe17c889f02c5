"""Overloads that become one: HIP has a single error type where CUDA has two.

Programs that check both interfaces define ``check(cudaError_t)`` and ``check(CUresult)``. Both
would take ``hipError_t``; the one for the driver's type goes behind a guard.
"""

from __future__ import annotations

import re

from cass_ray.translate.rules.rewrite import Rewrite
from cass_ray.translate.rules.vectors import GUARD, definition_start

_DRIVER = re.compile(r"\b(?P<name>\w+)\s*\(\s*(?:const\s+)?CUresult\b")
_RUNTIME = re.compile(r"\b(?P<name>\w+)\s*\(\s*(?:const\s+)?(?:enum\s+)?cudaError(?:_t)?\b")
_BODY = re.compile(r"\s*(?=[{;])")


def guard_overloads(unit: Rewrite) -> None:
    """Guard functions on ``CUresult`` that the file also has for ``cudaError_t``."""
    if "CUresult" not in unit.words or not {"cudaError_t", "cudaError"} & unit.words.keys():
        return
    code = unit.source.code
    twins = _with_runtime_errors(unit)
    for match in _DRIVER.finditer(code):
        parsed = unit.source.arguments(code.index("(", match.start()))
        if parsed is None:
            continue
        spans, closing = parsed
        body = _BODY.match(code, closing + 1)
        if body is None or (match["name"], len(spans)) not in twins:
            continue
        end = unit.source.closing(body.end()) if code[body.end()] == "{" else body.end()
        if end < 0:
            continue
        start = definition_start(code, match.start())
        if start >= match.start():
            continue  # A call, not a declaration.
        unit.guard(start, end + 1, f"#ifndef {GUARD}  // the same as for hipError_t")


def _with_runtime_errors(unit: Rewrite) -> set[tuple[str, int]]:
    """Name and number of parameters of what takes a ``cudaError_t`` first."""
    found: set[tuple[str, int]] = set()
    code = unit.source.code
    for match in _RUNTIME.finditer(code):
        parsed = unit.source.arguments(code.index("(", match.start()))
        if parsed:
            found.add((match["name"], len(parsed[0])))
    return found
