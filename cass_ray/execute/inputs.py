"""With what a program is run: its defaults, and argument lists where it takes arguments.

Arguments are guessed from the source (which ``argv[i]`` are read, and as what) and tried on the
reference: a list counts only if the reference accepts it and prints something new. Which lists a
program gets follows from its source and a secret, so a translator cannot know them.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Callable

from cass_ray.execute.backends.base import Inputs

_READ = re.compile(
    r"(?P<how>\b(?:std\s*::\s*)?(?:atoi|atol|atoll|atof|strto\w+|sto\w+))\s*\(\s*"
    r"(?:\w+\s*\[\s*(?P<index>[1-9])\s*\]|\*\s*\(\s*\w+\s*\+\s*(?P<offset>[1-9])\s*\))"
)
_HELPER = re.compile(r"\b(?!if\b|while\b)\w+\s*\(\s*argc\s*,\s*argv\s*,\s*(?P<index>[1-9])\s*[,)]")
"""A function of the program's that reads one."""
_FLOATING = frozenset({"atof", "strtod", "strtof", "stof", "stod"})

_SIZES = (1, 7, 31, 32, 33, 63, 64, 100, 127, 255, 256, 257, 500, 777, 1000, 1023, 1024, 1025)
"""Around multiples of warps and blocks, and small: a CPU runs them too."""

LISTS = 2
_TRIES = 8


def argument_positions(source: str) -> dict[int, bool]:
    """Which ``argv[i]`` are read as numbers: position -> whether as floating point."""
    positions: dict[int, bool] = {}
    for match in _READ.finditer(source):
        position = int(match["index"] or match["offset"])
        how = match["how"].rpartition(":")[2].strip()
        positions[position] = positions.get(position, False) or how in _FLOATING
    for match in _HELPER.finditer(source):
        positions.setdefault(int(match["index"]), False)
    return positions


def candidate_lists(source: str, secret: str = "") -> list[tuple[str, ...]]:
    """Argument lists worth trying, the same ones for the same source and secret."""
    positions = argument_positions(source)
    if not positions or min(positions) != 1:
        return []
    count = 0
    while count + 1 in positions:
        count += 1
    seed = hashlib.sha256(f"{secret}\0{source}".encode("utf-8", "replace")).digest()
    generator = random.Random(seed)
    lists = []
    for _ in range(_TRIES):
        values = [
            f"{generator.uniform(0.1, 4):.3f}" if positions[number] else _integer(generator, number)
            for number in range(1, count + 1)
        ]
        lists.append(tuple(values))
    return lists


def _integer(generator: random.Random, position: int) -> str:
    """Sizes come first, then counts and seeds."""
    values = _SIZES[3:] if position == 1 else _SIZES[:8]
    return str(generator.choice(values))


def accepted_lists(
    source: str,
    default_output: bytes,
    try_reference: Callable[[Inputs], bytes | None],
    secret: str = "",
) -> list[Inputs]:
    """The first :data:`LISTS` lists on which ``try_reference`` succeeds with new output."""
    seen = {default_output}
    lists = []
    for arguments in candidate_lists(source, secret):
        inputs = Inputs(arguments)
        output = try_reference(inputs)
        if output is not None and output not in seen:
            seen.add(output)
            lists.append(inputs)
        if len(lists) == LISTS:
            break
    return lists
