"""The code in a model's answer: in its fences, or bare, whatever it did to the fences.

Fences follow CommonMark: a run of at least three backticks or tildes opens one, a run at least as
long of the same character closes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_OPENING = re.compile(r"^ {0,3}(`{3,}|~{3,})[ \t]*+([^`\n]*)$")
_FIRST_LINE = re.compile(
    r"^\s*(?:#\s*(?:include|define|pragma|if|ifdef|ifndef)\b|//|/\*|using\s+namespace\b|namespace\b"
    r"|template\s*<|__global__|__device__|__constant__|static\b|struct\b|extern\b|constexpr\b)"
)
_PROGRAM = re.compile(r"^[^\S\n]*(?:#\s*include\b|__global__|template\s*<)", re.MULTILINE)
_FENCE_LINE = re.compile(r"^ {0,3}(?:`{3,}|~{3,})[ \t]*+[\w+#.-]*+[ \t]*+$")


@dataclass(frozen=True, slots=True)
class Fence:
    """A fenced block: the first word after the opening, in lower case, and what is inside."""

    name: str
    code: str
    closed: bool
    """False where the text ended first: the answer was cut."""


def fences(text: str) -> Iterator[Fence]:
    """The fenced blocks of ``text``, in order. Takes time linear in its length."""
    marker, name = "", ""
    inside: list[str] = []
    for line in text.split("\n"):
        if not marker:
            opening = _OPENING.match(line)
            if opening:
                marker = opening[1]
                name = (opening[2].split() or [""])[0].lower()
                inside = []
        elif _closes(line, marker):
            yield Fence(name, "\n".join(inside), True)
            marker = ""
        else:
            inside.append(line)
    if marker:
        yield Fence(name, "\n".join(inside), False)


def _closes(line: str, marker: str) -> bool:
    stripped = line.strip()
    return (
        len(stripped) >= len(marker)
        and set(stripped) == {marker[0]}
        and len(line) - len(line.lstrip(" ")) <= 3
    )


def extract(text: str, names: Sequence[str]) -> Fence | None:
    """The answer in ``text``: the last fence with one of ``names``, else the longest fence.

    Models often quote the question or a first attempt before the final answer. None where there is
    no fence at all.
    """
    blocks = list(fences(text))
    wanted = [fence for fence in blocks if fence.name in names]
    if wanted:
        closed = [fence for fence in wanted if fence.closed]
        return (closed or wanted)[-1]
    return max(blocks, key=lambda fence: len(fence.code), default=None)


@dataclass(frozen=True, slots=True)
class ExtractedCode:
    """Program text from an answer. ``cut``: it ended before it was complete."""

    text: str
    fenced: bool
    cut: bool


def code_of(answer: str, names: Sequence[str]) -> ExtractedCode | None:
    """The program in ``answer``: from its fence, or bare; None where there is none.

    A fence by one of ``names`` is preferred. Without any, the program is what stands between the
    first line that looks like C++ and the last closing brace; explanations around it are dropped.
    """
    block = extract(answer, names)
    if block is not None and block.code.strip():
        return ExtractedCode(block.code, True, not block.closed)
    lines = [line for line in answer.split("\n") if not _FENCE_LINE.match(line)]
    first = next((n for n, line in enumerate(lines) if _FIRST_LINE.match(line)), None)
    if first is None or not _PROGRAM.search("\n".join(lines[first:])):
        return None
    rest = "\n".join(lines[first:])
    if rest.count("{") > rest.count("}"):
        return ExtractedCode(rest, False, True)
    last = max((n for n, line in enumerate(lines) if "}" in line), default=len(lines) - 1)
    return ExtractedCode("\n".join(lines[first : max(last, first) + 1]), False, False)
