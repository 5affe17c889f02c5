"""All that a run says: what it prints, and what is in the files that it leaves."""

from __future__ import annotations

import math
import struct

from cass_ray.toolchain.sandbox.executable import SandboxRun

_VALUES = 16_384
"""So many values of a file of floats are compared, evenly spaced."""
_LARGEST = 1e30
"""A file with a larger value, or one nearer to 0 than the inverse, holds no floats of that size."""


def said(ended: SandboxRun) -> bytes:
    """Return what a run printed, and behind it each file by name.

    A text is compared as what is printed is, a file of floats value by value. Of other files the
    size alone is compared: pixels may differ by their rounding.
    """
    parts = [ended.stdout]
    for name, content in sorted(ended.files.items()):
        text = _as_text(content) or _as_floats(content) or f"{len(content)} bytes\n".encode()
        parts.append(b"\n%s:\n%s" % (name.encode("utf-8", "replace"), text))
    return b"".join(parts)


def _as_text(content: bytes) -> bytes | None:
    try:
        return None if b"\0" in content else content.decode().encode()
    except UnicodeDecodeError:
        return None


def _as_floats(content: bytes) -> bytes | None:
    for size, code in ((4, "f"), (8, "d")):
        if len(content) % size:
            continue
        values = [value for (value,) in struct.iter_unpack(f"<{code}", content)]
        if all(value == 0 or 1 / _LARGEST < abs(value) < _LARGEST for value in values):
            step = max(1, math.ceil(len(values) / _VALUES))
            return b"".join(b"%.9g\n" % value for value in values[::step])
    return None
