"""Planted defects that the checks of pull requests find, and alarms that they give in right files.

``python -m benchmarks.translate.defects`` writes ``benchmarks/results/ci_findings.md``.

Planted: ``tests/translate/defects/seeded``, a file each with one defect whose line is known, and
edits of :mod:`benchmarks.translate.planted_defects` in right programs. Right: the shipped programs
that become pairs and both sides of every task of CASS-Bench: what they print on an Nvidia GPU is
known. Nothing is compiled.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import yaml

from benchmarks.folders import REPOSITORY, RESULTS
from benchmarks.translate.planted_defects import KINDS, plant
from cass_ray.bench.task import loadable_tasks
from cass_ray.corpus.sources.shipped import SHIPPED_ROOT, load_manifest
from cass_ray.translate.defects import defects
from cass_ray.translate.diagnostics import diagnostic_of
from cass_ray.translate.protocol import Finding
from cass_ray.translate.rules.widths import width_findings

SEED = 20
"""Of the edits; the checks were looked at with seed 12."""

SEEDED = REPOSITORY / "tests" / "translate" / "defects" / "seeded"


def found_in(text: str, name: str) -> list[Finding]:
    """What ``cass_ray.project.changes`` reports of a program's own defects."""
    widths = width_findings(text) if name.endswith(".hip") else ()
    return [*defects(text), *widths]


def right_programs() -> Iterator[tuple[str, str]]:
    """Name and text."""
    for program in load_manifest():
        if program.expected == "pair":
            yield program.path, (SHIPPED_ROOT / program.path).read_text(errors="replace")
    for task in loadable_tasks()[0]:
        for side, sources in (("cu", task.cuda), ("hip", task.hip)):
            for name, content in sources.files.items():
                if Path(name).suffix in (".cu", ".hip"):
                    yield f"{task.name}/{name} ({side})", content.decode(errors="replace")


def edited_table(programs: list[tuple[str, str]]) -> list[str]:
    """Defects planted by edits: how many programs of each kind, and how many are named."""
    rows, all_tried, all_named = [], 0, 0
    for kind in KINDS:
        wrong = list(plant(kind, programs, SEED))
        named = sum(
            any(diagnostic_of(item).code == kind.code for item in found_in(text, suffix_of(name)))
            for name, text in wrong
        )
        rows.append(f"| {kind.name} | {kind.code} | {len(wrong)} | {named} |")
        if kind.certain:
            all_tried, all_named = all_tried + len(wrong), all_named + named
    return [
        "## Planted by edits in the right files",
        "",
        "| defect | number | programs | named |",
        "|---|---|---|---|",
        *rows,
        "",
        f"Without the removed barriers, of which some are not needed: {all_named} of {all_tried}"
        f" ({all_named / all_tried:.1%}).",
        "The edits are chosen at random with a seed that the checks were not looked at with; their",
        "kinds are those that the checks were made for.",
    ]


def suffix_of(name: str) -> str:
    return ".hip" if name.endswith("(hip)") else ".cu"


def main() -> None:
    started = time.process_time()
    planted = yaml.safe_load((SEEDED / "seeded.yaml").read_text())
    named = []
    for each in planted:
        found = found_in((SEEDED / each["file"]).read_text(), each["file"])
        right = [
            item for item in found if item.line == each["line"] and each["says"] in item.message
        ]
        named.append((each, bool(right), len(found) - len(right)))
    alarms: list[tuple[str, Finding]] = []
    programs = list(right_programs())
    for name, text in programs:
        alarms += [(name, item) for item in found_in(text, suffix_of(name))]
    files = len({name for name, _ in alarms})
    kinds = Counter(diagnostic_of(item).code for _, item in alarms)
    seconds = time.process_time() - started
    lines = [
        "# Checks of pull requests: defects found, false alarms",
        "",
        "    python -m benchmarks.translate.defects",
        "",
        "| | |",
        "|---|---|",
        f"| planted defects | {len(named)} |",
        f"| named at their line | {sum(hit for _, hit, _ in named)} |",
        f"| findings beside them | {sum(more for *_, more in named)} |",
        f"| right files | {len(programs)} |",
        f"| of these with a finding | {files} ({files / len(programs):.1%}) |",
        f"| CPU seconds for all files | {seconds:.0f} |",
        "",
        "The planted defects were written after the rules, by the same hand: they show that each",
        "rule works, not how many defects of others it would find. The right files are the shipped",
        "programs and both sides of CASS-Bench: their GPU output is known. A finding",
        "in one of them is counted as a false alarm. The checks were mended where these files had",
        "some: `ci_findings_elsewhere.md` has files of others.",
        "",
    ]
    if alarms:
        lines += ["| file | line | number | finding |", "|---|---|---|---|"]
        lines += [
            f"| {name} | {item.line} | {diagnostic_of(item).code} | {item.message} |"
            for name, item in alarms
        ]
        lines += ["", "By number: " + ", ".join(f"{code} {n}" for code, n in kinds.most_common())]
        lines.append("")
    lines += edited_table(programs)
    (RESULTS / "ci_findings.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
