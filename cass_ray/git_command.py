"""Git, run for its output: without questions, within a time."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

_SECONDS = 600.0
_NO_HOOKS = ("-c", "core.hooksPath=/dev/null")


class GitError(RuntimeError):
    """Git is missing, took too long, or failed: the message ends with git's own."""


def run_git(
    arguments: Sequence[str],
    folder: Path | None = None,
    given: str = "",
    *,
    seconds: float = _SECONDS,
    hooks: bool = False,
) -> str:
    """What ``git ARGUMENTS`` prints, run in ``folder`` with ``given`` as standard input.

    ``hooks``: whether those of the repository run, as in a person's own. Bytes that are no UTF-8
    are surrogates, in both directions. Raises :class:`GitError`.
    """
    try:
        done = subprocess.run(
            ["git", *(() if hooks else _NO_HOOKS), *arguments],
            cwd=folder,
            env={**os.environ, "GIT_TERMINAL_PROMPT": "0"},
            input=given.encode("utf-8", "surrogateescape"),
            capture_output=True,
            check=False,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        raise GitError(f"git took longer than {seconds:.0f} s") from None
    except OSError as error:
        raise GitError(f"git: {error}") from error
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()
        said = said or done.stdout.decode("utf-8", "replace").strip()
        raise GitError(f"git: {said[-400:]}")
    return done.stdout.decode("utf-8", "surrogateescape")
