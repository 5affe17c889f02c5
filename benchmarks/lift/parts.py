"""Work shared by processes: which programs are whose, and their rows joined again.

``python -m benchmarks.lift.parts OUT.json PART.json ...`` joins what the ``--part`` runs of
:mod:`benchmarks.lift.programs` or :mod:`benchmarks.lift.generated` wrote.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any


def part(text: str) -> tuple[int, int]:
    """``2/8`` as 2 and 8; raises what argparse shows."""
    found = re.fullmatch(r"(\d+)/(\d+)", text)
    if not found or int(found[1]) >= int(found[2]):
        raise argparse.ArgumentTypeError(f"{text!r} is not I/N with I below N")
    return int(found[1]), int(found[2])


def joined(parts: list[Path]) -> dict[str, Any]:
    """The rows of all files, by program, under the command of the first without its part."""
    contents = [json.loads(path.read_text()) for path in parts]
    rows = [row for content in contents for row in content["rows"]]
    command = re.sub(r" --part \S+", "", contents[0]["command"])
    return {"command": command, "rows": sorted(rows, key=lambda row: str(row["program"]))}


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("parts", type=Path, nargs="+")
    given = parser.parse_args()
    given.out.write_text(json.dumps(joined(given.parts), indent=1) + "\n")


if __name__ == "__main__":
    main()
