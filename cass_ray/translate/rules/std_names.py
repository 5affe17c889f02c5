"""What the host's standard library has of libcu++ for devices too is taken from there."""

from __future__ import annotations

import re

from cass_ray.translate.rules import tables
from cass_ray.translate.rules.headers import insert_after_runtime
from cass_ray.translate.rules.rewrite import Rewrite
from cass_ray.translate.rules.standard_library import (
    STANDARD_FOLDER,
    included,
    is_of_functional,
    is_of_snippet,
    is_plain,
    uses,
)

_ATOMICS = re.compile(r"atomic|memory_order|thread_scope")
_BRING_LIBCUXX = ("cub/", "thrust/")
_NOT_OF_ITS_OWN = {f"{STANDARD_FOLDER}algorithm"}
"""CUDA 13.0 has no such header: others bring its names."""
_OF_FUNCTIONAL = {"proclaim_return_type", "proclaim_copyable_arguments"}


def take_std_names(unit: Rewrite) -> None:
    """Rename ``cuda::std``'s in a file that needs nothing else of libcu++.

    Headers of the host's library that nothing in the file includes are included.
    """
    if unit.standard_library is not None or not is_plain(unit):
        _include_brought(unit)
        return
    wanted = set()
    for offset, names in uses(unit):
        if is_of_snippet(unit, offset, names[1]):
            continue  # Barriers and their kin: check_standard_library.
        if is_of_functional(names):
            last = 2 if names[2] else 1
            unit.edits.replace(offset, names.start(last), "cass::")
            unit.snippets.add("functional")
        else:
            unit.edits.replace(offset, names.start(1), "")
            wanted.add(tables.standard_names()[names[2]])
        unit.converted(offset)
    there = included(unit)
    missing = sorted(name for name in wanted if not {name, STANDARD_FOLDER + name} & there)
    if missing:
        lines = (f"#include <{name}>{unit.source.newline}" for name in missing)
        insert_after_runtime(unit, "".join(lines))


def _include_brought(unit: Rewrite) -> None:
    """Include what CUB's and Thrust's headers bring of libcu++: AMD's bring none of it."""
    there = included(unit)
    of_libcuxx = any(path.startswith("cuda/") for path in there)
    if unit.is_hip or not any(path.startswith(_BRING_LIBCUXX) for path in there):
        return
    wanted = set()
    for _, names in uses(unit):
        if _ATOMICS.match(names[1]):
            wanted |= set() if of_libcuxx else {"cuda/atomic"}
        elif is_of_functional(names) or names[1] in _OF_FUNCTIONAL:
            wanted.add("cuda/std/functional" if names[1] == "std" else "cuda/functional")
        elif names[1] == "std" and (header := tables.standard_names().get(names[2] or "")):
            wanted |= {STANDARD_FOLDER + header} - _NOT_OF_ITS_OWN
    if missing := sorted(wanted - there):
        lines = (f"#include <{path}>{unit.source.newline}" for path in missing)
        insert_after_runtime(unit, "".join(lines))
