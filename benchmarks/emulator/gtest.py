"""A GoogleTest binary, run in pieces: what was tried is not tried again, a crash ends one case.

GoogleTest's own report is written when a binary ends. Here the lines that it prints are read, so
that a run that is out of time or crashes leaves what it has found.
"""

from __future__ import annotations

import contextlib
import os
import re
import selectors
import subprocess
import tempfile
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_STATE = re.compile(r"^\[ +(RUN|OK|FAILED|SKIPPED) +\] (\S+?\.\S+?)(?:,.*| \((\d+) ms\))?$")
_KEPT_TEXT = 1500
"""Characters of a failing case's output."""


@dataclass
class Case:
    """``outcome``: passed, failed, skipped, crashed, or out of time after ``seconds``."""

    outcome: str
    seconds: float
    text: str = ""


@dataclass
class Session:
    """What one call of :func:`run_cases` found; ``seconds`` of wall time."""

    cases: dict[str, Case] = field(default_factory=dict)
    seconds: float = 0.0


def list_cases(command: Sequence[str | Path], environment: Mapping[str, str]) -> list[str]:
    """The full names of a binary's cases. Raises :class:`subprocess.CalledProcessError`."""
    done = subprocess.run(
        [*command, "--gtest_list_tests"],
        env=environment, capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    return parse_list(done.stdout)


def parse_list(text: str) -> list[str]:
    """The cases in what ``--gtest_list_tests`` prints."""
    names, group = [], ""
    for line in text.splitlines():
        name = line.partition("#")[0].rstrip()
        if not line.startswith(" ") and name.endswith("."):
            group = name
        elif line.startswith("  ") and name and group:
            names.append(group + name.strip())
    return [name for name in names if not _disabled(name)]


def run_cases(
    command: Sequence[str | Path],
    names: Collection[str],
    environment: Mapping[str, str],
    seconds: float,
) -> Session:
    """Run ``names`` until all have ended or ``seconds`` are over; a crash ends its case only."""
    session = Session()
    started = time.monotonic()
    while left := [name for name in names if name not in session.cases]:
        session.seconds = time.monotonic() - started
        if session.seconds >= seconds:
            break
        before = len(session.cases)
        _run_once(command, left, environment, seconds - session.seconds, session.cases)
        if len(session.cases) == before:
            raise RuntimeError(f"{command[-1]} ran none of {len(left)} cases")
    session.seconds = time.monotonic() - started
    return session


def _run_once(
    command: Sequence[str | Path],
    names: Sequence[str],
    environment: Mapping[str, str],
    seconds: float,
    cases: dict[str, Case],
) -> None:
    deadline = time.monotonic() + seconds
    with tempfile.NamedTemporaryFile("w", suffix=".flags") as flags:
        flags.write(f"--gtest_filter={':'.join(names)}\n--gtest_color=no\n")
        flags.flush()
        process = subprocess.Popen(
            [*command, f"--gtest_flagfile={flags.name}"],
            env={**environment}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        running, said, since = "", [], time.monotonic()
        try:
            for line in _lines(process, deadline):
                state = _STATE.match(line)
                if state is None:
                    said.append(line)
                elif state[1] == "RUN":
                    running, said, since = state[2], [], time.monotonic()
                elif state[2] == running:
                    outcome = {"OK": "passed", "FAILED": "failed", "SKIPPED": "skipped"}[state[1]]
                    text = _shortened(said) if outcome == "failed" else ""
                    cases[running] = Case(outcome, int(state[3] or 0) / 1000, text)
                    running, said = "", []
            over = process.poll() is None and time.monotonic() >= deadline
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, 9)
            code = process.wait()
    if running:
        outcome = "out of time" if over else "crashed"
        text = _shortened([*said, f"exit code {code}"])
        cases[running] = Case(outcome, round(time.monotonic() - since, 3), text)


def _lines(process: subprocess.Popen[bytes], deadline: float) -> Iterator[str]:
    """The lines that ``process`` writes until it ends or ``deadline`` is over."""
    assert process.stdout is not None
    pending = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while (left := deadline - time.monotonic()) > 0:
            if not selector.select(left):
                return
            read = os.read(process.stdout.fileno(), 1 << 16)
            if not read:
                process.wait()
                return
            *whole, pending = (pending + read).split(b"\n")
            for line in whole:
                yield line.decode("utf-8", "replace")


def _shortened(lines: Sequence[str]) -> str:
    text = "\n".join(lines)
    half = _KEPT_TEXT // 2
    return text if len(text) <= _KEPT_TEXT else f"{text[:half]}\n...\n{text[-half:]}"


def _disabled(name: str) -> bool:
    return any(part.startswith("DISABLED_") for part in re.split(r"[./]", name))
