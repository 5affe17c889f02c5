"""Memory of the driver and of the object store while a job runs, sampled from ``/proc``.

Counted are the driver's own pages (``RssAnon`` and ``RssFile``; proc(5)) and the pages of the
object store that were ever touched: the blocks of the file in memory that the raylet holds open
and every process maps. What the driver maps of it (``RssShmem``) is not counted again.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import linear_regression

from benchmarks.measure.cgroup import ControlGroup

_SAMPLE_SECONDS = 0.25


@dataclass(frozen=True)
class Sample:
    """Bytes at one moment (``time.monotonic`` seconds)."""

    seconds: float
    driver: int
    object_store: int

    @property
    def total(self) -> int:
        """Driver and object store together."""
        return self.driver + self.object_store


@dataclass
class MemoryWatch:
    """Samples of one run. ``job`` is a word of the driver's command line."""

    job: str
    samples: list[Sample] = field(default_factory=list)

    @contextlib.contextmanager
    def __call__(self, group: ControlGroup) -> Iterator[None]:
        """Sample the processes of ``group`` until the block ends."""
        done = threading.Event()
        thread = threading.Thread(target=self._run, args=(group, done))
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()

    def _run(self, group: ControlGroup, done: threading.Event) -> None:
        while not done.wait(_SAMPLE_SECONDS):
            sample = self._sample(group)
            if sample is not None:
                self.samples.append(sample)

    def _sample(self, group: ControlGroup) -> Sample | None:
        driver = store = 0
        for pid in group.processes():
            words = _command_line(pid)
            if not words:
                continue
            if Path(words[0]).name == "raylet":
                store += object_store_bytes(pid)
            elif any(word.endswith(self.job) for word in words[1:3]) and "python" in words[0]:
                driver += status_bytes(pid, "RssAnon") + status_bytes(pid, "RssFile")
        return Sample(time.monotonic(), driver, store) if driver else None


def growth_per_row(samples: Sequence[Sample], rows: int) -> float:
    """Bytes of driver and object store that each further row adds, by least squares.

    Rows are taken to pass evenly in time. The first third is left out: it is the start of Ray and
    the filling of the stages, which happen once. Raises ``ValueError`` for too few samples.
    """
    settled = samples[len(samples) // 3 :]
    if len(settled) < 10:
        raise ValueError(f"only {len(samples)} samples: the run is too short to tell its growth")
    began, ended = samples[0].seconds, samples[-1].seconds
    passed = [rows * (sample.seconds - began) / (ended - began) for sample in settled]
    return linear_regression(passed, [sample.total for sample in settled]).slope


def object_store_bytes(raylet: int) -> int:
    """Bytes in the files named ``plasma…`` that process ``raylet`` holds open; 0 once it ended."""
    sizes: dict[tuple[int, int], int] = {}
    with contextlib.suppress(OSError):
        for link in list(Path(f"/proc/{raylet}/fd").iterdir()):
            with contextlib.suppress(OSError):  # closed meanwhile; the others are still there
                if link.readlink().name.startswith("plasma"):
                    status = link.stat()
                    sizes[status.st_dev, status.st_ino] = status.st_blocks * 512
    return sum(sizes.values())


def _command_line(pid: int) -> list[str]:
    try:
        text = Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
    except OSError:  # it ended meanwhile
        return []
    return [word for word in text.split("\0") if word]


def status_bytes(pid: int, name: str) -> int:
    """A size in ``/proc/PID/status``; 0 once the process ended."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            key, _, value = line.partition(":")
            if key == name:
                return int(value.split()[0]) * 1024
    return 0
