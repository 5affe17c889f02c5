"""The cases of AMD's suites that no run has reached, made ready for another machine.

    python -m benchmarks.emulator.amd_suites_elsewhere pack FOLDER
    python -m benchmarks.emulator.amd_suites_elsewhere rows RESULTS --packed FOLDER --json OUT.jsonl
    python -m benchmarks.emulator.amd_suites_elsewhere left RESULTS

``pack`` writes to FOLDER the binaries of the cases in ``benchmarks/results/amd_suites_left.json``,
without the code of processors that are not run (zeros, which compress), the C library and the
runtime (``machine``), ``plan.json`` and the programs that ``amd_suites_worker`` is made of.

``rows`` makes of the workers' lines what ``amd_suites --table`` reads; ``left`` takes what has
ended out of the list of cases.
"""

from __future__ import annotations

import argparse
import json
import shutil
import struct
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.emulator.amd_suites import Binary, Machine, binaries
from benchmarks.emulator.amd_suites_report import Row
from benchmarks.emulator.amd_suites_worker import has_ended
from benchmarks.emulator.gtest import Case, list_cases
from benchmarks.folders import RESULTS
from cass_ray.cache import default_directory

_LEFT = RESULTS / "amd_suites_left.json"
_PROCESSORS = ("gfx1100", "gfx90a")
_BUNDLE = b"__CLANG_OFFLOAD_BUNDLE__"
_NAMES = Path("names.json")
_MODULES = (
    *("__init__.py", "emulator/__init__.py"),
    *("emulator/gtest.py", "emulator/amd_suites_worker.py"),
)


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
    of = {f"{binary.suite}/{binary.name}": binary for binary in binaries(suites)}
    plan = cases_left(_LEFT)
    paths = sorted({path for path, _, _ in plan})
    for path in paths:
        _copy(of[path], folder / path)
    (folder / "plan.json").write_text(json.dumps(plan))
    listed = {of[path].name: _names(machine, of[path]) for path in paths}
    (folder / _NAMES).write_text(json.dumps(listed))
    print(f"{len(plan)} cases of {len(paths)} binaries")


def cases_left(file: Path) -> list[list[str]]:
    """Path, processor and name of each case that has not ended, the processors' in turn."""
    left = json.loads(file.read_text())
    lists = [
        [[path, architecture, name] for name in names]
        for path, its in left.items()
        for architecture, names in its.items()
    ]
    return in_turn(lists)


def take_out(results: Path, file: Path) -> int:
    """Take what has ended in ``results`` out of the list in ``file``; how many are left."""
    ended = {
        (entry["path"], entry["architecture"], entry["name"])
        for entry, case in _lines(results)
        if has_ended(case)
    }
    left = json.loads(file.read_text())
    for path, its in left.items():
        for architecture, names in its.items():
            its[architecture] = [n for n in names if (path, architecture, n) not in ended]
    file.write_text(json.dumps(left, indent=1) + "\n")
    return sum(len(names) for its in left.values() for names in its.values())


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
    for entry, case in _lines(results):
        key, name = (entry["path"], entry["architecture"]), entry["name"]
        seconds[key] += entry["wall"]
        kept = case if has_ended(case) else Case("out of time", case.seconds, case.text)
        if name not in cases[key] or not has_ended(cases[key][name]):
            cases[key][name] = kept
    found = []
    for (path, architecture), its in sorted(cases.items()):
        suite, _, binary = path.partition("/")
        taken = round(seconds[path, architecture], 1)
        found.append(Row(suite, binary, architecture, taken, tuple(names[binary]), its))
    return found


def _lines(results: Path) -> Iterator[tuple[dict[str, Any], Case]]:
    for file in sorted(results.rglob("*.jsonl")):
        for line in file.read_text().splitlines():
            entry = json.loads(line)
            yield entry, Case(entry["outcome"], entry["seconds"], entry["text"])


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
    ending = verbs.add_parser("left")
    ending.add_argument("results", type=Path, help="folder of the workers' lines")
    given = parser.parse_args()
    if given.verb == "left":
        print(f"{take_out(given.results, _LEFT)} cases are left")
        return 0
    if given.verb == "pack":
        pack(given.folder, given.suites)
        return 0
    names = json.loads((given.packed / _NAMES).read_text())
    rows = rows_of(given.results, names)
    given.json.write_text("".join(json.dumps(asdict(row)) + "\n" for row in rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
