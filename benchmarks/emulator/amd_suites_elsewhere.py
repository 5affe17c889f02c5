"""The cases of AMD's suites that no run has reached, made ready for another machine.

    python -m benchmarks.emulator.amd_suites_elsewhere pack FOLDER
    python -m benchmarks.emulator.amd_suites_elsewhere rows RESULTS --packed FOLDER --json OUT.jsonl

``pack`` reads the table of binaries in ``benchmarks/results/amd_suites.md`` and writes to FOLDER
those that have cases left, without the code of processors that are not run (zeros, which
compress), the C library and the runtime (``machine``), ``plan.json`` and the programs that
``amd_suites_worker`` is made of. Which cases were reached the table does not say; all are in the
plan, those that are listed last first, because a binary's cases are run in order.

``rows`` makes of the workers' lines what ``amd_suites --table`` reads.
"""

from __future__ import annotations

import argparse
import json
import shutil
import struct
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.emulator.amd_suites import Binary, Machine, binaries
from benchmarks.emulator.amd_suites_report import Row
from benchmarks.emulator.amd_suites_worker import has_ended
from benchmarks.emulator.gtest import Case, list_cases
from benchmarks.folders import RESULTS
from cass_ray.cache import default_directory

_REPORT = RESULTS / "amd_suites.md"
_PROCESSORS = ("gfx1100", "gfx90a")
_BUNDLE = b"__CLANG_OFFLOAD_BUNDLE__"
_NAMES = Path("names.json")
_MODULES = (
    *("__init__.py", "emulator/__init__.py"),
    *("emulator/gtest.py", "emulator/amd_suites_worker.py"),
)


@dataclass(frozen=True)
class Left:
    """How many cases of a binary a processor has not reached."""

    binary: str
    architecture: str
    cases: int


def cases_left(report: str) -> list[Left]:
    """What the report's table of binaries says."""
    found = []
    for line in report.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0].startswith("test_") and len(cells) == 10 and int(cells[7]):
            found.append(Left(cells[0], cells[1], int(cells[7])))
    return found


def without_others(program: bytes) -> bytes:
    """A program with zeros for the device code of processors that are not run."""
    kept, at = bytearray(program), -1
    while (at := program.find(_BUNDLE, at + 1)) >= 0:
        for name, offset, size in _entries(program, at):
            if name.rpartition("-")[2] not in _PROCESSORS:
                kept[at + offset : at + offset + size] = bytes(size)
    return bytes(kept)


def _entries(program: bytes, at: int) -> Iterator[tuple[str, int, int]]:
    """Target, offset and size of a bundle's code objects (Clang's offload bundler)."""
    (count,) = struct.unpack_from("<Q", program, at + len(_BUNDLE))
    at += len(_BUNDLE) + 8
    for _ in range(count):
        offset, size, length = struct.unpack_from("<QQQ", program, at)
        yield program[at + 24 : at + 24 + length].decode(), offset, size
        at += 24 + length


def in_turn(lists: list[list[list[str]]]) -> list[list[str]]:
    """The entries of all lists, each list spread evenly over the whole."""
    placed = [
        ((index + 0.5) / len(each), number, entry)
        for number, each in enumerate(lists)
        for index, entry in enumerate(each)
    ]
    return [entry for _, _, entry in sorted(placed, key=lambda item: item[:2])]


def pack(folder: Path, suites: Path) -> None:
    """Write ``folder``; see the module."""
    machine = Machine.here()
    machine.copy(folder / "machine")
    for library in (folder / "machine").glob("lib*rand.so.1"):
        library.write_bytes(without_others(library.read_bytes()))
    for module in _MODULES:
        target = folder / "benchmarks" / module
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(Path(__file__).parents[1] / module, target)
    of = {binary.name: binary for binary in binaries(suites)}
    listed: dict[str, list[str]] = {}
    first, then = [], []
    for left in cases_left(_REPORT.read_text()):
        binary = of[left.binary]
        path = f"{binary.suite}/{binary.name}"
        if binary.name not in listed:
            listed[binary.name] = _names(machine, binary)
            _copy(binary, folder / path)
        entries = [[path, left.architecture, name] for name in reversed(listed[binary.name])]
        first.append(entries[: left.cases])
        then.append(entries[left.cases :])
    plan = in_turn(first) + in_turn(then)
    (folder / "plan.json").write_text(json.dumps(plan))
    (folder / _NAMES).write_text(json.dumps(listed))
    print(f"{sum(map(len, first))} cases not reached, {len(plan)} of their binaries")


def _names(machine: Machine, binary: Binary) -> list[str]:
    return list_cases(machine.command(binary), machine.environment(_PROCESSORS[0]))


def _copy(binary: Binary, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(without_others(binary.path.read_bytes()))
    target.chmod(0o755)


def rows_of(results: Path, names: dict[str, list[str]]) -> list[Row]:
    """The workers' lines as rows, one a binary and processor; an ended attempt counts before a
    later one that was out of time."""
    cases: dict[tuple[str, str], dict[str, Case]] = defaultdict(dict)
    seconds: dict[tuple[str, str], float] = defaultdict(float)
    for file in sorted(results.rglob("*.jsonl")):
        for line in file.read_text().splitlines():
            entry = json.loads(line)
            key, name = (entry["path"], entry["architecture"]), entry["name"]
            seconds[key] += entry["wall"]
            case = Case(entry["outcome"], entry["seconds"], entry["text"])
            if not has_ended(case):
                case = Case("out of time", case.seconds, case.text)
            if name not in cases[key] or not has_ended(cases[key][name]):
                cases[key][name] = case
    found = []
    for (path, architecture), its in sorted(cases.items()):
        suite, _, binary = path.partition("/")
        taken = round(seconds[path, architecture], 1)
        found.append(Row(suite, binary, architecture, taken, tuple(names[binary]), its))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    packing = verbs.add_parser("pack")
    packing.add_argument("folder", type=Path)
    packing.add_argument("--suites", type=Path, default=default_directory() / "amd-suites")
    reading = verbs.add_parser("rows")
    reading.add_argument("results", type=Path, help="folder of the workers' lines")
    reading.add_argument("--packed", type=Path, required=True, help="what pack wrote")
    reading.add_argument("--json", type=Path, required=True)
    given = parser.parse_args()
    if given.verb == "pack":
        pack(given.folder, given.suites)
        return 0
    names = json.loads((given.packed / _NAMES).read_text())
    rows = rows_of(given.results, names)
    given.json.write_text("".join(json.dumps(asdict(row)) + "\n" for row in rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
