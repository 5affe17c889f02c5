"""Headers of ours that a unit is given in front of its text, by what its compiler says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from cass_ray.toolchain.unit import Unit


def with_headers(
    unit: Unit, diagnostic: str, needed: Mapping[str, re.Pattern[str]], folders: Iterable[Path]
) -> Unit | None:
    """``unit`` with the headers before it that ``diagnostic`` asks for, which lie in ``folders``.

    ``needed`` has what a compiler says of a unit that needs a header, by its name. None: there is
    none that the unit was not given before.
    """
    asked = [
        name
        for name, says in needed.items()
        if name not in unit.forced and says.search(diagnostic) is not None
    ]
    if not asked:
        return None
    directories = tuple(dict.fromkeys((*unit.system_directories, *folders)))
    return replace(unit, system_directories=directories, forced=(*asked, *unit.forced))


def contents(folders: Iterable[Path]) -> Iterator[bytes]:
    """Read all headers in ``folders``, for keys of caches."""
    for folder in folders:
        for path in sorted(folder.rglob("*.h*")):
            yield path.read_bytes()
