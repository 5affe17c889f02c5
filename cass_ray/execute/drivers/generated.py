"""Inputs for programs that take none: their kernels, launched with generated arguments.

The same driver stands on both sides (:mod:`cass_ray.execute.drivers.driver`). What it makes up may
be nothing that a kernel was written for, and then what the kernel does means nothing. So blocks are
as large as the program's own launches have them, and a launch counts only if the original runs on
it in checking mode without a race, an access out of bounds or a read of what nobody wrote.

What C++ leaves undefined is no fault of memory, and the vendors' machines differ in it: a shift by
1024 gives 0 on one and shifts by 0 on the other. So a launch on which the original and its
translation by the rules differ is disputed: it is told, and decides nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from cass_ray.corpus.reading.source_files import Sources
from cass_ray.emulator.launches import Launch
from cass_ray.execute.backends.base import Backend, Execution, Inputs, Language, RunMode
from cass_ray.execute.chance import is_clean
from cass_ray.execute.comparison.tolerances import tolerance_for
from cass_ray.execute.drivers.driver import DrivenKernel, with_driver
from cass_ray.execute.drivers.pairs import common_kernels, driven
from cass_ray.execute.programs import has_main
from cass_ray.execute.references import ReferenceRuns, measure
from cass_ray.execute.targets import as_hip, build_for
from cass_ray.execute.verify import Policy, verify
from cass_ray.toolchain.sandbox.executable import Bounds

_SIZES = (("1024", "1", "0"), ("1000", "2", "10"), ("300", "5", "210"))
"""Elements and seeds: a multiple of all blocks, one of none, few. Behind them which numbers of the
program are among the contents, as the driver says: the first that the original can be run on."""
_KERNELS = 4
"""More of a program are not launched."""
_KERNEL_ARGUMENT = 4
"""Where the arguments of a run have the kernel's number."""
_THREADS = 256
_EDGE = 16
_BOUNDS = Bounds(wall_seconds=10.0)
"""A kernel that takes longer on made up numbers, or does not end, is left out."""


@dataclass(frozen=True)
class GeneratedRuns:
    """Kernels of a program, and what the original does with those launches that count."""

    kernels: tuple[DrivenKernel, ...]
    reference: ReferenceRuns
    disputed: tuple[str, ...] = ()
    """Kernels with launches on which the rules' translation does something else."""

    def driven(self, port: Sources) -> Sources:
        """``port``, which is HIP, launching the kernels instead of what it does."""
        return with_driver(port, self.kernels, Language.HIP)

    def kernel(self, arguments: Sequence[str]) -> str:
        """Which kernel a run with ``arguments`` launches."""
        return self.kernels[int(arguments[_KERNEL_ARGUMENT])].name


def drivable(original: Sources, port: Sources) -> list[DrivenKernel]:
    """The kernels of both that are launched: none where ``main`` is not in the main file."""
    mains = [side.files[str(side.main)].decode("utf-8", "replace") for side in (original, port)]
    if not all(has_main([text]) for text in mains):
        return []
    return common_kernels(original, port)[:_KERNELS]


def generated_runs(
    original: Sources,
    kernels: Sequence[DrivenKernel],
    launches: Iterable[Launch],
    backend: Backend,
) -> GeneratedRuns:
    """Launch ``kernels`` of ``original`` on ``backend``, shaped as its own ``launches`` are.

    Raises :class:`~cass_ray.toolchain.unit.CompileFailure`, as where a macro of the program's makes
    something else of the driver.
    """
    built = build_for(backend, driven(original, kernels))
    clean: dict[Inputs, Execution] = {}
    for each in _inputs(kernels, list(launches)):
        for tried in each:
            done = backend.run(built, tried, RunMode(_BOUNDS, check=True))
            if is_clean(done):
                clean[tried] = done
                break
    mode = RunMode(_BOUNDS)
    runs = measure(backend, built, list(clean), mode, differential=False, clean=clean)
    usable = tuple(run for run in runs.runs if not run.problem)
    return GeneratedRuns(tuple(kernels), replace(runs, runs=usable))


def undisputed(runs: GeneratedRuns, original: Sources, second: Backend) -> GeneratedRuns:
    """Return ``runs`` without the launches on which ``original``, translated by the rules, does
    something else on ``second``; all of them where it is ``second`` that they ran on.

    Raises :class:`~cass_ray.toolchain.unit.CompileFailure`.
    """
    usable = runs.reference.runs
    if second.name == runs.reference.backend or not usable:
        return runs
    translated = second.build(runs.driven(as_hip(original)))
    policy = Policy(
        tolerance_for(text.decode("utf-8", "replace") for text in original.files.values()),
        _BOUNDS,
        counterfactual=False,
    )
    judged = verify(runs.reference, translated, second, policy).runs
    pairs = list(zip(usable, judged, strict=True))
    agreed = tuple(run for run, record in pairs if record.numeric)
    names = [runs.kernel(run.inputs.arguments) for run, record in pairs if not record.numeric]
    kept = replace(runs.reference, runs=agreed)
    return replace(runs, reference=kept, disputed=tuple(dict.fromkeys(names)))


def _inputs(kernels: Sequence[DrivenKernel], launches: Sequence[Launch]) -> Iterator[list[Inputs]]:
    """For each launch what to try, the best first."""
    for number, kernel in enumerate(kernels):
        blocks = [launch.block for launch in launches if _is_of(launch, kernel)]
        width, height, depth = max(blocks, key=math.prod, default=(_THREADS, 1, 1))
        if depth > 1:
            continue
        if kernel.two_dimensional and not blocks:
            width = height = _EDGE
        shape = (str(number), str(width), str(height))
        for elements, seed, edges in _SIZES:
            begins = (elements, str(width * height), "0", seed, *shape)
            yield [Inputs((*begins, each)) for each in edges]


def _is_of(launch: Launch, kernel: DrivenKernel) -> bool:
    """By its name; a mangled one has its length in front (Itanium C++ ABI, 5.1)."""
    return launch.kernel == kernel.name or f"{len(kernel.name)}{kernel.name}" in launch.kernel
