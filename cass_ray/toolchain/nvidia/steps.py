"""The commands behind one ``nvcc`` call, read from ``nvcc --dryrun``.

Running nvcc's own steps one by one gives the code that nvcc gives, lets a caller leave out those
that it does not need, and puts each under its own limits.
"""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cass_ray.toolchain.sandbox import process
from cass_ray.toolchain.sandbox.isolation import View
from cass_ray.toolchain.sandbox.process import COMPILE_LIMITS, Completed, Limits
from cass_ray.toolchain.unit import Unit, classify, result_of

SOURCE_TREE = Path("/cass/source")
"""Where compilers see the source tree, on every machine."""

WORK_FILE_STEM = "unit"
"""Work files of the steps are ``unit.cpp1.ii``, ``unit.ptx``, …, as nvcc names them."""

_SOURCE = "cass-source"
_FOLDER = "/cass-folder"
_PREFIX = "#$ "

WORK_FILES = f"{_FOLDER}/{_SOURCE}"
"""In arguments of :func:`dry_run`: path and stem of the work files."""


class NvccError(RuntimeError):
    """nvcc does not work here or prints steps that are not understood; the message has them."""


@dataclass(frozen=True)
class CompilerStep:
    """One command of nvcc's, with placeholders for the source and the folder of work files.

    ``tool`` is the name of its program: ``g++``, ``cicc``, ``ptxas``, ``cudafe++``.
    """

    tool: str
    arguments: tuple[str, ...]

    def command(self, source: str, folder: Path, extra: Sequence[str] = ()) -> list[str]:
        """The command for ``source`` (relative to the tree), with ``extra`` first arguments.

        ``folder`` is where the command sees the work files.
        """
        arguments = [self._argument(word, source, str(folder)) for word in self.arguments[1:]]
        return [self.arguments[0], *extra, *arguments]

    @staticmethod
    def _argument(word: str, source: str, folder: str) -> str:
        if word == f"{_SOURCE}.cu":
            return source
        if word.endswith(f"/{_SOURCE}.cu"):
            return str(SOURCE_TREE / source)
        return word.replace(_FOLDER, folder).replace(_SOURCE, WORK_FILE_STEM)


def unit_arguments(unit: Unit) -> list[str]:
    """Of ``unit`` for the preprocessor's step: nvcc puts the runtime before forced headers."""
    runtime = ["-include", "cuda_runtime.h"] if unit.forced else []
    return [*runtime, *unit.preprocessor_arguments()]


@dataclass(frozen=True)
class NvccSteps:
    """What nvcc runs, in order, and the environment that it needs."""

    steps: tuple[CompilerStep, ...]
    environment: Mapping[str, str]

    def first(self, tool: str) -> CompilerStep:
        """The first command of ``tool``; :class:`NvccError` when there is none."""
        return self._only(tool, self.steps)

    def last(self, tool: str) -> CompilerStep:
        """The last command of ``tool``; :class:`NvccError` when there is none."""
        return self._only(tool, self.steps[::-1])

    @staticmethod
    def _only(tool: str, steps: tuple[CompilerStep, ...]) -> CompilerStep:
        for step in steps:
            if step.tool == tool:
                return step
        raise NvccError(f"nvcc --dryrun shows no {tool} step, only {[s.tool for s in steps]}")


def dry_run(nvcc: Path, arguments: Sequence[str]) -> NvccSteps:
    """What ``nvcc arguments`` would do with a source file; nothing is compiled.

    In ``arguments``, :data:`WORK_FILES` stands for the work files' path without extension.
    Raises :class:`NvccError`.
    """
    command: list[str | Path] = [
        nvcc,
        "--dryrun",
        "--keep",
        "--keep-dir",
        _FOLDER,
        *arguments,
        f"{_SOURCE}.cu",
    ]
    with tempfile.TemporaryDirectory() as directory:
        (Path(directory) / f"{_SOURCE}.cu").touch()
        completed = process.run(command, cwd=Path(directory))
    if not completed.ok:
        raise NvccError(f"{nvcc} --dryrun failed: {completed.stderr_text.strip()}")
    variables: dict[str, str] = {}
    steps: list[CompilerStep] = []
    for line in completed.stderr_text.splitlines():
        text = line.removeprefix(_PREFIX)
        name, equals, value = text.partition("=")
        if equals and name.isidentifier():
            variables[name] = value.strip()
        elif words := shlex.split(text.replace("$CICC_PATH", variables.get("CICC_PATH", ""))):
            steps.append(CompilerStep(Path(words[0]).name, (_program(words[0], nvcc), *words[1:])))
    environment = dict(process.CLEAN_ENVIRONMENT)
    if libraries := variables.get("LD_LIBRARY_PATH", "").strip(":"):
        environment["LD_LIBRARY_PATH"] = libraries
    return NvccSteps(tuple(steps), environment)


def _program(word: str, nvcc: Path) -> str:
    """The program that ``word`` names; nvcc's own tools lie beside it."""
    beside = nvcc.parent / word
    return os.path.normpath(beside if "/" not in word and beside.is_file() else word)


@dataclass
class CompilerWorkbench:
    """Runs steps on one unit; their files are in ``folder``, their cost in ``cpu_seconds``."""

    unit: Unit
    folder: Path
    view: View
    limits: Limits = COMPILE_LIMITS
    cpu_seconds: dict[str, float] = field(default_factory=dict)

    def run(
        self,
        step: CompilerStep,
        environment: Mapping[str, str],
        extra: Sequence[str] = (),
        source: str | None = None,
    ) -> None:
        """Run ``step`` on the unit's main file, or on ``source``.

        Raises :class:`~cass_ray.toolchain.unit.CompileFailure`.
        """
        completed = self.try_command(self.command(step, extra, source), environment)
        if not completed.ok:
            raise classify(completed, self.unit, step.tool)

    def command(
        self, step: CompilerStep, extra: Sequence[str] = (), source: str | None = None
    ) -> list[str]:
        """The command line of ``step`` as :meth:`run` has it."""
        folder = self.view.inside(self.folder)
        return step.command(source or str(self.unit.main), folder, extra)

    def try_command(self, command: Sequence[str], environment: Mapping[str, str]) -> Completed:
        """Run ``command`` in the source tree and count its CPU time."""
        completed = process.run(
            command, cwd=self.unit.root, view=self.view, env=environment, limits=self.limits
        )
        self.count(Path(command[0]).name, completed.cpu_seconds)
        return completed

    def count(self, tool: str, cpu_seconds: float) -> None:
        self.cpu_seconds[tool] = self.cpu_seconds.get(tool, 0.0) + cpu_seconds

    def file(self, extension: str) -> Path:
        """The host's path of a work file."""
        return self.folder / f"{WORK_FILE_STEM}.{extension}"

    def output(self, extension: str, tool: str) -> bytes:
        """The work file that ``tool`` made; raises as :func:`result_of` does."""
        return result_of(tool, self.file(extension))

    def replace(self, extension: str, content: bytes) -> None:
        """Put ``content`` in place of a work file, whatever lies there."""
        part = self.folder / f".part-{WORK_FILE_STEM}.{extension}"
        part.write_bytes(content)
        part.replace(self.file(extension))

    def inside(self, extension: str) -> Path:
        """The path at which commands see a work file."""
        return self.view.inside(self.file(extension))
