"""The table of a differential run, and the list of forms that the lifter refuses.

``python -m tests.lift.vectors.report OUTCOMES.json ...`` with what ``differential --output`` wrote
writes ``benchmarks/results/opcode_vectors.{md,json}`` and ``tests/lift/gaps.json``. A later file
replaces the families that it has of an earlier one.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.folders import REPOSITORY
from tests.lift.vectors.differential import GOOD, NOT_LIFTED, vectors

Outcomes = dict[str, dict[str, dict[str, list[str]]]]
"""Architecture -> family -> outcome -> names of forms."""


def merged(paths: list[Path]) -> Outcomes:
    """All files as one."""
    found: Outcomes = {}
    for path in paths:
        for architecture, families in json.loads(path.read_text()).items():
            found.setdefault(architecture, {}).update(families)
    return found


def markdown(outcomes: Outcomes) -> str:
    """The table."""
    stored = vectors()
    lines = [
        "# Lifted opcode forms against an Nvidia GPU",
        "",
        f"{sum('error' not in item for item in stored['forms'].values())} PTX snippets ran on an {stored['device']} (driver "
        f"{stored['driver']}, {stored['ptxas']}, collected {stored['collected']}) over 4,096 lanes "
        "of edge cases. Each is assembled by ptxas for the architecture, lifted and run on the "
        "RDNA3 backend. Same: bit for bit, payloads of NaN apart; approximate functions within the "
        "manual's bound. Forms that an architecture does not have are not counted.",
        "",
        "    python -m tests.lift.vectors.differential --output outcomes.json",
        "    python -m tests.lift.vectors.report outcomes.json",
        "",
        "| architecture | family | forms | as on the GPU | refused with an error | wrong |",
        "|---|---|---|---|---|---|",
    ]
    for architecture, families in sorted(outcomes.items()):
        total = [0, 0, 0, 0]
        for family, by_outcome in families.items():
            counts = [
                sum(map(len, by_outcome.values())),
                sum(len(by_outcome.get(outcome, [])) for outcome in GOOD),
                len(by_outcome.get(NOT_LIFTED, [])),
            ]
            counts.append(counts[0] - counts[1] - counts[2])
            total = [one + other for one, other in zip(total, counts, strict=True)]
            lines.append(f"| {architecture} | {family} | {' | '.join(map(str, counts))} |")
        lines.append(f"| **{architecture}** | **all** | {' | '.join(map(str, total))} |")
    return "\n".join(lines) + "\n"


def gaps(outcomes: Outcomes) -> dict[str, list[str]]:
    """Forms that are refused, by architecture."""
    return {
        architecture: sorted(
            name for by_outcome in families.values() for name in by_outcome.get(NOT_LIFTED, [])
        )
        for architecture, families in sorted(outcomes.items())
    }


def main() -> None:
    """Command line."""
    outcomes = merged([Path(argument) for argument in sys.argv[1:]])
    results = REPOSITORY / "benchmarks" / "results"
    (results / "opcode_vectors.md").write_text(markdown(outcomes))
    (results / "opcode_vectors.json").write_text(json.dumps(outcomes, indent=1) + "\n")
    (REPOSITORY / "tests" / "lift" / "gaps.json").write_text(
        json.dumps(gaps(outcomes), indent=1) + "\n"
    )


if __name__ == "__main__":
    main()
