"""Names of files that a compiler would read as something else."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from cass_ray.dataset.row import Reason
from cass_ray.toolchain.sandbox import isolation
from cass_ray.toolchain.unit import CompileFailure, Unit
from cass_ray.translate.engines.hipify import HipifyTranslator

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


@pytest.mark.parametrize("engine", ["hipify-perl", "hipify-clang"])
@pytest.mark.parametrize("name", ["@x.cu", "-fplugin=x.cu", "../../x.cu", "a\nb.cu", "$(id).cu"])
def test_programs_of_hipify_get_no_name_of_a_stranger(
    engine: str, name: str, tmp_path: Path
) -> None:
    """They are compilers too: they run in the sandbox, on a file whose name is ours."""
    if not isolation.available():
        pytest.skip(isolation.problem())
    program = tmp_path / "rocm" / "bin" / engine
    program.parent.mkdir(parents=True)
    program.write_text(
        f'#!/bin/sh\nexec 2>&1; (echo "$@"; ls; cat {tmp_path}/secret) | tee "${{3:-/dev/null}}"\n'
    )
    program.chmod(0o755)
    (tmp_path / "secret").write_text("a secret of this machine")
    made = HipifyTranslator(engine, program).translate("int x;", filename=name).source
    assert "source.cu\n" in made
    assert name not in made
    assert "a secret" not in made
