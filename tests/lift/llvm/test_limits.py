"""LLVM's limits: CPU time, more for more code."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cass_ray.lift.errors import CompilerFailure
from cass_ray.lift.llvm import emit
from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.sandbox.process import COMPILE_LIMITS, Limits


def test_large_kernels_have_more_time() -> None:
    """29,000 instructions, five megabytes of IR, took LLVM 25 s on a machine with nothing else."""
    small, large = emit.limits_for(""), emit.limits_for(" " * 5_000_000)
    assert small.cpu_seconds == COMPILE_LIMITS.cpu_seconds
    assert large.cpu_seconds >= 10 * 25
    assert emit.limits_for(" " * 200_000_000).cpu_seconds <= 3600


@pytest.mark.parametrize("size", [0, 100_000, 50_000_000])
def test_the_clock_is_no_limit_of_what_computes(size: int) -> None:
    limits = emit.limits_for(" " * size)
    assert limits.wall_seconds >= 4 * limits.cpu_seconds


@pytest.mark.amd
def test_a_failure_says_which_limit_was_reached(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "spin").write_text("#!/bin/sh\nwhile :; do :; done\n")
    (tmp_path / "spin").chmod(0o755)
    monkeypatch.setattr(emit, "ir_compiler", lambda toolchain: tmp_path / "spin")
    limits: Limits = replace(COMPILE_LIMITS, cpu_seconds=0.2, wall_seconds=60)
    with pytest.raises(CompilerFailure, match=r"LLVM was ended after .* s of CPU time"):
        emit.assembly(find_amd(), "; nothing", "gfx1100", limits)
