"""Whether a program prints results, or no more than whether its own check was content."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from cass_ray.execute.differential import NUMBER, PerturbedRun

_SEVERAL = 3


def prints_results(
    outputs: Sequence[bytes], status: int, perturbed: Sequence[PerturbedRun], largest_count: int
) -> bool:
    """Whether changes move numbers of an original's outputs that are no flag and no count.

    What a check says is one whole number up to ``largest_count``, or an error below one.
    ``_SEVERAL`` different numbers are results. Those that vary without a change, too, such as
    times, are none. Of runs that do not end with ``status`` lines of the same words are compared.
    """
    if not outputs:
        return False
    moved: set[float] = set()
    for run in perturbed:
        moved |= _moved([*outputs, run.outputs[0]], by_words=run.status != status)
    own = [each for each in moved if abs(each) > (largest_count if each.is_integer() else 1)]
    return len(moved) >= _SEVERAL or bool(own)


def _moved(texts: Sequence[bytes], *, by_words: bool) -> set[float]:
    """Numbers that are the same in all of ``texts`` but the last, and others in that one.

    Compared are lines of the same words where that is asked for, or where counts of numbers differ.
    """
    groups = [{b"": NUMBER.findall(text)} for text in texts]
    if by_words or len({len(each[b""]) for each in groups}) > 1:
        groups = [_by_words(text) for text in texts]
    moved: set[float] = set()
    for words in set.intersection(*map(set, groups)):
        columns = [each[words] for each in groups]
        if len({len(each) for each in columns}) == 1:
            for *seen, after in zip(*columns, strict=True):
                if len({*seen}) == 1 and after != seen[0]:
                    moved.add(_value(seen[0]))
    return moved


def _by_words(text: bytes) -> dict[bytes, list[bytes]]:
    """The numbers of all lines that have the same words between them."""
    groups: dict[bytes, list[bytes]] = defaultdict(list)
    for line in text.splitlines():
        groups[NUMBER.sub(b"#", line)] += NUMBER.findall(line)
    return groups


def _value(number: bytes) -> float:
    try:
        return float(number)
    except ValueError:  # 1.2.3
        return 0.0
