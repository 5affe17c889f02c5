"""The runtime is built from the headers that every machine has or fetches: HIP's and HSA's."""

from __future__ import annotations

import re

from tests.folders import REPOSITORY

RUNTIME = REPOSITORY / "cass_ray" / "emulator" / "hip_runtime"
GIVEN = {"hip", "hsa", "sys"}
"""Folders of headers: HIP, HSA, the C library."""


def test_no_header_of_amds_libraries_is_needed() -> None:
    """Only ``cass setup libraries`` brings roctracer, rocBLAS and the like: without it ``cass run``
    must still build the runtime."""
    included = re.compile(r"^\s*#\s*include\s*<(\w[\w-]*)/", re.M)
    for path in [*RUNTIME.rglob("*.cpp"), *RUNTIME.rglob("*.hpp")]:
        others = set(included.findall(path.read_text())) - GIVEN
        assert not others, f"{path}: {others}"
