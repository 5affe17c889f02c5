"""Run a folder of cases and print a table.

python -m benchmarks.public_reports [FOLDER] [--target gfx942] [--way lifted] [--jobs 2]
    [--json OUT.json] [--table OUT.md]
"""

from __future__ import annotations

import argparse
import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.folders import REPOSITORY
from benchmarks.public_reports.case import CaseFolder, Way, cases_below
from benchmarks.public_reports.running import CaseRun, run_case

CANARIES = REPOSITORY / "tests" / "canaries"


def main() -> int:
    """Exit codes: 0 every run is right or refused by name, 1 one is not."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.public_reports")
    parser.add_argument("folder", type=Path, nargs="?", default=CANARIES)
    parser.add_argument("--target", action="append", default=[])
    parser.add_argument("--way", action="append", type=Way, default=[])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--table", type=Path)
    chosen = parser.parse_args()
    cases = cases_below(chosen.folder)
    runs = [
        (case, way, target)
        for case in cases
        for way, target in case.runs()
        if way in (chosen.way or Way) and target in (chosen.target or [target])
    ]
    results: list[CaseRun] = []
    with ThreadPoolExecutor(chosen.jobs) as pool:
        for result in pool.map(lambda each: run_case(*each), runs):
            results.append(result)
            print(f"{result.verdict:<8} {result.way:<7} {result.target:<8} {result.name}")
            if not result.passed:
                print(_indented(result.stdout[-500:] + result.stderr[-1000:]))
    passed = sum(result.passed for result in results)
    print(f"{passed} passed, {len(results) - passed} failed, of {len(cases)} cases")
    if chosen.json:
        chosen.json.write_text(json.dumps([_as_json(each) for each in results], indent=1) + "\n")
    if chosen.table:
        chosen.table.write_text(table(cases, results))
    return int(passed != len(results))


def table(cases: list[CaseFolder], results: list[CaseRun]) -> str:
    """The page: a row for each case, with its report, what was tried and the verdict."""
    today = datetime.now(UTC).date().isoformat()
    lines = [
        "# Public reports of people who port",
        "",
        "Each row is a program of our own, made from the difficulty in a public report.",
        f"`python -m benchmarks.public_reports --table {_PAGE}` ran all of them on {today} and",
        "wrote this page: a row was last seen to pass on that day.",
        "",
        "| case | what users see | report | runs | verdict |",
        "|---|---|---|---|---|",
    ]
    for case in cases:
        own = [each for each in results if each.name == case.name]
        if not own:
            continue
        tried = ", ".join(f"{each.way} {each.target}" for each in own)
        verdicts = ", ".join(sorted({each.verdict.value for each in own}))
        verdicts += f"; {case.case.note}" if case.case.note else ""
        report = f"[report]({case.case.report})" if case.case.report else "own"
        lines.append(f"| {case.name} | {case.case.title} | {report} | {tried} | {verdicts} |")
    passed = sum(each.passed for each in results)
    lines += ["", f"{len(results)} runs of {len(cases)} cases, {passed} right or refused by name."]
    return "\n".join(lines) + "\n"


_PAGE = "benchmarks/results/public_reports.md"


def _as_json(result: CaseRun) -> dict[str, str]:
    return {
        "name": result.name,
        "way": result.way.value,
        "target": result.target,
        "verdict": result.verdict.value,
    }


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


if __name__ == "__main__":
    raise SystemExit(main())
