"""Snippets of a page: what a reader would type, one after the other, and what is promised of it.

A fence ``bash`` or ``python`` is run, unless a comment ``<!-- not run: REASON -->`` stands before
it. One with a title (``cuda title="sum.cu"``) is a file of that name. A fence ``text`` after a run
is what is printed, among other things: its lines, in order, where ``…`` stands for anything.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.folders import REPOSITORY

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


def reader_environment() -> dict[str, str]:
    """The variables of a reader's shell in which this interpreter's programs are found."""
    tools = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {**os.environ, "PATH": tools, "PYTHONPATH": str(REPOSITORY), "COLUMNS": "100"}


def run_snippet(
    language: str, body: str, folder: Path, more: Mapping[str, str] | None = None
) -> str:
    """What a snippet prints in ``folder``; fails the test when it fails."""
    assert language in RUN
    command = ["bash", "-euo", "pipefail", "-c"] if language == "bash" else [sys.executable, "-c"]
    done = subprocess.run(
        [*command, body],
        cwd=folder,
        env={**reader_environment(), **(more or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, f"{body}\n{done.stdout}"
    return done.stdout
