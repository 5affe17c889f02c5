"""The device process of one run: how it is started, and what it leaves as evidence.

It starts the sandboxed program, owns device memory and everything that kernels do, and outlives the
program. What it is asked to do (count, check, skip, perturb) is on its own command line, and what
it records lies in files that only it and we have: the program sees the same whatever is asked.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cass_ray.emulator.build import DEVICE_NAME
from cass_ray.emulator.launches import RECORD_BYTES, Launch, parse_launches
from cass_ray.emulator.perturbation import Perturbation
from cass_ray.emulator.transcript import TRANSCRIPT_BYTES, Transcript, parse_transcript
from cass_ray.toolchain.sandbox import control_group
from cass_ray.toolchain.sandbox.process import Companion, Limits

_PROCESSES = 9
"""Our processes beside the program's: one, and one for each of at most 8 connections."""

_COUNTER_BYTES = 64 << 20
"""The longest text of counters that is read."""


@dataclass(frozen=True)
class DeviceMode:
    """What is asked of the device; the program cannot see it.

    ``skip_kernels`` records and answers launches without running them. ``perturb`` changes data on
    its way. ``transcript`` records what moves between host and device.
    ``as_on_a_card``: waves take turns at each loop and where they wait for memory, not at barriers
    alone, and so do workgroups; neighboring ones start in reverse; device memory lies in blocks of
    2 MiB, so that a stray access near it meets no unmapped page (not in checking mode). Programs
    that only happen to work do so here more often.
    ``late_streams``: what a program gives to a stream starts when the program waits for it, and
    what nothing waits for does not. Programs that wait for too little show it here.
    ``kernel_seconds`` bounds each kernel, ``threads`` those that run it (0: one for each core).
    """

    check: bool = False
    counters: bool = False
    skip_kernels: bool = False
    perturb: Perturbation | None = None
    transcript: bool = False
    threads: int = 0
    kernel_seconds: float = 0.0
    as_on_a_card: bool = False
    late_streams: bool = False


class DeviceRun:
    """One device process's files; the evidence is there when its run has ended."""

    def __init__(self, runtime_library: Path, mode: DeviceMode, limits: Limits) -> None:
        self._mode = mode
        self._launches = os.memfd_create("launches")
        os.ftruncate(self._launches, RECORD_BYTES)
        self._counters = os.memfd_create("counters")
        self._transcript = os.memfd_create("transcript")
        program = runtime_library.resolve().parent / DEVICE_NAME
        options = _options(mode, limits)
        # All of them always, so that the numbers of the program's open files are the same.
        options += [f"--launches={self._launches}", f"--counters={self._counters}"]
        if mode.transcript or mode.perturb:
            options.append(f"--transcript={self._transcript}")
        self.companion = Companion(
            command=(str(program), *options, "--"),
            descriptors=(self._launches, self._counters, self._transcript),
            processes=_PROCESSES,
        )

    def close(self) -> None:
        os.close(self._launches)
        os.close(self._counters)
        os.close(self._transcript)

    def launches(self) -> list[Launch]:
        """Launches in order of first launch."""
        return parse_launches(os.pread(self._launches, RECORD_BYTES, 0))

    def transcript(self) -> Transcript:
        """What moved between host and device; nothing where no transcript was asked for."""
        size = min(os.fstat(self._transcript).st_size, TRANSCRIPT_BYTES)
        return parse_transcript(os.pread(self._transcript, size, 0))

    def counters(self) -> bytes | None:
        """The counters as one JSON object; None where none were asked for or nothing came."""
        size = os.fstat(self._counters).st_size
        if not self._mode.counters or not 0 < size <= _COUNTER_BYTES:
            return None
        return _merged(os.pread(self._counters, size, 0))


@contextlib.contextmanager
def device_process(runtime_library: Path, mode: DeviceMode, limits: Limits) -> Iterator[DeviceRun]:
    """The device process of ``runtime_library`` (our ``libamdhip64.so``) for a run under
    ``limits``."""
    run = DeviceRun(runtime_library, mode, limits)
    try:
        yield run
    finally:
        run.close()


def _options(mode: DeviceMode, limits: Limits) -> list[str]:
    # Memory that belongs to no process is bounded by the control group, else here.
    bound = None if control_group.bounds_memory() else limits.memory_bytes
    values: dict[str, str | None] = {
        "--check": "" if mode.check else None,
        "--count": "" if mode.counters else None,
        "--skip-kernels": "" if mode.skip_kernels else None,
        "--perturb": f"={mode.perturb.option}" if mode.perturb else None,
        "--fragments": "" if mode.as_on_a_card else None,
        "--interleave": "" if mode.as_on_a_card else None,
        "--late-streams": "" if mode.late_streams else None,
        "--threads": f"={mode.threads}" if mode.threads else None,
        "--kernel-seconds": f"={mode.kernel_seconds}" if mode.kernel_seconds else None,
        "--cpu-seconds": f"={max(1, round(limits.cpu_seconds + 0.5))}",
        "--shared-bytes": None if bound is None else f"={bound}",
    }
    return [name + value for name, value in values.items() if value is not None]


def _merged(text: bytes) -> bytes | None:
    """One object of those that the processes of several connections wrote one after another."""
    decoder, at, kernels = json.JSONDecoder(), 0, list[Any]()
    content = text.decode("ascii", "replace")
    objects = 0
    while at < len(content.rstrip()):
        try:
            value, at = decoder.raw_decode(content, at)
        except ValueError:  # cut short: the process was killed
            return None
        kernels += value["kernels"]
        objects += 1
        at += 1  # the end of the line
    return text if objects == 1 else json.dumps({"kernels": kernels}).encode()
