"""HIP programs with kernels, from source to result."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cass_ray.emulator.execution import RunOptions
from tests.emulator.hip_runtime.conftest import RunProgram
from tests.emulator.test_code_object import (
    LDS_UNIT,
    PRELOADING,
    assemble_code_object,
    for_machine,
)

pytestmark = pytest.mark.amd


@pytest.mark.parametrize(
    ("name", "architecture"),
    [
        ("launches", "gfx1100"),  # counts the card's compute units
        ("cooperative", "gfx1100"),
        pytest.param("cooperative", "gfx1201", marks=pytest.mark.slow),
        ("cooperative", "gfx90a"),
        ("modules", "gfx1100"),
        pytest.param("modules", "gfx1201", marks=pytest.mark.slow),
        ("textures", "gfx1100"),
        ("textures", "gfx1201"),
        ("texture_references", "gfx1100"),
        pytest.param("texture_references", "gfx1201", marks=pytest.mark.slow),
        ("scratch", "gfx90a"),
        pytest.param("scratch", "gfx942", marks=pytest.mark.slow),
        ("lds_zeros", "gfx1100"),
        ("lds_zeros", "gfx90a"),
        ("lds_range", "gfx1100"),
        ("lds_range", "gfx942"),
        ("lds_range", "gfx1201"),
    ],
)
def test_program_finds_all_as_expected(
    run_program: RunProgram, name: str, architecture: str
) -> None:
    completed = run_program(f"{name}.hip", architecture=architecture)
    assert completed.stdout_text == "all as expected\n", completed.stderr_text
    assert completed.ok


# 102 x 37 texels of 8_8_8_8_UINT (46): 101 is 25 << 2 | 1; X, Y, Z, W selected; type 2D (9).
_SIZE, _SELECTS = 36 << 14 | 25, 9 << 28 | 7 << 9 | 6 << 6 | 5 << 3 | 4


@pytest.mark.parametrize(
    ("architecture", "words"),
    [
        ("gfx1100", (1 << 30 | 46 << 20, _SIZE, _SELECTS, 0xFFF << 12)),  # RDNA3 ISA, 10.5, 10.6
        ("gfx1201", (1 << 30 | 46 << 17, _SIZE, _SELECTS, 0x1FFF << 13)),  # ROCR, resource_gfx12.h
    ],
)
def test_the_words_of_an_image_resource(
    run_program: RunProgram, architecture: str, words: tuple[int, ...]
) -> None:
    completed = run_program("image_words.hip", architecture=architecture)
    assert completed.stdout_text == " ".join(f"{word:x}" for word in words) + "\n"


@pytest.mark.parametrize("generic", [False, True])
def test_arguments_that_are_in_registers_from_the_start(
    run_program: RunProgram, tmp_path: Path, generic: bool
) -> None:
    (tmp_path / "inputs").mkdir()
    code = assemble_code_object(tmp_path, PRELOADING, "gfx942")
    if generic:
        code = for_machine(code, 0x5F)
    (tmp_path / "inputs" / "preload.co").write_bytes(code)
    options = RunOptions(seconds=60, inputs=tmp_path / "inputs", devices=("gfx942",))
    completed = run_program("preload.cpp", options=options, architecture="gfx942")
    assert completed.stdout_text == "all as expected\n", completed.stderr_text


@pytest.mark.parametrize(
    ("architecture", "machine", "unit"),
    [
        ("gfx942", 0x4C, 512),
        ("gfx950", 0x4F, 1280),
    ],
)
def test_the_unit_of_lds_is_llvms(
    run_program: RunProgram, tmp_path: Path, architecture: str, machine: int, unit: int
) -> None:
    """AMDGPUUsage, GRANULATED_LDS_SIZE: 128 dwords, on GFX950 320."""
    (tmp_path / "inputs").mkdir()
    code = for_machine(assemble_code_object(tmp_path, LDS_UNIT, "gfx942"), machine)
    (tmp_path / "inputs" / "lds_unit.co").write_bytes(code)
    options = RunOptions(seconds=60, inputs=tmp_path / "inputs", devices=(architecture,))
    completed = run_program("lds_unit.cpp", options=options, architecture="gfx942")
    assert completed.stdout_text == f"{unit} bytes\nall as expected\n", completed.stderr_text


def test_loads_of_16_bytes_see_no_part_of_a_store(run_program: RunProgram) -> None:
    """rocPRIM's test of 128-bit atomics found it: a load by all lanes of one address was four."""
    completed = run_program("whole_accesses.hip")
    assert completed.stdout_text == "8 bytes: 0 torn\n16 bytes: 0 torn\n"


DEVICES = ("gfx1100", "gfx942")


def test_two_devices_of_different_kinds(run_program: RunProgram) -> None:
    options = RunOptions(seconds=60, devices=DEVICES)
    completed = run_program("devices.hip", options=options, further=DEVICES[1:])
    assert completed.stdout_text == "all as expected\n", completed.stderr_text
    assert completed.ok


def test_a_device_cannot_use_a_peers_memory_without_access(run_program: RunProgram) -> None:
    options = RunOptions(seconds=60, devices=DEVICES)
    completed = run_program("devices.hip", ["foreign"], options=options, further=DEVICES[1:])
    assert "an argument is memory of device 0, to which it has no access" in completed.stderr_text
    assert completed.stdout_text == "all as expected\n"


def test_code_is_missing_for_one_of_the_devices(run_program: RunProgram) -> None:
    options = RunOptions(seconds=60, devices=DEVICES)
    completed = run_program("devices.hip", options=options)
    assert "compile with --offload-arch=gfx942" in completed.stderr_text


def test_a_lost_launch_that_nobody_asks_about_is_a_failure(run_program: RunProgram) -> None:
    options = RunOptions(seconds=60, devices=("gfx1100",))
    completed = run_program("lost_launch.hip", options=options, architecture="gfx942")
    assert completed.returncode == 1
    line = next(line for line in completed.stderr_text.splitlines() if "not launched" in line)
    # Kernel, file and target, as the program itself has them.
    assert re.search(r"the kernel _Z7nothingv of \S+ has no code for gfx1100, and", line)


def test_a_launch_by_a_file_s_object_after_main_is_a_failure(run_program: RunProgram) -> None:
    completed = run_program("objects.hip", ["launch"])
    # That of a function was made when the kernels were there, so that it goes before they do.
    assert completed.stdout_text == "of a function\nof a file\n"
    assert completed.returncode == 1
    line = next(line for line in completed.stderr_text.splitlines() if "not launched" in line)
    assert re.search(r"the kernel \(unnamed\) of \S+ is not there: .* after it, and", line)
    quiet = run_program("objects.hip")
    assert (quiet.returncode, quiet.stderr_text) == (0, "")


def test_a_lost_launch_that_the_program_asks_about_is_its_own_affair(
    run_program: RunProgram,
) -> None:
    options = RunOptions(seconds=60, devices=("gfx1100",))
    completed = run_program("lost_launch.hip", ["ask"], options=options, architecture="gfx942")
    assert completed.stdout_text == "hipErrorNoBinaryForGpu\n"
    assert completed.returncode == 0


def test_a_device_that_is_not_known(run_program: RunProgram) -> None:
    options = RunOptions(seconds=60, devices=("gfx1100", "gfx803"))
    completed = run_program("launches.hip", options=options)
    assert "CASS_DEVICES names gfx803; known: gfx1100" in completed.stderr_text
    assert not completed.ok


def test_a_barrier_in_two_halves(run_program: RunProgram) -> None:
    """A wave that has signaled holds up nobody, even while it waits for what comes after it."""
    completed = run_program("split_barrier.hip", architecture="gfx1201")
    assert completed.stdout_text == "all as expected\n", completed.stderr_text


def test_device_printf_writes_what_the_hosts_writes(run_program: RunProgram) -> None:
    completed = run_program("printing.hip")
    lines = completed.stdout_text.splitlines()
    half = len(lines) // 2
    assert half == 8, completed.stderr_text
    assert lines[:half] == lines[half:]


def test_device_printf_of_many_threads_loses_none(run_program: RunProgram) -> None:
    lines = run_program("printing.hip", ["many"]).stdout_text.splitlines()
    assert sorted(lines) == sorted([f"thread {number}" for number in range(40)] * 2)


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("wild", "hipErrorIllegalAddress"),
        ("null", "hipErrorIllegalAddress"),
        ("beyond", "hipErrorIllegalAddress"),
        ("freed", "hipErrorIllegalAddress"),
        ("abort", "hipErrorLaunchFailure"),
        ("assert", "hipErrorAssert"),
        ("deep", "hipErrorLaunchFailure"),
    ],
)
def test_a_kernel_that_fails_is_reported(run_program: RunProgram, fault: str, error: str) -> None:
    completed = run_program("faults.hip", [fault])
    assert completed.stdout_text == f"{error}\n{error}\n", completed.stderr_text
    assert completed.returncode == 7
    assert "kernel _Z" in completed.stderr_text


# One that waits forever, and one of 2^31 workgroups.
@pytest.mark.parametrize("fault", ["hang", "blocks"])
def test_a_kernel_that_never_ends_is_ended(run_program: RunProgram, fault: str) -> None:
    completed = run_program("faults.hip", [fault], RunOptions(seconds=60, kernel_seconds=1))
    assert completed.stdout_text.startswith("hipErrorLaunchTimeOut\n"), completed.stderr_text
    assert completed.returncode == 7


def test_a_failure_that_the_program_ignores_is_its_exit_status(run_program: RunProgram) -> None:
    completed = run_program("faults.hip", ["quiet"])
    assert completed.returncode == 1
    assert "a kernel failed" in completed.stderr_text


def test_a_barrier_that_not_all_waves_reach_is_named(run_program: RunProgram) -> None:
    completed = run_program("faults.hip", ["barrier"], RunOptions(seconds=60, kernel_seconds=1))
    assert completed.returncode == 7
    assert "deadlock: 1 of 2 waves wait at a barrier" in completed.stderr_text


@pytest.mark.parametrize("blocks", [4, 64])
def test_many_grid_wide_barriers(run_program: RunProgram, blocks: int) -> None:
    completed = run_program("sweeps.hip", [str(blocks), "2000"])
    assert completed.stdout_text == "all as expected\n", completed.stderr_text


def test_workgroups_that_wait_for_later_ones(run_program: RunProgram) -> None:
    completed = run_program("sweeps.hip", ["chain", "60"])
    assert completed.stdout_text == "all as expected\n", completed.stderr_text


def test_checking_mode_shows_what_was_never_written(run_program: RunProgram) -> None:
    checked = run_program("unwritten.hip", options=RunOptions(seconds=60, check=True))
    assert checked.stdout_text == "a5 7f a5\n", checked.stderr_text


def test_memory_as_a_cards_runtime_hands_it_out(run_program: RunProgram) -> None:
    """Small pieces lie in blocks of 2 MiB (ROCr's ``BlockAllocator``), to which the next page
    belongs, and 16 MiB on does not; what copies may touch is the same."""
    strict = run_program("beside.hip", options=RunOptions(seconds=60))
    assert strict.stdout_text == "beside: fault\n"
    card = run_program("beside.hip", options=RunOptions(seconds=60, as_on_a_card=True))
    assert card.stdout_text == "beside: read\nvalue: 16843009\ncopy: refused\nfar: fault\n"
    checked = run_program(
        "beside.hip", options=RunOptions(seconds=60, as_on_a_card=True, check=True)
    )
    assert checked.stdout_text == "beside: fault\n"


@pytest.mark.parametrize("architecture", ["gfx1100", "gfx90a"])
def test_a_kernel_may_end_in_a_call(run_program: RunProgram, architecture: str) -> None:
    done = run_program("no_return.hip", architecture=architecture)
    assert done.stdout_text == "49\n", done.stderr_text


def test_what_nothing_waits_for_may_be_late(run_program: RunProgram) -> None:
    """CUDA's and HIP's guides promise no more than that: "asynchronous concurrent execution"."""
    prompt = run_program("late.hip", options=RunOptions(seconds=60))
    assert prompt.stdout_text == (
        "event 7\nno event 7\nnull stream 7\nqueried 7\nsynchronized 7 7\nflag 1\ndestroyed 7\n"
    ), prompt.stderr_text
    late = run_program("late.hip", options=RunOptions(seconds=60, late_streams=True))
    assert late.stdout_text == (
        "event 7\nno event 0\nnull stream 7\nqueried 7\nsynchronized 0 7\nflag 1\ndestroyed 7\n"
    ), late.stderr_text


def test_memory_in_fragments_is_zero_and_nobody_elses(run_program: RunProgram) -> None:
    done = run_program("fragments.hip", options=RunOptions(seconds=60, as_on_a_card=True))
    assert done.stdout_text == "0\n", done.stderr_text


def test_more_pieces_than_a_process_has_mappings(run_program: RunProgram) -> None:
    done = run_program("many_parts.hip", options=RunOptions(seconds=60, as_on_a_card=True))
    assert done.stdout_text == "0\n0\n", done.stderr_text


@pytest.mark.parametrize("architecture", ["gfx1100", "gfx90a", "gfx1201"])
def test_waves_take_turns_as_on_a_card(run_program: RunProgram, architecture: str) -> None:
    options = RunOptions(seconds=60, as_on_a_card=True)
    done = run_program("turns.hip", options=options, architecture=architecture)
    assert done.stdout_text == "found 1 1, ahead by at most 2\n", done.stderr_text
