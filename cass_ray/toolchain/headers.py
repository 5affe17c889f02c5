"""Which package has a header that a compiler did not find."""

from __future__ import annotations

import csv
import functools
from pathlib import Path, PurePosixPath

from cass_ray.dataset.schema import Reason
from cass_ray.toolchain.unit import CompileFailure, unopened_file


def missing_header_advice(failure: CompileFailure) -> str:
    """What to do about the header that ``failure`` is about; empty where it is about none."""
    if failure.reason is not Reason.MISSING_HEADER:
        return ""
    header = unopened_file(failure.diagnostic)
    if not header:
        return ""
    remedy = _remedy(header)
    advice = f"it is in {remedy}" if remedy else "give the folder that holds it with -I"
    return f"missing header {header}: {advice}"


def _remedy(header: str) -> str:
    """The longest entry of ``headers.csv`` that ``header``, or its last part, begins with."""
    names = {header, PurePosixPath(header).name}
    remedies = [
        (len(start), remedy)
        for start, remedy in _remedies().items()
        if any(name.startswith(start) for name in names)
    ]
    return max(remedies, default=(0, ""))[1]


@functools.cache
def _remedies() -> dict[str, str]:
    """The beginning of a header's path -> where it is. A folder ends in ``/``."""
    with Path(__file__).with_name("headers.csv").open(encoding="utf-8", newline="") as file:
        return {row["header"]: row["remedy"] for row in csv.DictReader(file)}
