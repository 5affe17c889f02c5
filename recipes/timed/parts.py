"""What a timed run needs on its machine, as folders that are small enough to be sent one by one.

    python -m recipes.timed.parts PARTS --of DIR WHEELS JUDGE … --apart MORE … [--bytes N]

``DIR`` is what ``small.model pack`` and ``judge.answers choose`` wrote, ``JUDGE`` what
``judge.tools pack`` did; ``WHEELS`` have packages that the machine lacks. Files are put into
PARTS/1, PARTS/2 … in this order, those of ``MORE`` in parts of their own, which may be sent or not
and whose packages only those phases see that ask for them. Each folder has a manifest of all files,
by which :func:`recipes.timed.arrival.take_parts` checks what has come and knows what has not.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
from collections.abc import Sequence
from pathlib import Path

from recipes.timed.arrival import MANIFEST

PART_BYTES = 30_000_000


def write_parts(
    sources: Sequence[Path],
    out: Path,
    part_bytes: int = PART_BYTES,
    apart: Sequence[Path] = (),
) -> list[Path]:
    """Write the folders; each has at most ``part_bytes``, where no single file has more."""
    groups: list[list[Path]] = [[]]
    filled = 0
    for source in [*sources, *apart]:
        if source in apart:
            groups.append([])
            filled = 0
        for path in sorted(path for path in source.iterdir() if path.is_file()):
            size = path.stat().st_size
            if groups[-1] and filled + size > part_bytes:
                groups.append([])
                filled = 0
            groups[-1].append(path)
            filled += size
    manifest = {
        path.name: {
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            "apart": path.parent in apart,
        }
        for group in groups
        for path in group
    }
    made = []
    for number, group in enumerate(groups, 1):
        folder = out / str(number)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for path in group:
            shutil.copy2(path, folder / path.name)
        (folder / MANIFEST).write_text(json.dumps(manifest, indent=1))
        made.append(folder)
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--of", type=Path, nargs="+", required=True)
    parser.add_argument("--apart", type=Path, nargs="*", default=[])
    parser.add_argument("--bytes", type=int, default=PART_BYTES)
    options = parser.parse_args()
    for folder in write_parts(options.of, options.out, options.bytes, options.apart):
        files = sorted(folder.iterdir())
        size = sum(path.stat().st_size for path in files)
        print(f"{folder}: {size:,} bytes: {' '.join(path.name for path in files)}")


if __name__ == "__main__":
    main()
