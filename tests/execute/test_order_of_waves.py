"""What a race decides shows nothing of a port, and is the same in each run of the judge."""

from __future__ import annotations

import pytest

from cass_ray.execute.backends.base import Inputs
from cass_ray.execute.backends.rdna3 import Rdna3Backend
from cass_ray.execute.grades import Grade
from cass_ray.execute.references import measure
from cass_ray.execute.verify import Policy, verify
from tests.execute.conftest import hip

PROGRAM = """
#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void work(int* p) {
  __shared__ int s[256];
  const int i = blockIdx.x * blockDim.x + threadIdx.x, b = blockIdx.x;
  BODY
}
int main() {
  int host[256], *p;
  for (int i = 0; i < 256; ++i) host[i] = 3 * i + 1;
  hipMalloc(&p, sizeof host);
  hipMemcpy(p, host, sizeof host, hipMemcpyHostToDevice);
  work<<<BLOCKS, 256 / BLOCKS>>>(p);
  hipMemcpy(host, p, sizeof host, hipMemcpyDeviceToHost);
  long sum = 0;
  for (int i = 0; i < 256; ++i) sum += (i + 1) * (long)host[i];
  printf("%ld\\n", sum);
  printf("first %d last %d\\n", host[0], host[255]);
}
"""
RACES = {
    "a sum without an atomic": "p[0] = p[0] + i;",
    "a maximum without an atomic": "if (p[0] < 1000 + i) p[0] += i;",
    "a neighbor before its wave wrote it": "s[i] = p[i]; p[i] = s[(i + 1) % 256];",
    "a neighbor that is overwritten in place": "int v = p[(i + 32) % 256]; p[i] = v + p[i];",
    "a tree without barriers": "s[i] = p[i]; "
    "for (int n = 128; n > 0; n /= 2) if (i < n) s[i] += s[i + n]; p[i] = s[0];",
}
ORDERLY = {
    "a sum by atomics": "atomicAdd(&p[0], i);",
    "a neighbor behind a barrier": "s[i] = p[i]; __syncthreads(); p[i] = s[(i + 1) % 256];",
    "the same value by all": "if (p[i] > 2) s[0] = 7; __syncthreads(); p[i] = s[0] + i;",
    "a tree with barriers": "s[i] = p[i]; __syncthreads(); "
    "for (int n = 128; n > 0; n /= 2) { if (i < n) s[i] += s[i + n]; __syncthreads(); } "
    "p[i] = s[0];",
    "lanes of one wave": "p[i] = __shfl_xor(p[i], 1) + i;",
}


OF_BLOCKS = {
    "who writes last": "p[0] = b;",
    "a neighbor before it is written": "p[i] = p[(i + 32) % 256] + 1;",
    "a sum without an atomic, by order": "if (i % 32 == 0) p[0] = 3 * p[0] + b;",
}
ORDERLY_BLOCKS = {
    "a sum by atomics": "atomicAdd(&p[0], i);",
    "a maximum by atomics": "atomicMax(&p[255], 7 * i % 251);",
    "each its own": "p[i] = p[i] * 2 + b;",
}


def grade(
    backend: Rdna3Backend, body: str, port: str = "", blocks: int = 1, check: bool = True
) -> tuple[Grade, str]:
    texts = (PROGRAM.replace("BODY", each).replace("BLOCKS", f"{blocks}") for each in (body, port))
    original, other = (backend.build(hip(text)) for text in texts)
    reference = measure(backend, original, [Inputs()])
    result = verify(reference, other if port else original, backend, Policy(check=check))
    return result.grade, result.reason


@pytest.mark.amd
@pytest.mark.parametrize("body", RACES.values(), ids=RACES)
def test_what_races_decide_is_not_verified(backend: Rdna3Backend, body: str) -> None:
    found, why = grade(backend, body)
    assert found in (Grade.AGREES, Grade.CANNOT_TELL)
    assert "race" in why or "another order" in why


@pytest.mark.amd
@pytest.mark.parametrize("body", ORDERLY.values(), ids=ORDERLY)
def test_what_no_order_decides_is(backend: Rdna3Backend, body: str) -> None:
    assert grade(backend, body) == (Grade.VERIFIED, "")


@pytest.mark.amd
@pytest.mark.parametrize("body", OF_BLOCKS.values(), ids=OF_BLOCKS)
def test_what_the_order_of_workgroups_decides_cannot_be_told(
    backend: Rdna3Backend, body: str
) -> None:
    """Also without checking mode, as rewards are judged."""
    assert grade(backend, body, blocks=8, check=False)[0] is Grade.CANNOT_TELL


@pytest.mark.amd
@pytest.mark.parametrize("body", ORDERLY_BLOCKS.values(), ids=ORDERLY_BLOCKS)
def test_what_no_order_of_workgroups_decides_is_verified(backend: Rdna3Backend, body: str) -> None:
    assert grade(backend, body, blocks=8) == (Grade.VERIFIED, "")


@pytest.mark.amd
@pytest.mark.parametrize(
    ("original", "port"),
    [
        ("p[i] += b;", "p[i] += b; if (b == 7) p[0] = 9;"),
        ("p[0] = b; p[255] = 5;", "p[0] = b; p[255] = 6;"),
        ("atomicAdd(&p[0], i);", "p[0] = p[0] + i;"),
    ],
    ids=["wrong", "wrong beside the original's race", "a race of its own"],
)
def test_a_race_excuses_no_other_difference(
    backend: Rdna3Backend, original: str, port: str
) -> None:
    assert grade(backend, original, port, blocks=8)[0] is Grade.DIFFERS


LOCKED = """
  if (threadIdx.x == 0) {
    while (atomicCAS(&p[254], 763, 0) != 763) {}
    *(volatile int*)&p[0] += b;
    __threadfence();
    atomicExch(&p[254], 763);
  }"""
TAKEN = "while (atomicCAS(&p[254], 763, 0) != 763) {}"


@pytest.mark.amd
@pytest.mark.parametrize("instead", [TAKEN, "", "atomicExch(&p[254], 0);"])
def test_a_lock_that_no_one_takes_is_seen(backend: Rdna3Backend, instead: str) -> None:
    """Between one wave's read and its write others get a turn, also where each is a workgroup."""
    found, why = grade(backend, LOCKED, LOCKED.replace(TAKEN, instead), blocks=8)
    assert (found is Grade.VERIFIED) == (instead == TAKEN), why


@pytest.mark.amd
def test_a_port_of_what_races_may_differ_where_it_races_itself(backend: Rdna3Backend) -> None:
    """The sum of all words tells of the race, whose result has another scale here."""
    found, why = grade(backend, "p[0] = b;", "p[0] = 3 * b + 100;", blocks=8)
    assert found is Grade.CANNOT_TELL
    assert "another order" in why
