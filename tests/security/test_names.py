"""Names of files that a compiler would read as something else."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from cass_ray.dataset.schema import Reason
from cass_ray.toolchain.unit import CompileFailure, Unit

OPTIONS = ("@x.cu", "@evil/x.cu", "-x.cu", "-fplugin=evil.so", "--config=x.cu", "./@x.cu", "./-x")
OUTSIDE = ("../x.cu", "/etc/passwd", "a/../../x.cu", "..", "/")


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("role", ["main", "include"])
def test_options(name: str, role: str) -> None:
    """``./`` does not survive the normal form of a path, so it protects nothing."""
    path = PurePosixPath(name)
    with pytest.raises(CompileFailure) as raised:
        if role == "main":
            Unit(Path("/tree"), path)
        else:
            Unit(Path("/tree"), PurePosixPath("x.cu"), (path,))
    assert raised.value.reason is Reason.FORBIDDEN_INCLUDE


@pytest.mark.parametrize("name", OUTSIDE)
@pytest.mark.parametrize("role", ["main", "include"])
def test_outside(name: str, role: str) -> None:
    path = PurePosixPath(name)
    with pytest.raises(ValueError, match="source tree"):
        if role == "main":
            Unit(Path("/tree"), path)
        else:
            Unit(Path("/tree"), PurePosixPath("x.cu"), (path,))
