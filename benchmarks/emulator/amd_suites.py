"""AMD's own test suites, as Debian packages them, on the CPU backend.

    python -m benchmarks.emulator.amd_suites --json OUT.jsonl --arch gfx1100 --arch gfx90a

fetches rocRAND's, hipRAND's, rocPRIM's and hipCUB's test binaries (1.2 GB, 5 GB unpacked below
``--folder``) and runs each with our runtime in the place of AMD's, smallest first. OUT.jsonl gets a
line for every time that a binary was run; a further call goes on with the cases that were not
reached, until a binary has had ``--seconds`` of wall time. ``--next`` runs one binary on one
processor and ends; exit code 1 says that none is left. ``--table`` prints what OUT.jsonl holds.

The binaries hold code for gfx1100 and gfx90a and were compiled by Debian's clang 21. Needs what
``cass setup libraries rand`` unpacks: Debian's C library, rocRAND and hipRAND.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.emulator.amd_suites_report import Row, tables
from benchmarks.emulator.gtest import Case, list_cases, run_cases
from cass_ray.cache import default_directory
from cass_ray.emulator.build import runtime_library
from cass_ray.emulator.execution import DEVICES_VARIABLE
from cass_ray.toolchain.archive.debian_archive import Package, fetch, unpack
from cass_ray.toolchain.archive.library_root import LIBRARIES_REMEDY, find_library_root

_TABLE = Path(__file__).with_name("amd_suites.csv")
_MEMORY = 4 << 30
"""Bytes of the device: the suites try sizes until its memory is full."""


@dataclass(frozen=True)
class Binary:
    """One test program of a suite."""

    suite: str
    path: Path

    @property
    def name(self) -> str:
        return self.path.name


def packages() -> list[Package]:
    """The packages of the suites, pinned."""
    with _TABLE.open(newline="", encoding="utf-8") as file:
        return [
            Package("suite", row["name"], "", row["path"], int(row["bytes"]), row["sha256"])
            for row in csv.DictReader(file)
        ]


def binaries(folder: Path) -> list[Binary]:
    """The test programs below ``folder``, fetched on first use; smallest first."""
    marker = folder / ".unpacked"
    done = marker.read_text().split() if marker.exists() else []
    wanted = [package for package in packages() if package.sha256 not in done]
    folder.mkdir(parents=True, exist_ok=True)

    def receive(package: Package, file: Path) -> None:
        unpack(file, folder)
        file.unlink()
        with marker.open("a") as out:
            out.write(package.sha256 + "\n")

    if wanted:
        with tempfile.TemporaryDirectory(dir=folder) as work:
            fetch(wanted, Path(work), receive)
    found = []
    for package in packages():
        name = re.sub(r"^lib|\d?-tests$", "", package.name)
        place = folder / "usr/libexec/rocm" / package.name
        found += [Binary(name, path) for path in place.glob("test_*")]
    return sorted(found, key=lambda binary: binary.path.stat().st_size)


class Machine:
    """The C library and the runtime that the binaries run with. Raises :class:`SystemExit`."""

    def __init__(self) -> None:
        root = find_library_root(default_directory())
        if root is None or "rand" not in root.parts:
            raise SystemExit(LIBRARIES_REMEDY)
        path = f"{runtime_library().resolve().parent}:{root.folder}"
        self._loader: list[str | Path] = [
            root.folder / "ld-linux-x86-64.so.2",
            "--library-path",
            path,
        ]

    def command(self, binary: Binary) -> list[str | Path]:
        return [*self._loader, binary.path]

    @staticmethod
    def environment(architecture: str) -> dict[str, str]:
        device = {DEVICES_VARIABLE: architecture, "CASS_RDNA3_MEMORY": str(_MEMORY)}
        return {"CASS_RDNA3_THREADS": "1", **os.environ, **device}


def left_over(cases: Sequence[str], rows: Iterable[Row], budget: float) -> tuple[list[str], float]:
    """What of ``cases`` is still to be run, and for how many seconds: none if all is done.

    A case that was out of time is tried again, alone, where there is twice the time for it.
    """
    rows = list(rows)
    tried = {name: case for row in rows for name, case in row.cases.items()}
    seconds = budget - sum(row.seconds for row in rows)
    names = [name for name in cases if name not in tried]
    if not names:
        late = {name for name in tried if tried[name].outcome == "out of time"}
        names = [name for name in cases if name in late and tried[name].seconds * 2 < seconds]
    return (names, seconds) if seconds > 1 else ([], 0.0)


def sessions(
    found: Sequence[Binary], architectures: Sequence[str], rows: list[Row], budget: float
) -> Iterator[Row]:
    """Run what is not done; ``rows`` must grow by what is yielded."""
    machine = Machine()
    for binary in found:
        for architecture in architectures:
            mine = [row for row in rows if row.is_of(binary.name, architecture)]
            if mine and not left_over(mine[0].names, mine, budget)[0]:
                continue
            environment = machine.environment(architecture)
            command = machine.command(binary)
            try:
                names = list(mine[0].names) if mine else list_cases(command, environment)
                todo, seconds = left_over(names, mine, budget)
                session = run_cases(command, todo, environment, seconds)
            except (OSError, ValueError, RuntimeError) as error:
                case = {binary.name: Case("crashed", 0.0, str(error)[:800])}
                yield Row(binary.suite, binary.name, architecture, 0.0, (binary.name,), case)
                continue
            yield Row(binary.suite, binary.name, architecture, round(session.seconds, 1),
                      tuple(names), session.cases)  # fmt: skip


def read(path: Path) -> list[Row]:
    """The rows of an earlier call."""
    lines = path.read_text().splitlines() if path.exists() else []
    return [Row.of(json.loads(line)) for line in lines]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", type=Path, required=True, help="results, a line for each run")
    parser.add_argument("--folder", type=Path, default=default_directory() / "amd-suites")
    parser.add_argument("--arch", action="append", help="gfx1100 or gfx90a, may be repeated")
    parser.add_argument("--suite", action="append", help="rocrand, hiprand, rocprim or hipcub")
    parser.add_argument("--binary", default="", help="only binaries whose name matches")
    parser.add_argument("--seconds", type=float, default=90, help="of a binary on a processor")
    parser.add_argument("--next", action="store_true", help="one binary on one processor")
    parser.add_argument("--table", action="store_true", help="run nothing")
    given = parser.parse_args()
    rows = read(given.json)
    if given.table:
        print(tables(rows))
        return 0
    found = [
        binary
        for binary in binaries(given.folder)
        if (not given.suite or binary.suite in given.suite) and re.search(given.binary, binary.name)
    ]
    ran = False
    for row in sessions(found, given.arch or ["gfx1100", "gfx90a"], rows, given.seconds):
        ran = True
        rows.append(row)
        with given.json.open("a") as out:
            out.write(json.dumps(asdict(row)) + "\n")
        print(row.summary(), flush=True)
        if given.next:
            return 0
    return 1 if given.next and not ran else 0


if __name__ == "__main__":
    sys.exit(main())
