"""Commands from lists, on all processors at the lowest priority: standard library alone.

``python benchmarks/elsewhere/commands.py LISTS RESULTS [--spare 6] [--workers 40]`` runs what is in
the files ``LISTS/NAME.list``, a command a line with its seconds and a tab in front, ``600*4`` for
one that works on four processors. What is idle goes to the list with the fewest at work, so that
lists share while all have some; within a list the order is kept. What has ended stands in
``RESULTS/log.jsonl`` and is not run again; what it printed in ``RESULTS/out``. With a file
``RESULTS/stop`` nothing more is begun. With ``--wait`` lists may come later, until there is that
file: named ``NAME.list`` when they are whole. ``--spare``: processors that are left to others,
whose sessions share evenly with these whatever their nice values are. ``--workers``: processors'
worth of commands at once, where commands do more or less than they say.
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
from dataclasses import dataclass
from pathlib import Path

_LOOK_SECONDS = 1.0


@dataclass(frozen=True)
class Command:
    """A line of the list ``name``."""

    name: str
    key: str
    seconds: str
    processors: int
    text: str


class Work:
    """The commands that are left, and the log. ``workers``: processors that are used at once."""

    def __init__(self, lists: Path, results: Path, workers: int, *, waits: bool = False) -> None:
        self.results = results
        self.idle = workers
        self._lists, self._workers, self._waits = lists, workers, waits
        self._log = results / "log.jsonl"
        known = self._log.read_text().splitlines() if self._log.exists() else []
        self._ended = {json.loads(line)["key"] for line in known if line.endswith("}")}
        self._left: dict[str, list[Command]] = {}
        self._at_work: dict[str, int] = {}
        self._changed = threading.Condition()
        self.look()

    def look(self) -> None:
        """Take up the lists that came."""
        for path in sorted(self._lists.glob("*.list")):
            if path.stem not in self._left:
                self._left[path.stem] = _commands(path, self._ended, self._workers)
                self._at_work[path.stem] = 0

    def run_all(self) -> None:
        """Run what is left, and wait for its end."""
        begun = []
        while (command := self._await_next()) is not None:
            begun.append(threading.Thread(target=self._run, args=(command,)))
            begun[-1].start()
        for each in begun:
            each.join()

    def has_more(self) -> bool:
        """Whether anything is still to begin, or may come."""
        return (self._waits or any(self._left.values())) and not (self.results / "stop").exists()

    def take(self) -> Command | None:
        """The command that begins next; None while too few processors are idle for it."""
        names = [name for name, left in self._left.items() if left]
        if not names:
            return None
        name = min(names, key=self._at_work.__getitem__)
        if self._left[name][0].processors > self.idle:
            return None
        command = self._left[name].pop(0)
        self._at_work[name] += command.processors
        self.idle -= command.processors
        return command

    def give_back(self, command: Command) -> None:
        """The processors of ``command`` are idle again."""
        self._at_work[command.name] -= command.processors
        self.idle += command.processors

    def _await_next(self) -> Command | None:
        with self._changed:
            while self.has_more():
                if (command := self.take()) is not None:
                    return command
                self._changed.wait(_LOOK_SECONDS if self._waits else None)
                self.look()
        return None

    def _run(self, command: Command) -> None:
        began = time.time()
        with (self.results / "out" / command.key).open("wb") as file:
            done = subprocess.run(
                ["timeout", "-k", "5", command.seconds, "sh", "-c", command.text],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                check=False,
            )
        with self._changed:
            row = {"key": command.key, "status": done.returncode, "seconds": time.time() - began}
            with self._log.open("a") as log:
                log.write(json.dumps(row) + "\n")
            self.give_back(command)
            self._changed.notify()


def _commands(path: Path, ended: set[str], most: int) -> list[Command]:
    """The lines that have not ended."""
    found = []
    for number, line in enumerate(path.read_text().splitlines()):
        limit, _, text = line.partition("\t")
        seconds, _, processors = limit.partition("*")
        key = f"{path.stem}.{number:05}"
        if text and key not in ended:
            found.append(Command(path.stem, key, seconds, min(most, int(processors or 1)), text))
    return found


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("lists", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("--spare", type=int, default=0)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--wait", action="store_true")
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
    workers = given.workers or len(processors)
    Work(given.lists, given.results, workers, waits=given.wait).run_all()


if __name__ == "__main__":
    main()
