"""The table of differential runs, and the list of forms that the lifter refuses.

``python -m tests.lift.vectors.report OUTCOMES.json ...`` with what ``differential --output`` wrote
renews ``benchmarks/results/opcode_vectors.{md,json}`` and ``tests/lift/gaps.json``: a family of an
architecture takes the place of what was there of it, all else stays. In the text the table lies
between two marks.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.folders import REPOSITORY
from tests.lift.vectors.differential import GOOD, NOT_LIFTED

Outcomes = dict[str, dict[str, dict[str, list[str]]]]
"""Architecture -> family -> outcome -> names of forms."""
Gaps = dict[str, list[str]]
"""Architecture -> forms that are refused."""

_BEGIN, _END = "<!-- table -->\n", "<!-- end of the table -->\n"


def _number(architecture: str) -> int:
    return int(architecture.removeprefix("sm_"))


def merged(before: Outcomes, *later: Outcomes) -> Outcomes:
    """All as one, the architectures by their numbers; later families replace earlier ones."""
    found: Outcomes = {}
    for outcomes in (before, *later):
        for architecture, families in outcomes.items():
            found.setdefault(architecture, {}).update(families)
    return {name: found[name] for name in sorted(found, key=_number)}


def table(outcomes: Outcomes) -> str:
    """A row a family, and their sum."""
    lines = [
        "| architecture | family | forms | as on the GPU | refused with an error | wrong |",
        "|---|---|---|---|---|---|",
    ]
    for architecture, families in outcomes.items():
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


def with_table(text: str, rows: str) -> str:
    """``text`` with ``rows`` between the marks. Raises ValueError where they are not."""
    head, begin, rest = text.partition(_BEGIN)
    _, end, tail = rest.partition(_END)
    if not (begin and end):
        raise ValueError(f"the marks {_BEGIN.strip()} and {_END.strip()} are not there")
    return head + begin + rows + end + tail


def gaps(before: Gaps, outcomes: Outcomes) -> Gaps:
    """Forms that are refused: of those that ran now, the ones that were; of others, as before."""
    found = {name: set(forms) for name, forms in before.items()}
    for architecture, families in outcomes.items():
        kept = found.setdefault(architecture, set())
        for by_outcome in families.values():
            kept.difference_update(*by_outcome.values())
            kept.update(by_outcome.get(NOT_LIFTED, ()))
    return {name: sorted(found[name]) for name in sorted(found, key=_number)}


def main() -> None:
    """Command line."""
    given: list[Outcomes] = [json.loads(Path(name).read_text()) for name in sys.argv[1:]]
    results = REPOSITORY / "benchmarks" / "results"
    stored, text = results / "opcode_vectors.json", results / "opcode_vectors.md"
    refused = REPOSITORY / "tests" / "lift" / "gaps.json"
    outcomes = merged(json.loads(stored.read_text()), *given)
    stored.write_text(json.dumps(outcomes, indent=1) + "\n")
    text.write_text(with_table(text.read_text(), table(outcomes)))
    known = gaps(json.loads(refused.read_text()), merged({}, *given))
    refused.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main()
