"""Commands from lists, on all processors at the lowest priority: standard library alone.

``python benchmarks/elsewhere/commands.py LISTS RESULTS [--spare 6] [--workers 40]`` runs what is in
the files ``LISTS/NAME.list``, a command a line with its seconds and a tab in front. An idle
processor goes to the list with the fewest running commands, so that lists share while all have
some. What has ended stands in ``RESULTS/log.jsonl`` and is not run again; what it printed in
``RESULTS/out``. With a file ``RESULTS/stop`` nothing more is begun. ``--spare``: processors that
are left to others, whose sessions share evenly with these whatever their nice values are.
``--workers``: commands at once, where each is more or less than one processor's work.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path


class Work:
    """The commands that are left, and the log."""

    def __init__(self, lists: Path, results: Path) -> None:
        self.results = results
        self._log = results / "log.jsonl"
        known = self._log.read_text().splitlines() if self._log.exists() else []
        ended = {json.loads(line)["key"] for line in known if line.endswith("}")}
        self._left = {path.stem: _commands(path, ended) for path in sorted(lists.glob("*.list"))}
        self._running = dict.fromkeys(self._left, 0)
        self._guard = threading.Lock()

    def run_all(self) -> None:
        """One worker: take commands until none is left."""
        while taken := self._take():
            name, key, seconds, command = taken
            began = time.time()
            with (self.results / "out" / key).open("wb") as file:
                done = subprocess.run(
                    ["timeout", "-k", "5", seconds, "sh", "-c", command],
                    stdin=subprocess.DEVNULL,
                    stdout=file,
                    stderr=subprocess.STDOUT,
                    check=False,
                )
            with self._guard:
                self._running[name] -= 1
                row = {"key": key, "status": done.returncode, "seconds": time.time() - began}
                with self._log.open("a") as log:
                    log.write(json.dumps(row) + "\n")

    def _take(self) -> tuple[str, str, str, str] | None:
        with self._guard:
            some = [name for name, left in self._left.items() if left]
            if not some or (self.results / "stop").exists():
                return None
            name = min(some, key=self._running.__getitem__)
            self._running[name] += 1
            return (name, *self._left[name].pop(0))


def _commands(path: Path, ended: set[str]) -> list[tuple[str, str, str]]:
    """Key, seconds and command of each line that has not ended."""
    found = []
    for number, line in enumerate(path.read_text().splitlines()):
        seconds, _, command = line.partition("\t")
        key = f"{path.stem}.{number:05}"
        if command and key not in ended:
            found.append((key, seconds, command))
    return found


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("lists", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("--spare", type=int, default=0)
    parser.add_argument("--workers", type=int)
    given = parser.parse_args()
    (given.results / "out").mkdir(parents=True, exist_ok=True)
    lock = (given.results / "lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        sys.exit(f"{given.results}: others are at it")
    processors = sorted(os.sched_getaffinity(0))[given.spare :]
    os.sched_setaffinity(0, processors)
    os.nice(19)
    work = Work(given.lists, given.results)
    workers = [
        threading.Thread(target=work.run_all) for _ in range(given.workers or len(processors))
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


if __name__ == "__main__":
    main()
