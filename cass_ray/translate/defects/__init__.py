"""Defects of CUDA and HIP programs that no translation mends: looked for in the syntax of one file.

Each is a pattern that is wrong on Nvidia as well, or works there by accident: memory of the wrong
side, waits that are missing, barriers that not all threads reach, launches that cannot succeed.
What cannot be decided in one file is not reported.
"""

from __future__ import annotations

from cass_ray.translate.defects.barriers import barrier_defects
from cass_ray.translate.defects.launches import launch_defects
from cass_ray.translate.defects.memory import memory_defects
from cass_ray.translate.defects.returns import return_defects
from cass_ray.translate.defects.shared_memory import shared_memory_defects
from cass_ray.translate.defects.syntax import MAXIMUM_BYTES, read
from cass_ray.translate.protocol import Finding, in_order

_CHECKS = (memory_defects, launch_defects, barrier_defects, shared_memory_defects, return_defects)


def defects(source: str) -> tuple[Finding, ...]:
    """What is wrong in one source, by place; nothing of sources above ``MAXIMUM_BYTES``."""
    data = source.encode("utf-8", "surrogateescape")
    if len(data) > MAXIMUM_BYTES:
        return ()
    unit = read(data)
    found = {finding for check in _CHECKS for finding in check(unit)}
    return in_order(found)


def missing_returns(source: str) -> tuple[Finding, ...]:
    """Of :func:`defects` those that a port has and its original seems not to have."""
    data = source.encode("utf-8", "surrogateescape")
    return in_order(set(return_defects(read(data)))) if len(data) <= MAXIMUM_BYTES else ()
