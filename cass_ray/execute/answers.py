"""Whether a program prints results, or no more than whether its own check was content."""

from __future__ import annotations

import math

from cass_ray.execute.differential import NUMBER
from cass_ray.execute.references import ReferenceRun

_SEVERAL = 3


def prints_results(reference: ReferenceRun) -> bool:
    """Whether changes move numbers of the original's output that are no flag and no count.

    What a check says is one whole number up to that of the threads, or of the words they were
    given, or an error below one. ``_SEVERAL`` different numbers are results. Those that vary
    without a change, too, such as times, are none.
    """
    columns = [NUMBER.findall(each) for each in reference.outputs]
    if not columns or len({len(each) for each in columns}) > 1:
        return False
    moved: set[float] = set()
    for run in reference.perturbed:
        changed = NUMBER.findall(run.outputs[0])
        if run.status == reference.status and len(changed) == len(columns[0]):
            pairs = zip(zip(*columns, strict=True), changed, strict=True)
            moved |= {_value(seen[0]) for seen, after in pairs if {*seen} == {seen[0]} != {after}}
    most = _largest_count(reference)
    own = [each for each in moved if abs(each) > (most if each.is_integer() else 1)]
    return len(moved) >= _SEVERAL or bool(own)


def _value(number: bytes) -> float:
    try:
        return float(number)
    except ValueError:  # 1.2.3
        return 0.0


def _largest_count(reference: ReferenceRun) -> int:
    threads = [math.prod((*each.grid, *each.block)) for each in reference.launches or ()]
    sent = [each.size for run in reference.transcripts[:1] for each in run.to_device]
    return max([1, *threads, sum(sent) // 4])
