"""Builds and tests of a project, in the sandbox: its own commands, our tools."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from cass_ray.cache import default_directory
from cass_ray.emulator.device_process import DeviceMode, device_process
from cass_ray.emulator.execution import environment, hiprtc_files
from cass_ray.printable import printable_text
from cass_ray.project import cmake
from cass_ray.toolchain.amd.toolchain import AmdToolchain
from cass_ray.toolchain.archive.library_root import visible_libraries
from cass_ray.toolchain.sandbox.isolation import View
from cass_ray.toolchain.sandbox.process import (
    CLEAN_ENVIRONMENT,
    Companion,
    Completed,
    Limits,
    ProcessOutcome,
    run,
)

RECORD_VARIABLE = "CASS_RECORD"
"""Names the folder of records to launchers (``reference/launcher.c``)."""

_TAIL = 200_000
_MOST_OUTPUT = 64 << 20
_DIAGNOSTIC = re.compile(
    r"[^:\n]+(?::\d+:\d+|\(\d+\)): (fatal error|error|warning|note|remark)\b"  # clang's, nvcc's
)
_ERROR = re.compile(r"(?i)\berror\b|\bfatal\b|cannot find|undefined reference")
_SUMMED_UP = re.compile(r"-- |g?make(?:\[\d+\])?:|collect2:|ninja:|.*\bWerror\b|\d+ \w+ and ")
_AS_ON_A_CARD = DeviceMode(as_on_a_card=True)


class StepOutcome(StrEnum):
    """How a build or a test ended; ``skipped``: nothing to run, or the step before failed; ``in
    part``: some of it was built, and with that the tests pass."""

    PASSED = "passed"
    IN_PART = "in part"
    FAILED = "failed"
    TIME_LIMIT = "time limit"
    MEMORY_LIMIT = "memory limit"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Step:
    """One command and what it did; ``log`` is the end of what it wrote."""

    command: str
    outcome: StepOutcome
    seconds: float = 0.0
    log: str = ""

    @property
    def passed(self) -> bool:
        return self.outcome is StepOutcome.PASSED

    def told(self, most: int) -> str:
        """The errors in its log and the log's end, in some ``most`` characters."""
        return shortened(self.log.rstrip(), most)


@dataclass(frozen=True)
class DeviceStep:
    """A step with a device: how often kernels were launched in it."""

    step: Step
    launches: int


@dataclass(frozen=True)
class Workbench:
    """Where a project is built for one target: its tree, the ROCm root, compiler and runtime."""

    tree: Path
    prefix: Path
    toolchain: AmdToolchain
    runtime: Path
    architecture: str
    seconds: float = 1800.0
    also_visible: tuple[Path, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    """More of the environment."""
    tools: tuple[Path, ...] = ()
    """Folders of programs that come before the system's."""
    memory_bytes: int = 12 << 30

    def build(self, command: str) -> Step:
        """Run a build command in the tree, which it may change."""
        # Downloads of a build fail as without a network; they don't end CMake by a signal.
        view = replace(self._view(), device_access=True)
        # make goes on behind what fails: all errors are seen, and what can be built is.
        variables = {"MAKEFLAGS": "k", **self._environment()}
        return run_step(command, self.tree, self._limits, view, variables)

    def test(self, command: str, record: Path | None = None, *, check: bool = False) -> DeviceStep:
        """Run a test command in the tree; its programs find a device of ``architecture``.

        Launchers write to ``record`` (:mod:`cass_ray.project.reference.recording`). With ``check``
        the device is in checking mode.
        """
        return run_on_device(
            command,
            self.tree,
            self._limits,
            self._view(),
            self._environment(),
            self.runtime,
            record,
            DeviceMode(check=True) if check else _AS_ON_A_CARD,
        )

    @property
    def _limits(self) -> Limits:
        return limits_of(self.seconds, self.memory_bytes)

    def _view(self) -> View:
        libraries = visible_libraries(default_directory())
        return View(
            read_only=(
                *hiprtc_files(self.toolchain),
                self.prefix,
                self.runtime.resolve().parent,
                *libraries,
                *self.also_visible,
            ),
            writable=(self.tree,),
            process_filesystem=True,
            # Test runners ask which networks there are, programs whether a driver is loaded.
            refuses_sockets=True,
            arguments=("--dir", "/sys/module/amdgpu"),
        )

    def _environment(self) -> dict[str, str]:
        """As ``/opt/rocm`` and its tools set up a shell."""
        variables = environment((self.architecture,), self.toolchain)
        prefix = str(self.prefix)
        path = [f"{prefix}/bin", *(str(folder) for folder in self.tools), CLEAN_ENVIRONMENT["PATH"]]
        return {
            **CLEAN_ENVIRONMENT,
            **variables,
            "PATH": ":".join(path),
            "COMPILER_PATH": f"{prefix}/host",
            "ROCM_PATH": prefix,
            "ROCM_HOME": prefix,
            "HIP_PATH": prefix,
            "HIP_PLATFORM": "amd",
            "HIP_ARCHITECTURES": self.architecture,
            **cmake.VARIABLES,
            "CMAKE_PREFIX_PATH": prefix,
            "CMAKE_TOOLCHAIN_FILE": f"{prefix}/toolchain.cmake",
            **self.variables,
        }


def limits_of(seconds: float, memory_bytes: int) -> Limits:
    """Bounds of one command of a project."""
    return Limits(
        cpu_seconds=seconds * (os.cpu_count() or 1),
        wall_seconds=seconds,
        memory_bytes=memory_bytes,
        address_space_bytes=None,
        file_bytes=4 << 30,
        output_bytes=_MOST_OUTPUT,
        processes=512,
        open_files=4096,
    )


def run_step(
    command: str,
    tree: Path,
    limits: Limits,
    view: View,
    variables: Mapping[str, str],
    companion: Companion | None = None,
) -> Step:
    """Run ``command`` by bash in ``tree``; an empty one is skipped."""
    if not command:
        return Step(command, StepOutcome.SKIPPED)
    argv = ["/bin/bash", "-c", command]
    done = run(argv, cwd=tree, limits=limits, view=view, env=variables, companion=companion)
    return Step(command, _outcome(done), done.wall_seconds, _log(done))


def run_on_device(
    command: str,
    tree: Path,
    limits: Limits,
    view: View,
    variables: Mapping[str, str],
    runtime: Path,
    record: Path | None,
    mode: DeviceMode = _AS_ON_A_CARD,
) -> DeviceStep:
    """:func:`run_step` with a device process of ``runtime``, the records of launchers in
    ``record``."""
    if record is not None:
        view = replace(view, writable=(*view.writable, record))
        variables = {**variables, RECORD_VARIABLE: str(record)}
    with device_process(runtime, mode, limits) as device:
        step = run_step(command, tree, limits, view, variables, device.companion)
        return DeviceStep(step, sum(launch.count for launch in device.launches()))


def _outcome(done: Completed) -> StepOutcome:
    match done.outcome:
        case ProcessOutcome.OK:
            return StepOutcome.PASSED
        case ProcessOutcome.TIME_LIMIT:
            return StepOutcome.TIME_LIMIT
        case ProcessOutcome.MEMORY_LIMIT:
            return StepOutcome.MEMORY_LIMIT
        case _:
            return StepOutcome.FAILED


def _log(done: Completed) -> str:
    text = done.stdout_text + ("\n" if done.stdout else "") + done.stderr_text
    if end := _end_of(done):
        text += f"{'' if text.endswith(chr(10)) or not text else chr(10)}{end}\n"
    return printable_text(shortened(text, _TAIL))


def _end_of(done: Completed) -> str:
    """How the command ended, as a shell says it in a terminal; empty where it ended by itself."""
    match done.outcome:
        case ProcessOutcome.SIGNAL:
            return f"ended by signal {done.signal} ({signal.strsignal(done.signal)})"
        case ProcessOutcome.OUTPUT_LIMIT:
            return f"ended: it printed more than {_MOST_OUTPUT >> 20} MiB"
        case _:
            return ""


def first_error(log: str, most: int = 1) -> list[str]:
    """``most`` lines of ``log`` from its first one that names an error, else its last ones."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    errors = (
        number
        for number, line in enumerate(lines)
        if _ERROR.search(line) and not _SUMMED_UP.match(line)
    )
    first = next(errors, max(0, len(lines) - most))
    return lines[first : first + most]


def shortened(text: str, most: int) -> str:
    """``text``, or where it is longer than ``most`` half as much of its end, behind the errors that
    compilers report before: of each the lines up to the next diagnostic that is none of its notes.
    """
    if len(text) <= most:
        return text
    begin = text.find("\n", len(text) - most // 2) + 1 or len(text) - most // 2
    kept, room, inside = list[str](), most - most // 2, False
    for line in text[:begin].splitlines(keepends=True):
        if found := _DIAGNOSTIC.match(line):
            inside = "error" in found[1] or (inside and found[1] == "note")
        if inside and len(line) > room:
            break
        if inside:
            kept.append(line)
            room -= len(line)
    return "".join(kept) + text[begin:]
