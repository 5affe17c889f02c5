"""AMD's own test suites, as Debian packages them, on the CPU backend.

    python -m benchmarks.emulator.amd_suites --json OUT.jsonl --arch gfx1100 --arch gfx90a

fetches rocRAND's, hipRAND's, rocPRIM's and hipCUB's test binaries (1.2 GB, 5 GB unpacked below
``--folder``) and runs each with our runtime in the place of AMD's, in pieces, ``--jobs`` at a time.
OUT.jsonl gets a line for every piece; a further call goes on with the cases that were not reached,
until a binary has had ``--seconds`` of wall time on a processor. ``--table`` prints what is in it.

``--prepare FOLDER`` copies what another machine needs to run them: it runs nothing and fetches
nothing there (``--machine FOLDER``).

The binaries hold code for gfx1100 and gfx90a and were compiled by Debian's clang 21. Needs what
``cass setup libraries rand`` unpacks: Debian's C library, rocRAND and hipRAND.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.emulator.amd_suites_pieces import Budget, Piece, in_pieces
from benchmarks.emulator.amd_suites_report import Row, tables
from benchmarks.emulator.gtest import Case, list_cases, run_cases
from cass_ray.cache import default_directory
from cass_ray.emulator.build import DEVICE_NAME, RUNTIME_NAME, runtime_library
from cass_ray.emulator.execution import DEVICES_VARIABLE
from cass_ray.toolchain.archive.debian_archive import Package, fetch, unpack
from cass_ray.toolchain.archive.library_root import LIBRARIES_REMEDY, find_library_root

_TABLE = Path(__file__).with_name("amd_suites.csv")
_MEMORY = 4 << 30
"""Bytes of the device: the suites try sizes until its memory is full."""
_LOADER = "ld-linux-x86-64.so.2"
_COPIED = (
    *(_LOADER, "libc.so.6", "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6"),
    *("librocrand.so.1", "libhiprand.so.1", f"{RUNTIME_NAME}.6", DEVICE_NAME),
)
"""What the binaries are linked with, and the device's process beside the runtime."""


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
    """The C library and the runtime that the binaries run with, all in one folder."""

    def __init__(self, *folders: Path) -> None:
        self._folders = folders
        self._loader = next(path for each in folders if (path := each / _LOADER).exists())

    @classmethod
    def here(cls) -> Machine:
        """Of this machine's cache. Raises :class:`SystemExit` where the libraries are not there."""
        root = find_library_root(default_directory())
        if root is None or "rand" not in root.parts:
            raise SystemExit(LIBRARIES_REMEDY)
        return cls(runtime_library().resolve().parent, root.folder)

    def copy(self, folder: Path) -> None:
        """Put what the binaries are linked with, and the runtime's own files, into ``folder``."""
        folder.mkdir(parents=True, exist_ok=True)
        for source in self._folders:
            for path in source.iterdir():
                if path.name in _COPIED:
                    shutil.copy2(path, folder / path.name)

    def command(self, binary: Binary) -> list[str | Path]:
        path = ":".join(map(str, self._folders))
        return [self._loader, "--library-path", path, binary.path]

    @staticmethod
    def environment(architecture: str) -> dict[str, str]:
        device = {DEVICES_VARIABLE: architecture, "CASS_EMULATOR_MEMORY": str(_MEMORY)}
        return {"CASS_EMULATOR_THREADS": "1", **os.environ, **device}


def run_piece(machine: Machine, binary: Binary, architecture: str, piece: Piece,
              names: Sequence[str]) -> Row:  # fmt: skip
    """Run a piece of a binary, and list its cases (``names``) where that was not done."""
    command, environment = machine.command(binary), machine.environment(architecture)
    try:
        names = names or list_cases(command, environment)
        session = run_cases(command, piece.names or names, environment, piece.seconds)
    except (OSError, ValueError, RuntimeError, subprocess.SubprocessError) as error:
        case = {name: Case("crashed", 0.0, str(error)[:800]) for name in piece.names or names}
        case = case or {binary.name: Case("crashed", 0.0, str(error)[:800])}
        return Row(binary.suite, binary.name, architecture, 0.0, tuple(names or case), case)
    seconds = round(session.seconds, 1)
    return Row(binary.suite, binary.name, architecture, seconds, tuple(names), session.cases)


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
    parser.add_argument("--piece", type=float, default=30, help="seconds of a piece of a binary")
    parser.add_argument("--wall", type=float, default=math.inf, help="seconds of everything")
    parser.add_argument("--jobs", type=int, default=1, help="pieces at a time, a core each")
    parser.add_argument("--prepare", type=Path, metavar="FOLDER", help="for another machine")
    parser.add_argument("--machine", type=Path, metavar="FOLDER", help="what --prepare copied")
    parser.add_argument("--table", action="store_true", help="run nothing")
    given = parser.parse_args()
    if given.prepare:
        Machine.here().copy(given.prepare)
        return 0
    rows = read(given.json)
    if given.table:
        print(tables(rows))
        return 0
    machine = Machine(given.machine) if given.machine else Machine.here()
    keys = [
        (binary, architecture)
        for binary in binaries(given.folder)
        if (not given.suite or binary.suite in given.suite) and re.search(given.binary, binary.name)
        for architecture in given.arch or ["gfx1100", "gfx90a"]
    ]

    def of(key: tuple[Binary, str]) -> list[Row]:
        return [row for row in rows if row.is_of(key[0].name, key[1])]

    def run(key: tuple[Binary, str], piece: Piece) -> Row:
        names = mine[0].names if (mine := of(key)) else ()
        return run_piece(machine, *key, piece, names)

    budget = Budget(given.seconds, given.piece, given.wall)
    for row in in_pieces(keys, run, of, budget, given.jobs):
        rows.append(row)
        with given.json.open("a") as out:
            out.write(json.dumps(asdict(row)) + "\n")
        print(row.summary(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
