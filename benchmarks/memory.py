"""Memory of the driver and of the object store while a job runs, sampled from ``/proc``.

Counted are the driver's own pages (``RssAnon`` and ``RssFile``) and the pages of the object store
that were ever touched: the raylet keeps them mapped as shared memory (``RssShmem``; proc(5)). The
driver maps the same shared pages, so its ``RssShmem`` is not counted twice.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import linear_regression

from benchmarks.cgroup import ControlGroup

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
                store += status_bytes(pid, "RssShmem")
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
