"""Faults are planted where they are meant to be, one at a time."""

from __future__ import annotations

import random

import pytest

from cass_ray.execute.backends.base import Inputs
from cass_ray.execute.backends.rdna3 import Rdna3Backend
from cass_ray.execute.selftest.mutants import Fault, assembly_mutants, draw, source_mutants
from cass_ray.execute.selftest.selftest import Fate, Subject, larger, run_selftest, summarize
from tests.execute.conftest import HONEST, hip

SOURCE = """
__global__ void k(float* p, int* q, int n) {
  __shared__ float tile[32];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) tile[threadIdx.x % 32] = p[i] + 1.0f;
  __syncthreads();
  float v = __shfl_down_sync(0xffffffffu, tile[0], 2);
  atomicAdd(&q[0], i);
}
int main() {
  int a = 1 + 2;
  hipMemset(q, 0, 4);
  hipMemcpy(p, host, n * 4, hipMemcpyHostToDevice);
  k<<<n / 32, 32>>>(p, q, n);
}
"""

EXPECTED = {
    Fault.OPERATOR: {"* -> +", "+ -> -", "% -> /"},
    Fault.CONSTANT: {"32 -> 33", "1.0f -> 1.375f", "2 -> 3"},
    Fault.BOUND: {"< -> <="},
    Fault.BARRIER: {"__syncthreads() -> nothing"},
    Fault.SHUFFLE: {"2 -> (2) ^ 1", " -> , 16"},
    Fault.COPY_DIRECTION: {"hipMemcpyHostToDevice -> hipMemcpyDeviceToHost"},
    Fault.COPY_SIZE: {"n * 4 -> (n * 4) / 2"},
    Fault.INITIALIZATION: {"hipMemset(q, 0, 4) -> hipSuccess"},
    Fault.LAUNCH: {"n / 32 -> 1", "32 -> 1"},
    Fault.ATOMIC: {"atomicAdd(&q[0], i) -> *(& q [ 0 ]) += i"},
    Fault.WARP_SIZE: {"32 -> 64"},
}


@pytest.mark.parametrize("fault", EXPECTED)
def test_faults_in_source(fault: Fault) -> None:
    found = {mutant.change.strip() for mutant in source_mutants(SOURCE) if mutant.fault is fault}
    assert {change.strip() for change in EXPECTED[fault]} <= found
    assert all("1 + 2" in mutant.text for mutant in source_mutants(SOURCE))  # host code stays


def test_a_mutant_is_never_the_program_itself() -> None:
    source = SOURCE.replace("<<<n / 32, 32>>>", "<<<1, 32>>>")
    changes = [mutant.change for mutant in source_mutants(source) if mutant.fault is Fault.LAUNCH]
    assert changes == ["32 -> 1"]


@pytest.mark.parametrize(
    ("lists", "expected"),
    [
        ([(), ("40", "30", "2"), ("250", "200", "3")], ("750", "600", "3")),
        ([("--size", "100", "-5", "0.5"), ("31",)], ("--size", "300", "-5", "0.5")),
        ([(), ("3", "7")], None),
        ([], None),
    ],
)
def test_larger_inputs(lists: list[tuple[str, ...]], expected: tuple[str, ...] | None) -> None:
    found = larger([Inputs(each) for each in lists])
    assert (found and found.arguments) == expected


def test_faults_in_assembly() -> None:
    lines = ["s_waitcnt vmcnt(0)", "v_add_f32_e32 v1, v2, v3", "v_ashrrev_i32_e32 v2, 31, v1"]
    assembly = "".join(f"\t{line}\n" for line in [*lines, "s_barrier", "s_endpgm"])
    changes = {mutant.fault: mutant.text for mutant in assembly_mutants(assembly)}
    assert "waitcnt" not in changes[Fault.ASM_WAIT]
    assert "s_barrier" not in changes[Fault.ASM_BARRIER]
    assert "v1, v2, v2" in changes[Fault.ASM_OPERAND]


def test_drawing_is_repeatable_and_bounded() -> None:
    mutants = source_mutants(SOURCE)
    one = draw(mutants, random.Random(5), 1)
    assert one == draw(mutants, random.Random(5), 1)
    assert len({mutant.fault for mutant in one}) == len(one)


@pytest.mark.amd
@pytest.mark.slow
def test_selftest_catches_faults_and_raises_no_alarm(backend: Rdna3Backend) -> None:
    subject = Subject("honest", hip(HONEST), (Inputs(), Inputs(("77", "5"))))
    outcome = summarize(list(run_selftest([subject], backend)))
    assert outcome.false_alarms == {}
    fates = {mutant.fault: mutant.fate for mutant in outcome.mutants}
    assert fates[Fault.COPY_DIRECTION] is Fate.CHECK
    assert fates[Fault.COPY_SIZE] in {Fate.NUMERIC, Fate.CHECK, Fate.RUN}
    assert fates[Fault.ASM_WAIT] is Fate.FINDING
    assert outcome.kill_rate() >= 0.9, outcome.mutants


@pytest.mark.parametrize(
    ("written", "fate"),
    [pytest.param("n", Fate.EQUIVALENT, marks=pytest.mark.slow), ("n - 1", Fate.CHECK)],
)
def test_initialisation_is_needed_where_it_is_read(
    backend: Rdna3Backend, written: str, fate: Fate
) -> None:
    """Memory that is copied to the host; all of it, or all but the last number, is overwritten."""
    copied = "hipMemcpy(&sum, out,"
    cleared = f"""int* again;
  if (hipMalloc(&again, n * sizeof(int)) || hipMemset(again, 0, n * sizeof(int))) return 2;
  hipMemcpy(again, in, ({written}) * sizeof(int), hipMemcpyDeviceToDevice);
  hipMemcpy(host, again, n * sizeof(int), hipMemcpyDeviceToHost);
  printf("last %d\\n", host[n - 1]);
  {copied}"""
    subject = Subject("cleared", hip(HONEST.replace(copied, cleared)), (Inputs(arguments=("64",)),))
    outcome = summarize(list(run_selftest([subject], backend)))
    fates = [each.fate for each in outcome.mutants if each.fault is Fault.INITIALIZATION]
    assert fates == [fate]
