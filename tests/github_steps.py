"""Shell steps of GitHub's workflows and actions, run as its runners run them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")


def run_step(
    step: Mapping[str, Any],
    folder: Path,
    environment: Mapping[str, str],
    outputs: Path,
    value: Callable[[str], str],
) -> tuple[subprocess.CompletedProcess[str], dict[str, str]]:
    """Run ``step`` in ``folder``; what it printed, and what it wrote to its file of ``outputs``.

    ``value`` evaluates the expressions of its environment; its script may have none.
    """
    assert not EXPRESSION.search(step["run"]), "values belong into the environment"
    outputs.write_text("")
    given = {
        name: EXPRESSION.sub(lambda found: value(found[1]), str(text))
        for name, text in step.get("env", {}).items()
    }
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=folder,
        env={**environment, **given, "GITHUB_OUTPUT": str(outputs)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    lines = [line.partition("=") for line in outputs.read_text().splitlines()]
    return done, {name: text for name, _, text in lines}
