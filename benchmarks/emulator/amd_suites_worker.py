"""One of many processes that run cases of AMD's suites on a machine that was prepared for it.

    python3 -m benchmarks.emulator.amd_suites_worker --seconds 480 --out RESULTS

Started in the folder that ``amd_suites_elsewhere pack`` made, as often as there are cores: each
takes the next case of ``plan.json`` that nobody has taken and whose binary is there, and writes a
line about it to a file of its own in RESULTS, until nothing is left or its time is over. What is
taken and done is in ``--state``; where that folder outlives a call, the next call goes on. Needs
Python's own library and ``gtest`` alone.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.emulator.gtest import Case, run_cases

LIMITS = (60.0, 600.0)
"""Seconds that a case has in its first and second attempt."""
_MEMORY = 6 << 30
"""Bytes that must be free before a case starts: a device has 4 GiB."""


@dataclass(frozen=True)
class Item:
    """A case on a processor: ``path`` is its binary, relative to the folder."""

    path: str
    architecture: str
    name: str


class Queue:
    """The cases of a plan by their place in it, shared through empty files in ``state``."""

    def __init__(self, items: Mapping[int, Item], state: Path) -> None:
        self._items, self._state = items, state
        state.mkdir(parents=True, exist_ok=True)

    def take(self, ends: float) -> Iterator[tuple[int, Item, float]]:
        """Cases and their limits, while at least half of a limit is left before ``ends``."""
        for attempt, limit in enumerate(LIMITS):
            for index, item in self._items.items():
                if ends - time.time() < limit / 2:
                    return
                if self._is_free(index, attempt) and self._claim(index, attempt):
                    yield index, item, min(limit, ends - time.time())

    def done(self, index: int) -> None:
        (self._state / f"{index}.done").touch()

    def _is_free(self, index: int, attempt: int) -> bool:
        if (self._state / f"{index}.done").exists():
            return False
        if attempt == 0:
            return True
        try:
            since = (self._state / f"{index}.{attempt - 1}").stat().st_mtime
        except FileNotFoundError:  # an earlier attempt still runs
            return False
        return time.time() > since + LIMITS[attempt - 1] + 5

    def _claim(self, index: int, attempt: int) -> bool:
        try:
            os.close(os.open(self._state / f"{index}.{attempt}", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return False
        return True


def has_ended(case: Case) -> bool:
    """Whether a case came to its end: what the system kills, for want of memory, has not."""
    killed = case.outcome == "crashed" and case.text.endswith("exit code -9")
    return case.outcome != "out of time" and not killed


def run_item(item: Item, folder: Path, seconds: float) -> Case:
    """Run one case with the libraries in ``folder``/machine."""
    machine = folder / "machine"
    loader = machine / "ld-linux-x86-64.so.2"
    command: list[str | Path] = [loader, "--library-path", machine, folder / item.path]
    device = {"CASS_DEVICES": item.architecture, "CASS_EMULATOR_MEMORY": str(4 << 30)}
    environment = {**os.environ, "CASS_EMULATOR_THREADS": "1", **device}
    try:
        session = run_cases(command, [item.name], environment, seconds)
    except (OSError, RuntimeError) as error:
        return Case("crashed", 0.0, str(error)[:800])
    return session.cases.get(item.name, Case("out of time", seconds))


def _free_memory() -> int:
    """Bytes that can be had, as Linux reckons."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--folder", type=Path, default=Path.cwd(), help="of the plan")
    parser.add_argument("--state", type=Path, default=Path("state"), help="what is taken and done")
    parser.add_argument("--seconds", type=float, default=480, help="of this process")
    parser.add_argument("--out", type=Path, required=True, help="folder of results")
    parser.add_argument("--most", type=int, default=sys.maxsize, help="cases, for a trial")
    given = parser.parse_args()
    ends = time.time() + given.seconds
    plan = json.loads((given.folder / "plan.json").read_text())
    items = {index: Item(*entry) for index, entry in enumerate(plan)}
    items = {key: item for key, item in items.items() if (given.folder / item.path).exists()}
    queue = Queue(items, given.state)
    given.out.mkdir(parents=True, exist_ok=True)
    results = given.out / f"{time.time_ns()}-{os.getpid()}.jsonl"
    for count, (index, item, limit) in enumerate(queue.take(ends)):
        if count == given.most:
            break
        while _free_memory() < _MEMORY and time.time() < ends:
            time.sleep(1)
        started = time.time()
        case = run_item(item, given.folder.resolve(), limit)
        if has_ended(case):
            queue.done(index)
        wall = round(time.time() - started, 2)
        with results.open("a") as out:
            out.write(json.dumps({**asdict(item), "wall": wall, **asdict(case)}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
