"""The runs that a request asks for, as the executor takes them, with their files on disk."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cass_ray.api.schema import RunInput
from cass_ray.execute.backends.base import Inputs
from cass_ray.toolchain.sandbox.isolation import private_folder


@dataclass(frozen=True)
class GivenRun:
    """One run, and what it must print; None: as the best reference that there is."""

    inputs: Inputs
    expected: bytes | None = None


@contextmanager
def given_runs(wanted: Sequence[RunInput]) -> Iterator[tuple[GivenRun, ...]]:
    """Each of ``wanted``; folders of their files are gone at the end."""
    with private_folder() as root:
        yield tuple(_given(each, root / str(number)) for number, each in enumerate(wanted))


def _given(wanted: RunInput, folder: Path) -> GivenRun:
    if wanted.files:
        folder.mkdir()
    for name, content in wanted.files.items():
        (folder / name).write_bytes(base64.b64decode(content))
    expected = None if wanted.expected_stdout is None else wanted.expected_stdout.encode()
    place = folder if wanted.files else None
    return GivenRun(Inputs(tuple(wanted.arguments), wanted.stdin.encode(), place), expected)
