"""A project as it is: built by nvcc, its kernels lifted, its tests run on this machine's CPU.

No translator of source has a part in it, as in :mod:`cass_ray.execute.backends.lifted`. What it
cannot do (a library of Nvidia's, a kernel that is not lifted, a build that needs something else)
makes no reference and is said.
"""

from __future__ import annotations

import shlex
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import ValidationError

import cass_ray.lift as lift
from cass_ray.cache import digest
from cass_ray.emulator.build import BuildFailed
from cass_ray.emulator.execution import environment
from cass_ray.execute.backends.base import RunMode
from cass_ray.execute.backends.rdna3 import presented
from cass_ray.lift.errors import LiftError
from cass_ray.port.errors import PortError
from cass_ray.port.executable import DRIVER_LIBRARY, Executable, read_executable
from cass_ray.port.lifting import ContainerLifter, write_fat_binaries
from cass_ray.port.shim import shim_library
from cass_ray.project.build_system import BuildPlan
from cass_ray.project.cmake import VARIABLES, newer_cmake
from cass_ray.project.missing import cuda_libraries, what_is_missing
from cass_ray.project.reference.comparing import NO_REFERENCE, OriginalRuns
from cass_ray.project.reference.recording import (
    BuiltFile,
    ProgramRun,
    built_files,
    gpu_programs,
    launcher,
    put_back,
    read_runs,
    watched,
)
from cass_ray.project.reference.toolkit import Toolkit, ToolkitError, write_toolkit
from cass_ray.project.steps import (
    DeviceStep,
    Step,
    StepOutcome,
    first_error,
    limits_of,
    run_on_device,
    run_step,
)
from cass_ray.temporary import temporary_prefix
from cass_ray.toolchain.amd.toolchain import DEFAULT_ARCHITECTURE, AmdToolchain
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_nvidia
from cass_ray.toolchain.nvidia.steps import NvccError
from cass_ray.toolchain.sandbox.isolation import View
from cass_ray.toolchain.sandbox.process import CLEAN_ENVIRONMENT
from cass_ray.translate.project.tree import source_files

ARCHITECTURE = "sm_90"
"""The newest that the lifter reads."""

KIND = f"lifted {ARCHITECTURE}"
PASSES = 2
"""How often the tests run: what differs from one time to the next is no reference."""

PROGRAM_SECONDS = 120
"""For each program that is started without arguments, where no test is known."""

_MEMORY_BYTES = 12 << 30
_LOG_LINES = 3
_MISSING_TOOL = ": command not found"
"""What a shell says; the project is not to blame."""
_FORM = "2"
"""Of what is kept: part of its key."""


@dataclass(frozen=True)
class OriginalProject:
    """How the project ``source`` is built and tested: in ``tree``, a copy of it, by ``plan``."""

    source: Path
    tree: Path
    plan: BuildPlan
    work: Path
    amd: AmdToolchain
    runtime: Path
    seconds: float
    also_visible: tuple[Path, ...] = ()
    tools: tuple[Path, ...] = ()
    """Folders of programs that come before the system's."""
    card: str = DEFAULT_ARCHITECTURE
    """The processor whose name and sizes the programs find."""
    called: str = "original"
    """Its name in what is said while it is built."""


def what_runs(test: str, programs: Sequence[str]) -> tuple[str, str]:
    """The command that runs ``programs``, and what to call it: ``test`` where there is one, else
    each of them in its own folder, without arguments."""
    if test:
        return test, test
    lines = []
    for name in programs:
        folder, program = shlex.quote(str(Path(name).parent)), shlex.quote(f"./{Path(name).name}")
        started = f"timeout -s KILL {PROGRAM_SECONDS} {program} < /dev/null"
        lines.append(f"(cd {folder} && {started})")
    return "; ".join([*lines, "true"]), f"programs without arguments ({len(programs)})"


def runs_of_original(original: OriginalProject, say: Callable[[str], None]) -> OriginalRuns:
    """The runs of ``original``'s programs; those of the last time if nothing has changed."""
    try:
        toolkit = write_toolkit(original.work / "cuda", find_nvidia(), ARCHITECTURE)
        kept = original.work / f"runs-{original.card}.json"
        key = _key(original, toolkit)
        if (known := _read(kept, key)) is not None:
            return known
        made = _Session(original, toolkit, say).runs()
    except (ToolMissing, NvccError, ToolkitError, BuildFailed) as error:
        return no_reference(str(error).partition("\n")[0], unbuilt=True)
    if _MISSING_TOOL in made.problem:
        return made  # whoever installs it tries again
    part = kept.with_suffix(".part")
    part.write_text(f"{key}\n{made.model_dump_json()}\n", "utf-8")
    part.replace(kept)
    return made


def build_by_nvcc(original: OriginalProject, say: Callable[[str], None]) -> Step:
    """The build of ``original`` alone; one that was skipped says in its log what is missing."""
    try:
        toolkit = write_toolkit(original.work / "cuda", find_nvidia(), ARCHITECTURE)
        return _Session(original, toolkit, say).build()
    except (ToolMissing, NvccError, ToolkitError, BuildFailed) as error:
        return Step(original.plan.build, StepOutcome.SKIPPED, log=str(error).partition("\n")[0])


def no_reference(problem: str, *, unbuilt: bool = False) -> OriginalRuns:
    """No runs, and why."""
    return OriginalRuns(kind=NO_REFERENCE, problem=problem, unbuilt=unbuilt)


class _Session:
    """One build of the original and its tests."""

    def __init__(
        self, original: OriginalProject, toolkit: Toolkit, say: Callable[[str], None]
    ) -> None:
        self._original = original
        self._toolkit = toolkit
        self._say = say
        self._limits = limits_of(original.seconds, _MEMORY_BYTES)
        devices = (presented(DEFAULT_ARCHITECTURE, RunMode(), original.card),)
        variables = {**CLEAN_ENVIRONMENT, **environment(devices, None), **VARIABLES}
        cmake = newer_cmake(original.source, for_nvcc=True)
        tools = (cmake, *original.tools) if cmake else original.tools
        path = ":".join([*map(str, tools), variables["PATH"]])
        self._variables = {**variables, **toolkit.variables(path)}
        self._view = View(
            read_only=(
                *toolkit.visible(),
                *original.also_visible,
                *((cmake.parents[1],) if cmake else ()),
            ),
            writable=(original.tree,),
            process_filesystem=True,
            refuses_sockets=True,
        )

    def build(self) -> Step:
        tree, command, called = (
            self._original.tree,
            self._original.plan.build,
            self._original.called,
        )
        put_back(tree, launcher())
        self._say(f"{called}: {command}")
        view = replace(self._view, device_access=True)
        build = run_step(command, tree, self._limits, view, self._variables)
        self._say(f"{called}: build {build.outcome.value}, {build.seconds:.0f} s")
        return build

    def runs(self) -> OriginalRuns:
        tree, build = self._original.tree, self.build()
        if not build.passed:
            said = f"the original does not build with nvcc: {_said(build)}"
            return no_reference(said + _to_do(build.log), unbuilt=True)
        files = built_files(tree)
        programs = gpu_programs(files)
        if not programs:
            return no_reference("the original's build makes no program that uses the GPU")
        return self._tested(files, programs)

    def _tested(self, files: Sequence[BuiltFile], programs: Sequence[str]) -> OriginalRuns:
        executables, problems = self._executables(files)
        lifted = self._original.work / "lifted"
        capability = self._lift(executables, lifted, problems)
        if not capability:
            reasons = dict.fromkeys(problems.values())
            return no_reference("; ".join(reasons) or "the original has no kernel")
        runtime = next(iter(executables.values())).runtime
        assert runtime is not None  # what nvcc registers, it registers with the runtime
        shim = shim_library(runtime, self._original.runtime)
        seen = (shim.parent, self._original.runtime.resolve().parent, lifted)
        view = replace(self._view, read_only=(*self._view.read_only, *seen))
        variables = {
            **self._variables,
            "LD_LIBRARY_PATH": str(shim.parent),
            "CASS_PORT_DIRECTORY": str(lifted),
            "CASS_PORT_CAPABILITY": str(capability),
        }
        card = self._original.card
        command, called = what_runs(self._original.plan.test, programs)
        passes = []
        for number in range(PASSES):
            self._say(f"original: {called} (lifted, {number + 1} of {PASSES})")
            with recording(self._original.tree, programs) as record:
                done = self._test(command, view, variables, record)
                runs = read_runs(record, self._original.tree)
            self._say(
                f"original: run {done.step.outcome.value}, {done.step.seconds:.0f} s,"
                f" its programs ran {len(runs)} time(s)"
            )
            if not done.launches:
                return no_reference(_without_launch(runs, problems, done.step))
            passes.append(runs)
        return OriginalRuns(
            kind=KIND,
            identity=(
                f"machine code for {ARCHITECTURE} of CUDA {self._toolkit.toolchain.version},"
                f" lifted to {DEFAULT_ARCHITECTURE} and executed by the CPU backend"
                + (f", with the properties of {card}" if card != DEFAULT_ARCHITECTURE else "")
            ),
            tests=done.step.outcome.value if self._original.plan.test else "none known",
            launches=done.launches,
            passes=tuple(passes),
            lacking=problems,
        )

    def _test(
        self, command: str, view: View, variables: Mapping[str, str], record: Path
    ) -> DeviceStep:
        original = self._original
        return run_on_device(
            command, original.tree, self._limits, view, variables, original.runtime, record
        )

    def _executables(
        self, files: Sequence[BuiltFile]
    ) -> tuple[dict[str, Executable], dict[str, str]]:
        """Files with device code by their paths, and what is in the way of running them."""
        found: dict[str, Executable] = {}
        problems: dict[str, str] = {}
        for file in files:
            path = self._original.tree / file.path
            if b"nv_fatbin" not in path.read_bytes():
                continue
            try:
                found[file.path] = read_executable(path)
            except PortError as error:
                problems[file.path] = str(error).replace(f"{self._original.tree}/", "")
                continue
            driver = [DRIVER_LIBRARY.decode()] if found[file.path].loads_code else []
            if names := ", ".join([*found[file.path].libraries, *driver]):
                problems[file.path] = f"it needs {names}, which lifted programs do not have"
        return found, problems

    def _lift(
        self, executables: Mapping[str, Executable], folder: Path, problems: dict[str, str]
    ) -> int:
        """Write the lifted code of all to ``folder``; returns its compute capability, 0: none."""
        lifter = ContainerLifter(self._toolkit.toolchain, self._original.amd)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        capability = 0
        for name, executable in executables.items():
            self._say(f"original: lifting {name}")
            for container in executable.containers:
                try:
                    made = lifter.lift(container)
                except (PortError, LiftError) as error:
                    problems.setdefault(name, str(error))
                    continue
                for kernel, reason in made.failures.items():
                    problems.setdefault(name, f"{kernel} is not lifted: {reason}")
                if made.fat_binary:
                    capability = max(capability, made.capability)
                write_fat_binaries([made], folder)
        return capability


@contextmanager
def recording(tree: Path, programs: Sequence[str]) -> Iterator[Path]:
    """The folder to which the runs of ``programs`` below ``tree`` are written."""
    with tempfile.TemporaryDirectory(prefix=temporary_prefix("record")) as name:
        record = Path(name).resolve()
        with watched(tree, programs, launcher()):
            yield record


def _without_launch(runs: Sequence[ProgramRun], problems: Mapping[str, str], step: Step) -> str:
    refused = dict.fromkeys(run.refused for run in runs if run.refused)
    reasons = [*refused, *dict.fromkeys(problems.values())]
    if not reasons and not step.passed:
        reasons = [_said(step)]
    because = f": {'; '.join(reasons)}" if reasons else ""
    return f"no kernel of the original ran, lifted{because}"


def _to_do(log: str) -> str:
    """Say what a person can do about the original's failed build; empty where nothing is known."""
    if not (names := ", ".join(cuda_libraries(log))):
        return "".join(f"; {each}" for each in what_is_missing(log))
    return (
        f"; it links {names}, which lifted programs do not have: installing it does not help."
        " Compare what does without, file by file: cass verify FILE.cu PORT.hip"
    )


def _said(step: Step) -> str:
    """A failed step's log from its first line that names an error, else its last lines."""
    return " / ".join(first_error(step.log, _LOG_LINES))[:600] or step.outcome.value


def _key(original: OriginalProject, toolkit: Toolkit) -> str:
    """Digest of all that the runs depend on."""
    plan, tree = original.plan, str(original.tree)
    parts: list[str | bytes] = [_FORM, plan.build, plan.test, tree, str(original.runtime.resolve())]
    parts += [toolkit.toolchain.fingerprint, original.amd.fingerprint, lift.fingerprint()]
    parts += [str(original.seconds), launcher().parent.name, original.card]
    parts.append(str(newer_cmake(original.source, for_nvcc=True)))
    for root in (original.source, *original.also_visible):
        for path in source_files(root):
            parts += [path.relative_to(root).as_posix(), path.read_bytes()]
    return digest(parts)


def _read(kept: Path, key: str) -> OriginalRuns | None:
    try:
        known, _, text = kept.read_text("utf-8").partition("\n")
        return OriginalRuns.model_validate_json(text) if known == key else None
    except (OSError, UnicodeError, ValidationError):
        return None
