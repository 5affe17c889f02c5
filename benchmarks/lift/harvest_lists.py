"""A list of commands for :mod:`benchmarks.elsewhere.commands`: the harvest on many processors.

``python -m benchmarks.lift.harvest_lists FILES ROOT OUT > harvest.list`` writes a command for each
file that ``FILES`` names (``FOLDER/PATH.cu`` a line) and each half of the architectures. Rows come
to ``OUT/NNNN.jsonl``; a command that was cut off continues when it is run again.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from pathlib import Path

from benchmarks.lift.harvest import ARCHITECTURES
from cass_ray.cache import digest

SECONDS = 3600
_HALVES = (ARCHITECTURES[::2], ARCHITECTURES[1::2])


def commands(files: list[str], root: str, out: str) -> Iterator[str]:
    """Lines of the list; by a digest, so that the slow files of a repository are spread."""
    for number, file in enumerate(sorted(files, key=lambda name: digest([name]))):
        for half, architectures in enumerate(_HALVES):
            words = ["python", "-m", "benchmarks.lift.harvest", f"{out}/{number:04}{half}.jsonl"]
            words += [root, file, *(f"--sm={each}" for each in architectures)]
            yield f"{SECONDS}\t{shlex.join(words)}"


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", type=Path)
    parser.add_argument("root")
    parser.add_argument("out")
    given = parser.parse_args()
    print("\n".join(commands(given.files.read_text().splitlines(), given.root, given.out)))


if __name__ == "__main__":
    main()
