"""What the reference does on each input: measured now, or stored from a real Nvidia GPU.

Every input runs at least twice, so that what varies from run to run is known before a candidate is
judged.
"""

from __future__ import annotations

import functools
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import Field

from cass_ray import corpus
from cass_ray.config import StrictModel
from cass_ray.emulator.launches import Launch
from cass_ray.emulator.transcript import MovementKind, Transcript
from cass_ray.execute.answers import prints_results
from cass_ray.execute.backends.base import Backend, BuiltProgram, Execution, Inputs, RunMode
from cass_ray.execute.comparison.compare import F32, compare
from cass_ray.execute.differential import PerturbedRun, perturbed_runs, plan
from cass_ray.execute.evidence.returned_data import varying_share
from cass_ray.execute.evidence.same_draws import new_seed
from cass_ray.execute.limits import UNKNOWN, Needed, out_of_time, several
from cass_ray.execute.said import said
from cass_ray.execute.stored_changes import (
    stored_changes,
)
from cass_ray.printable import last_lines

STORED_FOLDER = Path(corpus.__file__).parent / "shipped" / "reference"
"""JSON files of ``benchmarks/execute/collect_references.py``."""

CHANGES_FOLDER = "changes"
"""Below :data:`STORED_FOLDER`: see :mod:`cass_ray.execute.stored_changes`."""

RUNS = 2
_CHANGES_OF_FURTHER_INPUTS = 2
_FURTHER_DRAWS = 4
"""Runs of a program that draws: a count of few random bits is often the same in two."""

NOTHING_CLEAN: Mapping[Inputs, Execution] = {}

TRANSLATION = "translation"
"""The kind of a reference that is the original translated by the rules: not independent of them."""


@dataclass(frozen=True)
class ReferenceRun:
    """All runs on one input. ``problem`` says why it is no reference; empty if it is one."""

    inputs: Inputs
    outputs: tuple[bytes, ...]
    status: int
    launches: tuple[Launch, ...] | None
    """None where they were not recorded."""
    problem: str = ""
    seconds: float = 0.0
    needed: Needed = UNKNOWN
    """The time that its runs took where ports run, too: on a GPU it says nothing."""
    varied: bool = False
    """Whether the last run had other clocks and another device."""
    perturbed: tuple[PerturbedRun, ...] = ()
    """What the original prints when data is changed on its way."""
    transcripts: tuple[Transcript, ...] = ()
    """What moved between host and device in each run, where that is recorded."""
    same_draws: int = 0
    """The seed of its random numbers, where what it prints or moves was other data in each run: a
    port has to be run likewise. 0: it draws as ever."""
    undisturbed: tuple[bytes, ...] = ()
    """Its output in runs without the seed; empty where :attr:`outputs` are without one."""
    in_another_order: tuple[bytes, ...] = ()
    """The original's output where its waves and workgroups take turns in another order. It is empty
    where that is the same output; else threads may race."""
    with_files: bool = False
    """Whether outputs have the files that it leaves (:func:`~cass_ray.execute.said.said`)."""
    made_up: bool = False
    """Whether the inputs are ours (:mod:`cass_ray.execute.sizes`): the original runs on them in
    checking mode without a report, and nobody asked for evidence on them."""

    @property
    def draws_inputs(self) -> bool:
        """Whether at least half of what it sends to the device is other data in each run."""
        if len(self.transcripts) < 2:
            return False
        one, other = self.transcripts[0].to_device, self.transcripts[-1].to_device
        places = [[(each.key, each.offset, each.size) for each in side] for side in (one, other)]
        if places[0] != places[1]:
            return False
        differing = sum(a.size for a, b in zip(one, other, strict=True) if a.digest != b.digest)
        return 2 * differing >= sum(each.size for each in one) > 0

    @functools.cached_property
    def prints_results(self) -> bool:
        """Whether it prints more than a check of its own says, whose counts are up to the number of
        threads or of words sent (:mod:`cass_ray.execute.answers`)."""
        threads = [math.prod((*each.grid, *each.block)) for each in self.launches or ()]
        sent = sum(each.size for run in self.transcripts[:1] for each in run.to_device)
        most = max([1, *threads, sent // 4])
        return prints_results(self.outputs, self.status, self.perturbed, most)

    @property
    def failed_launches(self) -> list[str]:
        """Kernels all of whose launches were answered with an error, where that is recorded."""
        kernels = {kernel for each in self.transcripts for kernel in each.kernels}
        failed = {kernel for each in self.transcripts for kernel in each.failed}
        return sorted(failed - kernels)

    @property
    def launch_count(self) -> int | None:
        """Launches of all kernels in one run, if known."""
        if self.launches is None:
            return None
        return sum(launch.count for launch in self.launches)


@dataclass(frozen=True)
class ReferenceRuns:
    """Runs by input, where they are from, and whether they were ``stored`` before.

    ``kind`` says in a phrase what they are: ``gpu``, ``stored``, ``lifted sm_90``, ``given``,
    ``translation`` (of the original, by the rules), ``emulator``. ``passed_over`` says of better
    references why they could not be had.
    """

    backend: str
    identity: str
    runs: tuple[ReferenceRun, ...]
    stored: bool = False
    kind: str = "gpu"
    passed_over: tuple[str, ...] = ()

    @property
    def independent(self) -> bool:
        """Whether no translation of ours stands between the original and what it printed."""
        return self.kind != TRANSLATION

    @property
    def has_changes(self) -> bool:
        """Whether a run under changes is there."""
        return any(run.perturbed for run in self.runs)

    @property
    def problem(self) -> str:
        """Why not each run is a reference; empty where there are some, and each is."""
        return next(
            (run.problem for run in self.runs if run.problem), "" if self.runs else "no run"
        )

    @property
    def whole(self) -> bool:
        """Whether there is a run, and each is a reference."""
        return not self.problem


def measure(
    backend: Backend,
    built: BuiltProgram,
    inputs: Sequence[Inputs],
    mode: RunMode | None = None,
    runs: int = RUNS,
    *,
    differential: bool = True,
    clean: Mapping[Inputs, Execution] = NOTHING_CLEAN,
) -> ReferenceRuns:
    """Run the reference on each of ``inputs``.

    ``clean`` has runs in checking mode that it had nothing to say of: one counts as a run without
    it where the program then says the same on another machine.

    Where ``backend`` can change data on its way, the last run has other clocks and another device,
    and with ``differential`` there are runs under changes too: all of them on the first input that
    launches a kernel, few on the others.
    """
    mode = replace(mode or RunMode(), transcript=backend.perturbs and differential)
    measured: list[ReferenceRun] = []
    most: int | None = None
    for each in inputs:
        measured.append(_measure_one(backend, built, each, mode, runs, most, clean.get(each)))
        if measured[-1].launches:
            most = _CHANGES_OF_FURTHER_INPUTS
    return ReferenceRuns(
        backend.name, backend.identity(), tuple(measured), kind=backend.reference_kind
    )


def _measure_one(
    backend: Backend,
    built: BuiltProgram,
    inputs: Inputs,
    mode: RunMode,
    runs: int,
    most: int | None = None,
    clean: Execution | None = None,
) -> ReferenceRun:
    done, varies = _runs(backend, built, inputs, mode, runs, clean)
    undisturbed: tuple[bytes, ...] = ()
    if not _problem(done, mode) and _draws(done):
        elsewhere = replace(mode, varied=True)  # where the time, which may be a seed, is another
        mode = replace(mode, same_draws=new_seed())
        again, same_varies = _runs(backend, built, inputs, mode, runs)
        if _problem(again, mode):
            mode = replace(mode, same_draws=0)
        else:
            further = (backend.run(built, inputs, elsewhere) for _ in range(_FURTHER_DRAWS))
            all_draws = [done[0], *filter(_usable, further), *done[1:]]
            undisturbed = tuple(said(each.ended) for each in all_draws)
            done, varies = again, same_varies
    problem = _problem(done, mode)
    outputs = tuple(said(each.ended) for each in done)
    needed = Needed.most(*(each.ended for each in done))
    reordered: tuple[bytes, ...] = ()
    transcripts = tuple(each.transcript for each in done if each.transcript is not None)
    perturbed: tuple[PerturbedRun, ...] = ()
    if transcripts and not problem:
        perturbed = tuple(
            perturbed_runs(
                backend,
                built,
                inputs,
                mode,
                outputs,
                plan(transcripts[0], needed.alone)[:most],
                needed,
                varies,
            )
        )
        outputs, reordered = _reordered(backend, built, inputs, mode, outputs, needed)
    return ReferenceRun(
        inputs=inputs,
        outputs=outputs,
        status=done[0].ended.status,
        launches=done[0].launches,
        problem=problem,
        seconds=min(each.ended.wall_seconds for each in done),
        needed=UNKNOWN if backend.real_gpu else needed,
        varied=varies and not problem,
        perturbed=perturbed,
        transcripts=transcripts,
        same_draws=mode.same_draws,
        undisturbed=undisturbed,
        in_another_order=reordered,
        with_files=True,
    )


def _reordered(
    backend: Backend,
    built: BuiltProgram,
    inputs: Inputs,
    mode: RunMode,
    outputs: tuple[bytes, ...],
    needed: Needed,
) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
    """``outputs``, and what is printed in another order, where that is something else.

    Then it runs once more in the usual order: what is another number in each run varies there, too.
    """
    mode = replace(mode, bounds=several(mode.bounds, needed))
    other = backend.run(built, inputs, replace(mode, other_schedule=True))
    there = said(other.ended)
    if not _usable(other) or compare(outputs, there, varied=True).numeric:
        return outputs, ()
    again = backend.run(built, inputs, mode)
    first, *others = outputs
    return ((first, said(again.ended), *others) if _usable(again) else outputs), (there,)


def _runs(
    backend: Backend,
    built: BuiltProgram,
    inputs: Inputs,
    mode: RunMode,
    runs: int,
    clean: Execution | None = None,
) -> tuple[list[Execution], bool]:
    """``runs`` runs, fewer where one fails; whether the last was on another machine."""
    done: list[Execution] = []
    varies = backend.perturbs and runs > 1
    if clean is not None and varies and runs == RUNS:
        elsewhere = backend.run(built, inputs, replace(mode, varied=True))
        if _usable(elsewhere) and said(elsewhere.ended) == said(clean.ended):
            return [clean, elsewhere], True
    for number in range(runs):
        varied = varies and number == runs - 1
        done.append(backend.run(built, inputs, replace(mode, varied=varied)))
        if not _usable(done[-1]) and not varied:
            break
    if varies and len(done) == runs and not _usable(done[-1]):
        # It does not end with other clocks: what varies by itself is all that is known.
        done[-1] = backend.run(built, inputs, mode)
        varies = False
    return done, varies


def _problem(done: Sequence[Execution], mode: RunMode) -> str:
    """Why ``done`` are no reference; empty where they are one."""
    last = done[-1]
    if said := out_of_time(last.ended, mode.bounds):
        return f"it is too slow here: {said}; give it a smaller size"
    if not _usable(last):
        message = last_lines(last.ended.stderr.decode("utf-8", "replace"), 300)
        return last.not_provided or f"{last.ended.verdict} (status {last.ended.status}): {message}"
    if any(each.ended.status != done[0].ended.status for each in done):
        return "its exit status varies from run to run"
    return ""


def _draws(done: Sequence[Execution]) -> bool:
    """Whether runs send other data to the device, bring other data back, or print something else
    and bring nothing back."""
    one, other = (each.transcript for each in (done[0], done[-1]))
    if one is None or other is None:
        return False
    if Counter(_sent(one)) != Counter(_sent(other)) or varying_share(one, other, F32):
        return True
    return not one.written and said(done[0].ended) != said(done[-1].ended)


def _sent(transcript: Transcript) -> list[tuple[int, int]]:
    inward = (MovementKind.TO_DEVICE, MovementKind.SHARED_IN)
    return [(each.key, each.digest) for each in transcript.movements if each.kind in inward]


def _usable(execution: Execution) -> bool:
    """A reference ends by itself with status 0, and had all that it asked for."""
    return execution.ended.ok and not execution.not_provided


class _StoredRun(StrictModel):
    arguments: list[str]
    status: int | None
    stdout: str = ""
    stdout_sha256: str
    seconds: float
    launches: list[tuple[str, tuple[int, int, int], tuple[int, int, int], int, int]] = []
    stderr: str = ""
    other_stdout: list[str] = []
    statuses: list[int | None] = []

    def run(self) -> ReferenceRun:
        problem = ""
        if self.status != 0 or self.statuses:
            problem = f"status {self.statuses or self.status}: {last_lines(self.stderr, 300)}"
        return ReferenceRun(
            inputs=Inputs(tuple(self.arguments)),
            outputs=tuple(text.encode() for text in (self.stdout, *self.other_stdout)),
            status=self.status if self.status is not None else -1,
            launches=tuple(
                Launch(kernel, grid, block, shared, count)
                for kernel, grid, block, shared, count in self.launches
            ),
            problem=problem,
            seconds=self.seconds,
        )


class _StoredSide(StrictModel):
    runs: list[_StoredRun] = []
    build_error: str = ""


class _StoredProgram(StrictModel):
    path: str
    id: str
    hip_id: str = ""
    """Names the text of the HIP side; empty in files that are older than this field."""
    nvidia: _StoredSide
    hip_on_nvidia: _StoredSide = Field(alias="hip-on-nvidia")

    def hip_runs(self) -> Iterator[ReferenceRun]:
        """The file leaves out what is the same as on the CUDA side."""
        for ours, theirs in zip(self.hip_on_nvidia.runs, self.nvidia.runs, strict=True):
            same = ours.stdout_sha256 == theirs.stdout_sha256
            update = {"stdout": theirs.stdout} if same else {}
            yield ours.model_copy(update=update).run()


class StoredReferences(StrictModel):
    """One file of references: the machine, how it was made, and every program's runs."""

    format: int
    device: str
    driver: str
    memory: str
    cuda: str
    host_compiler: str
    translator: str
    collected: str
    command: str
    build: dict[str, str]
    runs_each: int
    programs: list[_StoredProgram]

    @property
    def identity(self) -> str:
        """Device, driver, compiler and date."""
        return f"{self.device}, driver {self.driver}, {self.cuda}, stored {self.collected}"

    def ports(self) -> dict[str, ReferenceRuns]:
        """The HIP side on the same GPU, by the id of its text where that is stored."""
        return {
            program.hip_id: ReferenceRuns(
                backend="hip-on-nvidia",
                identity=self.identity,
                runs=tuple(program.hip_runs()),
                stored=True,
                kind="stored",
            )
            for program in self.programs
            if program.hip_id and program.hip_on_nvidia.runs
        }

    def by_id(self) -> dict[str, ReferenceRuns]:
        """The CUDA side of every program that built, by the program's id."""
        return {
            program.id: ReferenceRuns(
                backend="nvidia",
                identity=self.identity,
                runs=tuple(run.run() for run in program.nvidia.runs),
                stored=True,
                kind="stored",
            )
            for program in self.programs
            if program.nvidia.runs
        }


def read_references(path: Path) -> StoredReferences:
    """Read one file. Raises ``pydantic.ValidationError`` naming a bad entry."""
    return StoredReferences.model_validate(json.loads(path.read_text(encoding="utf-8")))


@functools.cache
def stored_references(folder: Path = STORED_FOLDER) -> Mapping[str, ReferenceRuns]:
    """The references of every file in ``folder`` by program id; later files win."""
    references: dict[str, ReferenceRuns] = {}
    for path in sorted(folder.glob("*.json")):
        references.update(read_references(path).by_id())
    return {name: _with_stored_changes(name, each, folder) for name, each in references.items()}


def _with_stored_changes(program: str, reference: ReferenceRuns, folder: Path) -> ReferenceRuns:
    changes = stored_changes(folder / CHANGES_FOLDER)
    runs = [
        replace(run, **vars(changes[program, run.inputs.arguments]))
        if (program, run.inputs.arguments) in changes
        else run
        for run in reference.runs
    ]
    return replace(reference, runs=tuple(runs))


@functools.cache
def stored_ports(folder: Path) -> Mapping[str, ReferenceRuns]:
    """The HIP sides in ``folder`` by the id of their text; later files win."""
    ports: dict[str, ReferenceRuns] = {}
    for path in sorted(folder.glob("*.json")):
        ports.update(read_references(path).ports())
    return ports
