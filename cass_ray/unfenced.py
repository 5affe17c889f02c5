"""The code in a model's answer, whatever it did to the fences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from cass_ray.answers import extract

_FIRST_LINE = re.compile(
    r"^\s*(?:#\s*(?:include|define|pragma|if|ifdef|ifndef)\b|//|/\*|using\s+namespace\b|namespace\b"
    r"|template\s*<|__global__|__device__|__constant__|static\b|struct\b|extern\b|constexpr\b)"
)
_PROGRAM = re.compile(r"^\s*(?:#\s*include\b|__global__|template\s*<)", re.MULTILINE)
_FENCE_LINE = re.compile(r"^ {0,3}(?:`{3,}|~{3,})[ \t]*[\w+#.-]*[ \t]*$")


@dataclass(frozen=True, slots=True)
class Code:
    """Program text from an answer. ``cut``: it ended before it was complete."""

    text: str
    fenced: bool
    cut: bool


def code_of(answer: str, names: Sequence[str]) -> Code | None:
    """The program in ``answer``: from its fence, or bare; None where there is none.

    A fence by one of ``names`` is preferred. Without any, the program is what stands between the
    first line that looks like C++ and the last closing brace; explanations around it are dropped.
    """
    found = extract(answer, names)
    if found is not None and found.code.strip():
        return Code(found.code, True, not found.closed)
    lines = [line for line in answer.split("\n") if not _FENCE_LINE.match(line)]
    first = next((n for n, line in enumerate(lines) if _FIRST_LINE.match(line)), None)
    if first is None or not _PROGRAM.search("\n".join(lines[first:])):
        return None
    rest = "\n".join(lines[first:])
    if rest.count("{") > rest.count("}"):
        return Code(rest, False, True)
    last = max((n for n, line in enumerate(lines) if "}" in line), default=len(lines) - 1)
    return Code("\n".join(lines[first : max(last, first) + 1]), False, False)
