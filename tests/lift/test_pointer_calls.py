"""Calls through registers of functions that call each other so: calls by pointers."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from cass_ray.corpus.reading.source_files import gather
from cass_ray.emulator.build import runtime_library
from cass_ray.emulator.execution import RunOptions, execute
from cass_ray.lift import LiftError, lift_cubin, names_for_host
from cass_ray.lift.lowering.flow import calls
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.nvidia.elf import Cubin
from cass_ray.toolchain.unit import Unit
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.project.program import translated

pytestmark = [pytest.mark.nvidia, pytest.mark.amd]

PROGRAM = Unit(Path(__file__).parent / "programs", PurePosixPath("pointer_calls.cu"))
THREADS = 64


class Ended(Exception):
    """The thread has."""


def word(number: int) -> int:
    """As a signed word of 32 bits."""
    return (number + (1 << 31)) % (1 << 32) - (1 << 31)


def following(number: int, total: int) -> int:
    return total if number <= 0 else step(number % 5, number, total)


def step(which: int, number: int, total: int) -> int:
    if which == 0:
        return word(following(number // 2, total + 1) * 3)
    if which == 1:
        return word(following(number - 2, total ^ number) - number)
    if which == 2:
        first = following(number - 3, total + 7)
        return word(first + following(number - 4, first & 15))
    if which == 3:
        return word(following(number - 1, word(2 * total)) + 5)
    if total > 40:
        raise Ended
    return following(number - 5, total + number) ^ total


def chosen() -> list[int]:
    """What each thread leaves: the sum over all with its own, or -1 where it ends before."""
    own: list[int | None] = []
    for t in range(THREADS):
        try:
            own.append(step(t % 5, t % 23, t))
        except Ended:
            own.append(None)
    whole = sum((each or 0) * (k + 1) for k, each in enumerate(own))
    return [-1 if each is None else word(whole + each) for each in own]


@pytest.mark.parametrize("target", ["gfx1100", "gfx942"])
@pytest.mark.parametrize("architecture", ["sm_80", "sm_120"])
def test_lanes_that_call_different_functions_meet_again(
    target: str, architecture: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    amd, library = find_amd(), runtime_library()
    sources = translated(gather(PROGRAM), make_translator())
    host = amd.compile(sources.write(tmp_path / "hip"), target, optimization="-O1")
    cubin = find_nvidia().compile(PROGRAM, (architecture,)).cubins[architecture]
    names = names_for_host(Cubin.parse(cubin), host.device_assembly)
    lifted = lift_cubin(cubin, target, names=names)
    monkeypatch.setattr(calls, "MOST_CHOICES", 1000)
    by_choice = lift_cubin(cubin, target, names=names)
    assert ".table0" in lifted.llvm_ir
    assert ".table0" not in by_choice.llvm_ir
    options = RunOptions(seconds=60, devices=(target,))
    assert any(each == -1 for each in chosen())
    for name, made in (("pointer", lifted), ("choice", by_choice)):
        program = tmp_path / name
        amd.recombine(
            host.host_assembly,
            made.assembly,
            program,
            architecture=target,
            runtime_library=library,
        )
        done = execute(program, (), library, options)
        assert [int(line) for line in done.stdout_text.split()] == chosen(), name
        assert done.ok
        assert not execute(program, ("wrong",), library, options).ok


def test_turns_that_end_in_them_are_refused(tmp_path: Path) -> None:
    """Where the warps of a wave run in turns no function can be, called by a pointer or not."""
    text = (PROGRAM.root / PROGRAM.source).read_text()
    start = "(int number, int sum) {\n    if (sum"
    assert start in text
    meeting = text.replace(start, "(int number, int sum) {\n    __syncthreads();\n    if (sum")
    (tmp_path / "meeting.cu").write_text(meeting)
    unit = Unit(tmp_path, PurePosixPath("meeting.cu"))
    cubin = find_nvidia().compile(unit, ("sm_80",)).cubins["sm_80"]
    with pytest.raises(LiftError, match="calls itself, and a barrier"):
        lift_cubin(cubin, "gfx942")
    assert ".table0" in lift_cubin(cubin, "gfx1100").llvm_ir
