"""What a language model answered: the code in its fences.

Fences follow CommonMark: a run of at least three backticks or tildes opens one, a run at least as
long of the same character closes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_OPENING = re.compile(r"^ {0,3}(`{3,}|~{3,})[ \t]*([^`\n]*)$")


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
    found = list(fences(text))
    wanted = [fence for fence in found if fence.name in names]
    if wanted:
        closed = [fence for fence in wanted if fence.closed]
        return (closed or wanted)[-1]
    return max(found, key=lambda fence: len(fence.code), default=None)
