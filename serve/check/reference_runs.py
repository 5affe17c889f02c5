"""With what a translation's output is compared: the best source that there is for each input."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from cass_ray.corpus.parsing.normalize import program_id, source_digest
from cass_ray.execute.backends.base import Inputs
from cass_ray.execute.references import ReferenceRun, ReferenceRuns, stored_references
from serve.check.given_runs import GivenRun

GIVEN = "the output that the request expects"


@dataclass(frozen=True)
class ComparedInputs:
    """Inputs with something to compare with, and those without."""

    reference: ReferenceRuns | None
    alone: tuple[Inputs, ...]


@dataclass(frozen=True)
class OriginalRunner:
    """How the original program can be run, if at all; ``on_gpu`` where it was written for.

    ``measure`` gives None where nothing here can stand in for the original.
    """

    on_gpu: bool
    measure: Callable[[Sequence[Inputs]], ReferenceRuns | None]


def stored_runs(source: str) -> ReferenceRuns | None:
    """What an Nvidia GPU printed for this very program, if it is a shipped one."""
    return stored_references().get(program_id(source_digest(source), ()))


def with_references(
    source: str, wanted: Sequence[GivenRun], original: OriginalRunner
) -> ComparedInputs:
    """A reference run for each input of ``wanted``, in this order of preference: the output that
    the client expects, the original program on its GPU, a stored run of that, a stand-in for it.
    """
    stored = None if original.on_gpu else stored_runs(source)
    if not wanted and stored is not None:
        return ComparedInputs(stored, ())
    given: list[ReferenceRun] = []
    asked: list[Inputs] = []
    for each in wanted or [GivenRun(Inputs())]:
        if each.expected is None:
            asked.append(each.inputs)
        else:
            given.append(ReferenceRun(each.inputs, (each.expected,), 0, None))
    kept = {run.inputs: run for run in stored.runs} if stored is not None else {}
    earlier = [kept[inputs] for inputs in asked if inputs in kept]
    missing = [inputs for inputs in asked if inputs not in kept]
    best = ReferenceRuns("given", GIVEN, (), kind="given")
    if stored is not None and earlier:
        best = stored
    if missing and (measured := original.measure(missing)) is not None:
        best, missing, earlier = measured, [], [*earlier, *measured.runs]
    runs = (*given, *earlier)
    return ComparedInputs(replace(best, runs=runs) if runs else None, tuple(missing))
