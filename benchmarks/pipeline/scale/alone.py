"""Figures that a process of its own finds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from benchmarks.folders import REPOSITORY

_ANSWER = "figures: "


def tell(figures: Mapping[str, Any]) -> None:
    """Say ``figures`` to the process that called :func:`measured`."""
    print(_ANSWER + json.dumps(figures), flush=True)


def measured(
    what: str, environment: Mapping[str, str] = os.environ, **arguments: Any
) -> dict[str, Any]:
    """What ``measure`` of the module ``what`` returns for ``arguments``, in another process.

    Raises ``CalledProcessError``.
    """
    command = [sys.executable, "-m", "benchmarks.pipeline.scale", "measure"]
    done = subprocess.run(
        [*command, what, json.dumps(arguments)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env={**environment, "PYTHONPATH": str(REPOSITORY)},
    )
    # Ray may have said something at its end.
    answer = next(line for line in done.stdout.splitlines() if line.startswith(_ANSWER))
    found: dict[str, Any] = json.loads(answer.removeprefix(_ANSWER))
    return found
