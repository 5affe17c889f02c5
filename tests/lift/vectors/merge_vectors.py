"""Add results of some forms to the stored ones: ``python -m tests.lift.vectors.merge_vectors NEW``.

Both must be of one kind of device and one release of ptxas.
"""

from __future__ import annotations

import argparse
import json
import lzma
from pathlib import Path
from typing import Any

from tests.lift.vectors.differential import VECTORS


def merged(stored: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """``stored`` with the forms of ``new``. Raises :class:`ValueError` where they do not fit."""
    for key in ("format", "device", "ptxas", "command"):
        if stored[key] != new[key]:
            raise ValueError(f"{key}: {stored[key]!r} and {new[key]!r}")
    return {**stored, "forms": dict(sorted({**stored["forms"], **new["forms"]}.items()))}


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("new", type=Path)
    given = parser.parse_args()
    stored, new = (json.loads(lzma.decompress(p.read_bytes())) for p in (VECTORS, given.new))
    text = json.dumps(merged(stored, new), separators=(",", ":"))
    VECTORS.write_bytes(lzma.compress(text.encode(), preset=9))
    print(f"{VECTORS}: {len(new['forms'])} forms added or replaced")


if __name__ == "__main__":
    main()
