"""Snippets of a page: what a reader would type, one after the other, and what is promised of it.

A fence ``bash`` or ``python`` is run, unless a comment ``<!-- not run: REASON -->`` stands before
it. One with a title (``cuda title="sum.cu"``) is a file of that name. A fence ``text`` after a run
is what is printed, among other things: its lines, in order, where ``…`` stands for anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

RUN = ("bash", "python")

_FENCE = re.compile(
    r"(?:<!-- not run: (?P<reason>[^>]+) -->\n)?"
    r"^```(?P<language>\w+)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Snippet:
    """A fence of a page. ``not_run`` has the reason, where it is not to be run."""

    language: str
    title: str
    body: str
    not_run: str

    @property
    def runs(self) -> bool:
        return self.language in RUN and not self.title and not self.not_run


def snippets(page: str) -> Iterator[Snippet]:
    for found in _FENCE.finditer(page):
        yield Snippet(
            found["language"], found["title"] or "", found["body"], (found["reason"] or "").strip()
        )


def missing(promised: str, printed: str) -> list[str]:
    """The lines of ``promised`` that do not follow each other in ``printed``."""
    lines = iter(printed.splitlines())
    absent = []
    for wanted in promised.splitlines():
        pattern = re.compile(".*".join(re.escape(part) for part in wanted.split("…")))
        if not any(pattern.fullmatch(line) for line in lines):
            absent.append(wanted)
            lines = iter(())
    return absent
