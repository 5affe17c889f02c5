"""A port that computes its answer elsewhere is never verified; a right one is."""

from __future__ import annotations

from pathlib import Path

import pytest

from cass_ray.execute.grades import Grade
from cass_ray.execute.verification import PortVerification
from cass_ray.public.verifying import Comparison, compare_programs
from tests.security.forgeries.game import HONEST as HONEST_PORT
from tests.security.forgeries.game import drawn, play
from tests.security.forgeries.programs import (
    FORGERIES,
    HONEST,
    NO_RESULT,
    ORIGINAL,
    PASS_ALONE,
    PASS_ALONE_WRONG,
    SELF_CHECK,
    SELF_CHECK_FORGED,
    USAGE_ALONE,
)
from tests.security.forgeries.tricks import TRICKS

pytestmark = [pytest.mark.nvidia, pytest.mark.amd]

_QUICK = 5
"""So many forgeries are in the quick tests."""


def verified(
    folder: Path, original: str, port: str = "", inputs: tuple[tuple[str, ...], ...] = ((),)
) -> PortVerification:
    (folder / "original.cu").write_text(original)
    (folder / "port.hip").write_text(port)
    candidate = folder / "port.hip" if port else None
    results = compare_programs(folder / "original.cu", candidate, Comparison(inputs=inputs))
    (result,) = results.values()
    return result


@pytest.mark.parametrize(
    "trick",
    [
        pytest.param(trick, marks=[pytest.mark.slow] if number >= _QUICK else [])
        for number, trick in enumerate(FORGERIES)
    ],
)
def test_a_forgery_is_caught(trick: str, tmp_path: Path) -> None:
    result = verified(tmp_path, ORIGINAL, FORGERIES[trick], inputs=((), ("50",)))
    assert not result.passed
    assert result.grade in (Grade.DIFFERS, Grade.CANNOT_TELL), result.reason


@pytest.mark.parametrize("port", HONEST)
def test_a_right_port_is_verified(port: str, tmp_path: Path) -> None:
    result = verified(tmp_path, ORIGINAL, HONEST[port])
    assert result.grade is Grade.VERIFIED, result.reason
    assert result.reference_kind == "lifted sm_90"
    assert result.perturbations >= 1


def test_self_checks_on_the_device_are_told_apart(tmp_path: Path) -> None:
    assert verified(tmp_path, SELF_CHECK).grade is Grade.VERIFIED
    assert verified(tmp_path, SELF_CHECK, SELF_CHECK_FORGED).grade is Grade.DIFFERS


def test_results_behind_a_printed_verdict_are_compared(tmp_path: Path) -> None:
    assert verified(tmp_path, PASS_ALONE).grade is Grade.VERIFIED
    wrong = verified(tmp_path, PASS_ALONE, PASS_ALONE_WRONG)
    assert wrong.grade is Grade.DIFFERS
    assert "come back from the device" in wrong.reason


def test_a_program_may_print_its_own_name(tmp_path: Path) -> None:
    named = ORIGINAL.replace(
        "  cudaMalloc(&a", '  printf("[%s] starts\\n", argv[0]);\n  cudaMalloc(&a'
    )
    assert "argv[0]);" in named
    assert verified(tmp_path, named).grade is Grade.VERIFIED


def test_what_nothing_shows_cannot_be_told(tmp_path: Path) -> None:
    silent = verified(tmp_path, NO_RESULT)
    assert silent.grade is Grade.CANNOT_TELL
    assert "checksum" in silent.reason
    usage = verified(tmp_path, USAGE_ALONE)
    assert usage.grade is Grade.CANNOT_TELL
    assert "no kernel was launched" in usage.reason
    assert verified(tmp_path, USAGE_ALONE, inputs=((), ("50",))).grade is Grade.VERIFIED


FAILED_LAUNCH = """
#include <cstdio>
__global__ void good(int* p) { p[threadIdx.x] = threadIdx.x * 3; }
__global__ void large(int* p) {
  extern __shared__ int tile[];
  tile[threadIdx.x] = 1;
  p[threadIdx.x] += tile[threadIdx.x];
}
int main() {
  int *device, host[32];
  cudaMalloc(&device, sizeof host);
  good<<<1, 32>>>(device);
  large<<<1, 32, 300 * 1024>>>(device);
  cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
  for (int each : host) printf("%d ", each);
}
"""
"""The second launch wants more shared memory than any card has; nobody looks at the error."""


def test_a_launch_that_fails_on_both_sides_is_no_evidence(tmp_path: Path) -> None:
    result = verified(tmp_path, FAILED_LAUNCH)
    assert result.grade is Grade.CANNOT_TELL
    assert "large" in result.reason


@pytest.mark.slow
def test_every_trick_on_a_task_is_caught() -> None:
    moves = list(play(drawn(1, seed=4), list(TRICKS), seed=4))
    assert {each.trick for each in moves if each.played} == {HONEST_PORT, *TRICKS}
    assert [each for each in moves if each.caught == (each.trick == HONEST_PORT)] == []
