"""Which of what an original prints and moves are other numbers in each run, and show nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cass_ray.emulator.perturbation import Where
from cass_ray.execute.backends.base import Execution
from cass_ray.execute.comparison.compare import OutputComparison, Tolerance, compare
from cass_ray.execute.differential import NUMBER, PerturbedRun
from cass_ray.execute.evidence.returned_data import varying_share
from cass_ray.execute.references import ReferenceRun

UNORDERED_WRITES = b"cass emulator: unordered writes"
"""How a warning of checking mode begins: what is found there is decided by chance."""
RACE = re.compile(r"data race: (?:read of|.*that another wave has read)")
"""Matches races of a read and a write, whose order decides what is read. Two writes may be of one
value."""
WARNING = UNORDERED_WRITES.decode()

_OF_DEVICE_TEXT = (Where.OUT, Where.OUT_ALL)
"""Changes that flip the last bit of each letter and digit that kernels print."""
_DRAWN = (
    "its data are other ones in each run, also where the clock and the sources of random numbers"
    " are the same: let it take a seed"
)
RACES = (
    "its threads race: where waves and workgroups take turns in another order the original prints"
    " something else"
)
_OF_NUMBERS = re.compile(rb"[-+\d. \t]")


def is_clean(done: Execution) -> bool:
    """Whether checking mode has nothing to say of a run that ended well."""
    return done.ended.ok and not done.not_provided and UNORDERED_WRITES not in done.ended.stderr


def varies(run: ReferenceRun, tolerance: Tolerance) -> bool:
    """Whether the numbers of an original show nothing.

    Half of the data that it brings back, some of them where it sends others, or what it prints
    where it brings nothing back, are other ones in each run by more than rounding.
    """
    return _data_varies(run, tolerance) or _output_varies(run, tolerance)


def drawn_again(run: ReferenceRun, tolerance: Tolerance) -> str:
    """Why such numbers show nothing where they are a kernel's; empty for others, such as times."""
    changed = (each for each in run.perturbed if each.perturbation.where in _OF_DEVICE_TEXT)
    drawn = _data_varies(run, tolerance) or (
        _output_varies(run, tolerance)
        and any(_kernels_print_what_varies(run.outputs, each.outputs[0]) for each in changed)
    )
    return _DRAWN if drawn else ""


def is_told(run: ReferenceRun, changed: PerturbedRun, tolerance: Tolerance) -> bool:
    """Whether what a change moves is compared: numbers that are other ones in each run are not."""
    texts = (NUMBER.sub(b"", each) for each in (run.outputs[0], changed.outputs[0]))
    told = changed.status != run.status or len(set(texts)) > 1
    return told or not varies(run, tolerance)


def order_decides(run: ReferenceRun, tolerance: Tolerance, order_free: bool) -> bool:
    """Whether an original prints something else where waves and workgroups take turns in another
    order."""
    how = {"order_free": order_free, "varied": run.varied, "drawn": varies(run, tolerance)}
    others = run.in_another_order
    return not all(compare(run.outputs, each, tolerance, **how).numeric for each in others)


def agreement_but_for_order(
    run: ReferenceRun, own: Sequence[bytes], tolerance: Tolerance, order_free: bool
) -> OutputComparison | None:
    """How a port that prints ``own`` in two orders agrees with an original where its own two are
    the same; None where it does not."""
    how = {"order_free": order_free, "varied": True}
    compared = (compare(own, each, tolerance, **how) for each in run.outputs)
    return next((each for each in compared if each.numeric), None)


def _data_varies(run: ReferenceRun, tolerance: Tolerance) -> bool:
    if len(run.transcripts) < 2:
        return False
    share = varying_share(run.transcripts[0], run.transcripts[-1], tolerance)
    return 2 * share >= 1 or bool(share and run.draws_inputs)


def _output_varies(run: ReferenceRun, tolerance: Tolerance) -> bool:
    returns = any(each.written for each in run.transcripts)
    unlike = bool(run.same_draws) and not returns
    return unlike and not compare(run.outputs[:1], run.outputs[-1], tolerance, varied=True).numeric


def _kernels_print_what_varies(outputs: Sequence[bytes], changed: bytes) -> bool:
    """Whether letters of a line that another run does not print are flipped in ``changed``."""
    others = set(outputs[-1].splitlines())
    lines = zip(outputs[0].splitlines(), changed.splitlines(), strict=False)
    varying = ((one, flipped) for one, flipped in lines if one not in others)
    texts = ([_OF_NUMBERS.sub(b"", each) for each in pair] for pair in varying)
    return any(one != flipped and _flipped(one) == flipped for one, flipped in texts)


def _flipped(text: bytes) -> bytes:
    return bytes(each ^ 1 if chr(each).isalnum() and each < 128 else each for each in text)
