"""An original and its port under the same changes: do they go on agreeing with each other?

Inputs are changed on their way to the device, results on their way back, and device memory between
launches (:mod:`cass_ray.emulator.perturbation`). What the original then prints, its port has to
print. A program that computes its answer elsewhere, or repairs what it recognizes, does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from cass_ray.emulator.perturbation import Perturbation, Where
from cass_ray.emulator.transcript import Transcript
from cass_ray.execute.backends.base import Backend, BuiltProgram, Inputs, RunMode
from cass_ray.execute.comparison.compare import compare
from cass_ray.execute.limits import UNKNOWN, Needed, several
from cass_ray.execute.said import said
from cass_ray.toolchain.sandbox.executable import SandboxRun, SandboxVerdict

_QUICK_SECONDS = 1.0
_SLOW_SECONDS = 10.0
_FEW = 4
_FEWEST = 2
"""How many changes are made of a program that takes more than the seconds above."""
NUMBER = re.compile(rb"[-+]?\d[\d.]*(?:[eE][-+]?\d+)?")
_ENDED = (SandboxVerdict.OK, SandboxVerdict.EXIT)


@dataclass(frozen=True)
class PerturbedRun:
    """What the original prints under one change; ``moved`` says that it is something else than
    without. ``outputs`` are of a run and, where that may print something else, of one with other
    clocks and another device, and took the time that was ``needed``; the last of them has other
    numbers where they vary without the change, too."""

    perturbation: Perturbation
    outputs: tuple[bytes, ...]
    status: int
    moved: bool
    needed: Needed = UNKNOWN


class Agreement(StrEnum):
    """How a port stands to its original under one change."""

    AGREES = "agrees"
    UNMOVED = "unmoved"
    """It prints what it prints without the change; the original does not."""
    DIFFERS = "differs"


def plan(transcript: Transcript, seconds: float) -> list[Perturbation]:
    """The changes that mean something for a program with this transcript, the telling ones first.

    ``seconds`` is how long it runs: fewer are made of programs that take long.
    """
    if not transcript.kernels:
        return []
    receives = transcript.receives
    launches = len(transcript.kernels)
    changes = [Perturbation(Where.OUT, 1)]
    changes += [Perturbation(Where.IN, 1)] if receives else []
    changes += [Perturbation(Where.BETWEEN, 1, launches - 1)] if launches > 1 else []
    changes.append(Perturbation(Where.OUT_ALL))
    changes += [Perturbation(Where.IN_ALL)] if receives else []
    changes.append(Perturbation(Where.OUT_WIDE))
    changes += [Perturbation(Where.IN, 2)] if receives else []
    changes += [Perturbation(Where.BETWEEN, 2, launches // 2)] if launches > 2 else []
    changes += [Perturbation(Where.IN, 3)] if receives else []
    if seconds > _SLOW_SECONDS:
        return changes[:_FEWEST]
    return changes[:_FEW] if seconds > _QUICK_SECONDS else changes


def perturbed_runs(
    backend: Backend,
    built: BuiltProgram,
    inputs: Inputs,
    mode: RunMode,
    normal: Sequence[bytes],
    changes: Sequence[Perturbation],
    needed: Needed,
    elsewhere: bool,
) -> Iterator[PerturbedRun]:
    """Runs of an original under each of ``changes``; those that crash or hang tell nothing.

    ``normal`` are its outputs without changes, for which it ``needed`` so long; ``elsewhere`` says
    that one of them is of another machine.
    """
    for perturbation in changes:
        changed = _changed(mode, perturbation, needed)
        done = [backend.run(built, inputs, changed)]
        if not elsewhere or _may_vary(normal, said(done[0].ended)):
            done.append(backend.run(built, inputs, replace(changed, varied=True)))
        first, last = done[0].ended, done[-1].ended
        if not all(_ended(each.ended) and not each.not_provided for each in done):
            continue
        if first.status != last.status:
            continue
        moved = first.status != 0 or not compare(normal, said(first), varied=True).numeric
        outputs = said(first), said(last), *_as_varied(normal, said(first))
        took = Needed.most(first, last)
        yield PerturbedRun(perturbation, outputs, first.status, moved, took)


def _may_vary(normal: Sequence[bytes], changed: bytes) -> bool:
    """Whether another machine may have a part in ``changed``: none does where the runs without
    changes are all the same, of which one was there, and numbers alone are other ones now."""
    return len({*normal}) > 1 or _words(normal[0]) != _words(changed)


def _as_varied(normal: Sequence[bytes], changed: bytes) -> list[bytes]:
    """``changed`` with other numbers where those of ``normal`` vary, if anywhere: a time that by
    chance is the same in both runs under a change is no result. Words may be other ones (FAILED),
    if each line has as many numbers."""
    if len({*normal}) == 1 or any(_counts(each) != _counts(changed) for each in normal):
        return []
    columns = zip(*map(NUMBER.findall, normal), strict=True)

    def other(match: re.Match[bytes]) -> bytes:
        first, *further = sorted({*next(columns)})
        return match[0] if not further else further[0] if match[0] == first else first

    return [NUMBER.sub(other, changed)]


def _counts(output: bytes) -> list[int]:
    return [len(NUMBER.findall(line)) for line in output.splitlines()]


def _words(output: bytes) -> list[bytes]:
    return NUMBER.sub(b"", output).split()


def agreement(
    run: PerturbedRun,
    backend: Backend,
    candidate: BuiltProgram,
    inputs: Inputs,
    mode: RunMode,
    normal: SandboxRun,
    needed: Needed,
    how: dict[str, object],
) -> tuple[Agreement, str]:
    """Run ``candidate`` under the change of ``run``; how it stands, and the difference.

    ``normal`` is its run without the change, ``needed`` what the original took for that; ``how``
    are the options of :func:`~cass_ray.execute.comparison.compare.compare`.
    """
    most = Needed.most(needed, normal, run.needed)
    ended = backend.run(candidate, inputs, _changed(mode, run.perturbation, most)).ended
    compared = compare(run.outputs, said(ended), varied=True, **how)  # type: ignore[arg-type]
    if _ended(ended) and ended.status == run.status and compared.numeric:
        return Agreement.AGREES, ""
    same = compare((said(normal),), said(ended), **how)  # type: ignore[arg-type]
    if _ended(ended) and ended.status == normal.status and same.numeric:
        # Neither was moved: what agreed without the change still does.
        return (Agreement.UNMOVED if run.moved else Agreement.AGREES), ""
    if not _ended(ended) or ended.status != run.status:
        return Agreement.DIFFERS, f"{ended.verdict} (status {ended.status}, not {run.status})"
    return Agreement.DIFFERS, compared.difference


def _changed(mode: RunMode, perturbation: Perturbation, needed: Needed) -> RunMode:
    bounds = several(mode.bounds, needed)
    return replace(mode, bounds=bounds, perturb=perturbation, counters=False)


def _ended(run: SandboxRun) -> bool:
    """By itself, with whatever status."""
    return run.verdict in _ENDED
