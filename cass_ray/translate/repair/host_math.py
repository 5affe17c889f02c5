"""Functions that CUDA's headers have for host code without ``std::``: ``isnan``, ``modf``."""

from __future__ import annotations

import re

from cass_ray.translate.rules.edits import Edits
from cass_ray.translate.rules.text import SourceText

_NAMES = "isnan|isinf|isfinite|signbit|modf"
_FOR_THE_DEVICE = re.compile(
    rf"no matching function for call to '(?:{_NAMES})'"
    rf"|reference to __device__ function '(?:{_NAMES})' in __host__"
)
_CALLED = re.compile(rf"(?<![\w.:])(?<!->)(?P<name>{_NAMES})(?=\s*\()")


def name_standard_function(
    text: SourceText, edits: Edits, message: str, line: int, offset: int
) -> str:
    """Call the standard library's function, which both sides have; says what was done."""
    found = _CALLED.match(text.code, offset)
    if found is None or not _FOR_THE_DEVICE.search(message):
        return ""
    edits.insert(offset, "std::")
    return f"call std::{found['name']} on line {line}, for HIP's is the device's alone"
