"""The filters of the CASS paper: what is too long, too short, a template, or has no kernel.

Each filter is a pure function of a row and the settings; none reads a file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import Field

from cass_ray.config import StrictModel
from cass_ray.corpus.dialect import dialect_of, source_of
from cass_ray.corpus.parsing.kernels import find_kernels, kernel_definitions, only_prints
from cass_ray.corpus.parsing.normalize import strip_comments
from cass_ray.dataset.row import Reason

Row = Mapping[str, Any]
Objection = tuple[Reason, str] | None
"""Why a row is rejected, with a message; None when it passes."""


class FilterSettings(StrictModel):
    """Thresholds; the defaults for lines are the paper's."""

    RENAMED = {
        "longest": "max_lines",
        "maximum_lines": "max_lines",
        "shortest": "min_lines",
        "minimum_lines": "min_lines",
    }

    max_lines: int = Field(default=7000, ge=1)
    min_lines: int = Field(default=10, ge=0)
    boilerplate: bool = True
    """Reject programs whose kernels compute nothing ("hello world", empty templates)."""
    require_kernel: bool = True


def too_long(row: Row, settings: FilterSettings) -> Objection:
    """Why a row is rejected: more lines than ``max_lines``; None where it is not."""
    lines = _line_count(source_of(row))
    if lines <= settings.max_lines:
        return None
    return Reason.TOO_LONG, f"{lines} lines; the limit is {settings.max_lines}"


def too_short(row: Row, settings: FilterSettings) -> Objection:
    """Fewer lines than ``min_lines``; a project's unit may instantiate what its headers hold."""
    lines = _line_count(source_of(row))
    if lines >= settings.min_lines or row.get("configured"):
        return None
    return Reason.TOO_SHORT, f"{lines} lines; at least {settings.min_lines} are wanted"


def boilerplate(row: Row, settings: FilterSettings) -> Objection:
    """A "hello world", or the project template of Visual Studio.

    A program is boilerplate when it has kernels and none of them does more than print.
    """
    source = source_of(row)
    if not settings.boilerplate:
        return None
    if all(mark.search(source) for mark in _VISUAL_STUDIO_TEMPLATE):
        return Reason.BOILERPLATE, "the CUDA project template of Visual Studio (addWithCuda)"
    kernels = find_kernels(source, dialect_of(row))
    if kernels and not row.get("header_kernels") and all(map(only_prints, kernels)):
        names = ", ".join(kernel.name for kernel in kernels)
        return Reason.BOILERPLATE, f"no kernel does more than print: {names}"
    return None


def no_kernel(row: Row, settings: FilterSettings) -> Objection:
    """No kernel is defined in the file or in its local includes.

    Of a project's unit the compiler says so."""
    if not settings.require_kernel or row.get("header_kernels") or row.get("configured"):
        return None
    dialect = dialect_of(row)
    if kernel_definitions(source_of(row), dialect):
        return None
    mark = dialect.kernel_words[0]
    return Reason.NO_KERNEL, f"no {mark} function is defined in the file or its local includes"


def forbidden_include(row: Row, settings: FilterSettings) -> Objection:
    """An include that is absolute or leaves the tree of the program, or any ``.incbin``.

    The compiler's sandbox enforces this; here the message is clear and costs no compilation.
    """
    problems = list(row.get("forbidden_includes") or ())
    if not problems and "incbin" in source_of(row):
        problems = [f"the assembler directive {found[0]}" for found in _incbin(source_of(row))]
    if not problems:
        return None
    return Reason.FORBIDDEN_INCLUDE, "\n".join(problems)


FILTERS: tuple[Callable[[Row, FilterSettings], Objection], ...] = (
    too_long,
    too_short,
    forbidden_include,
    no_kernel,
    boilerplate,
)
"""In the order they are applied: the first that objects gives the reason."""


def first_objection(row: Row, settings: FilterSettings) -> Objection:
    """The verdict of the first filter that rejects ``row``; None when all pass it."""
    for objects in FILTERS:
        verdict = objects(row, settings)
        if verdict is not None:
            return verdict
    return None


_VISUAL_STUDIO_TEMPLATE = (
    re.compile(r"\baddWithCuda\b"),
    re.compile(r"\baddKernel\b"),
    re.compile(r"\{\s*10\s*,\s*20\s*,\s*30\s*,\s*40\s*,\s*50\s*\}"),
)
_INCBIN = re.compile(r"\.incbin\b[^\n]{0,200}")


def _incbin(source: str) -> list[re.Match[str]]:
    return list(_INCBIN.finditer(strip_comments(source)))


def _line_count(source: str) -> int:
    return source.count("\n") + (not source.endswith("\n"))
