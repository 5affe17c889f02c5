"""Is the candidate as fast and as small as the reference?

On a real GPU both executables run in turns (A B B A …), so that drift of clocks and of other load
falls on both alike; medians are compared, with a bootstrap interval of their ratio. Time is taken
outside the process and includes its start, which both have. On the CPU backend time says nothing
about a GPU: there the counters of the engine are compared, and labelled as counters.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace

from cass_ray.config import StrictModel
from cass_ray.execute.backends.base import Backend, BuiltProgram, Execution, Inputs, RunMode
from cass_ray.execute.evidence.counters import KernelCounters, coverage_of
from cass_ray.toolchain.sandbox.executable import Bounds

RUNS = 20
WARM_UP = 2

_RESAMPLES = 2000
_COVERAGE = 0.95


class Ratio(StrictModel):
    """Candidate over reference: 1.1 is 10% more. ``low`` and ``high`` bound it with 95%."""

    reference: float
    candidate: float
    ratio: float
    low: float
    high: float

    @property
    def differs(self) -> bool:
        """Whether the interval leaves no room for equality."""
        return self.low > 1.0 or self.high < 1.0


class Parity(StrictModel):
    """Wall time (seconds) and peak memory (bytes) measured, or dynamic counts by counter."""

    backend: str
    runs: int
    seconds: Ratio | None = None
    peak_memory_bytes: Ratio | None = None
    counters: dict[str, Ratio] = {}


class ParityError(RuntimeError):
    """One of the programs does not end well; the message says which and how."""


def measure_parity(
    backend: Backend,
    reference: BuiltProgram,
    candidate: BuiltProgram,
    inputs: Inputs | None = None,
    *,
    reference_backend: Backend | None = None,
    runs: int = RUNS,
    bounds: Bounds | None = None,
) -> Parity:
    """Compare ``candidate`` with ``reference`` on one input.

    ``reference_backend`` is where the reference runs, if elsewhere. Raises :class:`ParityError`,
    and :class:`ValueError` for fewer than two runs.
    """
    if runs < 2:
        raise ValueError("an interval needs at least two runs")
    inputs = inputs or Inputs()
    plain = RunMode(bounds or Bounds())
    other = reference_backend or backend

    def run_reference(mode: RunMode) -> Execution:
        return _checked("reference", other.run(reference, inputs, mode))

    def run_candidate(mode: RunMode) -> Execution:
        return _checked("candidate", backend.run(candidate, inputs, mode))

    if not (backend.real_gpu and other.real_gpu):
        mode = replace(plain, counters=True)
        counts = _counter_ratios(run_reference(mode), run_candidate(mode))
        return Parity(backend=backend.identity(), runs=1, counters=counts)
    before, after = _interleaved(run_reference, run_candidate, runs, plain)
    generator = random.Random(0)
    return Parity(
        backend=backend.identity(),
        runs=runs,
        seconds=ratio_of_medians(
            [each.ended.wall_seconds for each in before],
            [each.ended.wall_seconds for each in after],
            generator,
        ),
        peak_memory_bytes=ratio_of_medians(
            [float(each.ended.peak_memory_bytes) for each in before],
            [float(each.ended.peak_memory_bytes) for each in after],
            generator,
        ),
    )


def ratio_of_medians(
    reference: Sequence[float], candidate: Sequence[float], generator: random.Random
) -> Ratio:
    """The ratio of the medians with its percentile bootstrap interval.

    Raises :class:`ValueError` where a median of the reference is not positive.
    """
    base, other = statistics.median(reference), statistics.median(candidate)
    if base <= 0:
        raise ValueError("the reference's median is not positive")
    ratios = sorted(
        statistics.median(generator.choices(candidate, k=len(candidate)))
        / max(statistics.median(generator.choices(reference, k=len(reference))), 1e-12)
        for _ in range(_RESAMPLES)
    )
    tail = (1 - _COVERAGE) / 2
    return Ratio(
        reference=base,
        candidate=other,
        ratio=other / base,
        low=ratios[int(tail * _RESAMPLES)],
        high=ratios[int((1 - tail) * _RESAMPLES) - 1],
    )


def _interleaved(
    one: Callable[[RunMode], Execution],
    other: Callable[[RunMode], Execution],
    runs: int,
    mode: RunMode,
) -> tuple[list[Execution], list[Execution]]:
    """Results of ``runs`` runs of each after warming up, in the order A B B A A B …"""
    for _ in range(WARM_UP):
        one(mode)
        other(mode)
    ones: list[Execution] = []
    others: list[Execution] = []
    for number in range(runs):
        pair = [(one, ones), (other, others)]
        for execute, results in pair if number % 2 == 0 else reversed(pair):
            results.append(execute(mode))
    return ones, others


def _counter_ratios(reference: Execution, candidate: Execution) -> dict[str, Ratio]:
    """Sums over all kernels; counters are exact, so the interval is the ratio itself."""
    one, other = (_sums(each) for each in (reference, candidate))
    return {
        name: Ratio(
            reference=one[name],
            candidate=other[name],
            ratio=other[name] / one[name],
            low=other[name] / one[name],
            high=other[name] / one[name],
        )
        for name in one
        if one[name] > 0
    }


def _sums(execution: Execution) -> dict[str, float]:
    kernels = coverage_of([execution.counters]).kernels.values()
    names = [name for name in KernelCounters.model_fields if name not in {"reached", "size"}]
    return {name: float(sum(getattr(kernel, name) for kernel in kernels)) for name in names}


def _checked(name: str, execution: Execution) -> Execution:
    if execution.ended.ok:
        return execution
    message = execution.ended.stderr.decode("utf-8", "replace").strip()[-300:]
    raise ParityError(f"the {name} ended with {execution.ended.verdict}: {message}")
