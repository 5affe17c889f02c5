"""Which package has a header that a compiler did not find."""

from __future__ import annotations

import functools
from pathlib import Path, PurePosixPath

from cass_ray.csv_tables import read_mapping
from cass_ray.dataset.row import Reason
from cass_ray.toolchain.unit import CompileFailure, unopened_file


def missing_header_advice(failure: CompileFailure) -> str:
    """What to do about the header that ``failure`` is about; empty where it is about none."""
    if failure.reason is not Reason.MISSING_HEADER:
        return ""
    header = unopened_file(failure.diagnostic)
    if not header:
        return ""
    remedy = header_remedy(header)
    advice = f"it is in {remedy}" if remedy else "give the folder that holds it with -I"
    return f"missing header {header}: {advice}"


def header_remedy(header: str) -> str:
    """Which package has ``header``, empty where that is not known.

    The longest entry of ``headers.csv`` that ``header``, or its last part, begins with."""
    names = {header, PurePosixPath(header).name}
    remedies = [
        (len(start), remedy)
        for start, remedy in _remedies("headers.csv").items()
        if any(name.startswith(start) for name in names)
    ]
    return max(remedies, default=(0, ""))[1]


@functools.cache
def _remedies(table: str) -> dict[str, str]:
    """Library, or the beginning of a header's path -> where it is. A folder ends in ``/``."""
    return read_mapping(Path(__file__).with_name(table))


def library_remedy(name: str) -> str:
    """Which package has the library ``lib{name}``, empty where that is not known."""
    return _remedies("libraries.csv").get(name, "")
