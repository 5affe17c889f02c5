"""Whether a program prints results, or no more than whether its own check was content."""

from __future__ import annotations

from collections.abc import Sequence

from cass_ray.execute.differential import NUMBER, PerturbedRun

_SEVERAL = 3


def prints_results(
    outputs: Sequence[bytes], status: int, perturbed: Sequence[PerturbedRun], largest_count: int
) -> bool:
    """Whether changes move numbers of an original's outputs that are no flag and no count.

    What a check says is one whole number up to ``largest_count``, or an error below one.
    ``_SEVERAL`` different numbers are results. Those that vary without a change, too, such as
    times, are none. Runs under a change count where they end with ``status``, too.
    """
    columns = [NUMBER.findall(each) for each in outputs]
    if not columns or len({len(each) for each in columns}) > 1:
        return False
    moved: set[float] = set()
    for run in perturbed:
        changed = NUMBER.findall(run.outputs[0])
        if run.status == status and len(changed) == len(columns[0]):
            for seen, after in zip(zip(*columns, strict=True), changed, strict=True):
                if len({*seen}) == 1 and after != seen[0]:
                    moved.add(_value(seen[0]))
    own = [each for each in moved if abs(each) > (largest_count if each.is_integer() else 1)]
    return len(moved) >= _SEVERAL or bool(own)


def _value(number: bytes) -> float:
    try:
        return float(number)
    except ValueError:  # 1.2.3
        return 0.0
