"""Facts about tools that cost a run to find out, remembered while the tools stay the same."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from cass_ray.cache import digest
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.sandbox.process import run

_REVISION = "1"
"""Raise it when a probe learns to check more: old answers are then asked again."""


def remembered(cache: Path, question: str, tools: Iterable[Path], answer: Callable[[], str]) -> str:
    """``answer()``, or what it said when ``question`` was last asked about the same ``tools``.

    A tool is the same while its resolved path, size and modification time are. Failures (anything
    that ``answer`` raises) are not remembered: the next call asks again.
    """
    path = cache / "probes" / digest([_REVISION, question, *map(_identity, tools)])[:32]
    try:
        return path.read_text()
    except FileNotFoundError:
        pass
    text = answer()
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as part:
        part.write(text)
    Path(part.name).replace(path)
    return text


def tool_version(program: Path, pattern: str, *command: str) -> str:
    """The first group of ``pattern`` in what ``program command --version`` prints.

    Raises :class:`ToolMissing` when the program does not run or says something else.
    """
    done = run([program, *command, "--version"], cwd=Path("/"))
    match = re.search(pattern, done.stdout_text)
    if match is None:
        output = (done.stdout_text + done.stderr_text).strip()
        raise ToolMissing(
            str(program), "It does not tell its version: reinstall it.", output[-500:]
        )
    return match[1]


def _identity(tool: Path) -> str:
    resolved = tool.resolve()
    stat = resolved.stat()
    return f"{resolved}\n{stat.st_size}\n{stat.st_mtime_ns}"
