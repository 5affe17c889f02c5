"""One exchange of lanes that come to it by several instructions, in CUDA's words: lanes of a mask
give each other what each has brought, whichever branch it is in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path, PurePosixPath

import pytest

from cass_ray.emulator.execution import RunOptions
from cass_ray.lift import lift_cubin
from cass_ray.toolchain.locate import find_nvidia
from cass_ray.toolchain.unit import Unit
from tests.lift.lifted_programs import ProgramOnAmd, assert_prints, kernels_with_lane_scheduler
from tests.port.run_on_gpu import recorded

UNIT = Unit(Path(__file__).parent / "programs", PurePosixPath("exchanges.cu"))
THREADS = range(80)
NONE = [0] * len(THREADS)


@cache
def cubins() -> dict[str, bytes]:
    return find_nvidia().compile(UNIT, ("sm_80", "sm_90", "sm_120")).cubins


def lane(t: int) -> int:
    return t % 32


def warp(t: int) -> list[int]:
    """The threads of the warp of ``t``."""
    return [n for n in THREADS if n // 32 == t // 32]


def where(condition: Callable[[int], bool], yes: int) -> list[int]:
    """``yes`` by thread where the condition holds, else what memory was before."""
    return [yes if condition(t) else 0 for t in THREADS]


def bits(threads: Iterable[int]) -> int:
    return sum(1 << lane(t) for t in threads)


def of_lane(given: list[int], t: int, number: int) -> int:
    return given[t - lane(t) + number]


def unsigned(values: Iterable[int]) -> list[int]:
    return [value & 0xFFFFFFFF for value in values]


def shuffles() -> list[int]:
    given = [t * 3 if t & 1 else t * 5 for t in THREADS]
    found = [
        of_lane(given, t, (lane(t) + 2) % 16)
        if t & 1
        else of_lane(given, t, (lane(t) + 3) % 16) + 1000
        for t in THREADS
    ]
    return [*found, *where(lambda t: t & 1 == 1, 3), *NONE]


def in_third(t: int) -> bool:
    return lane(t) % 3 == 0


def directions() -> list[int]:
    given = [t if in_third(t) else 2 * t for t in THREADS]
    up = [given[t - 1] if t % 16 else given[t] for t in THREADS]
    down = [given[t + 2] + 1 if t % 8 < 6 else given[t] + 1 for t in THREADS]
    crossed = [given[t ^ 5] + 2 for t in THREADS]
    return [
        each if in_third(t) else each + 1000
        for found in (up, down, crossed)
        for t, each in enumerate(found)
    ]


def wide() -> list[int]:
    """In quarters."""
    found = []
    for t in THREADS:
        other = t ^ 1
        given = 4 * other + 1 if lane(other) % 4 == 1 else 8 * other + 2
        found.append(given if lane(t) % 4 == 1 else given + 4)
    return [*found, *where(lambda t: lane(t) % 4 == 1, 3), *NONE]


def votes() -> list[int]:
    flags = [t % 5 == 0 if in_third(t) else t % 7 == 1 for t in THREADS]
    some = [t == 33 if in_third(t) else t == 7 for t in THREADS]
    each = [t < 70 if in_third(t) else t < 80 for t in THREADS]
    results = (
        [bits(n for n in warp(t) if flags[n]) for t in THREADS],
        [int(any(some[n] for n in warp(t))) for t in THREADS],
        [int(all(each[n] for n in warp(t))) for t in THREADS],
    )
    return unsigned(
        value + (0 if in_third(t) else 1000) for found in results for t, value in enumerate(found)
    )


def matches() -> list[int]:
    given = [t % 5 if in_third(t) else t % 4 for t in THREADS]
    any_of = [bits(n for n in warp(t) if given[n] == given[t]) for t in THREADS]
    given = [t // 32 if in_third(t) or t >= 33 else 0 for t in THREADS]
    agree = [int(len({given[n] for n in warp(t)}) == 1) for t in THREADS]
    all_of = [bits(warp(t)) if agree[t] else 0 for t in THREADS]
    return unsigned(
        [
            *(value + (0 if in_third(t) else 1000) for t, value in enumerate(any_of)),
            *(value + (0 if in_third(t) else 1000) for t, value in enumerate(all_of)),
            *agree,
        ]
    )


def reductions() -> list[int]:
    terms = [t if in_third(t) else 2 * t for t in THREADS]
    least = [t + 9 if in_third(t) else t + 5 for t in THREADS]
    masks = [1 << lane(t) % (7 if in_third(t) else 11) for t in THREADS]
    results = (
        [sum(terms[n] for n in warp(t)) for t in THREADS],
        [min(least[n] for n in warp(t)) for t in THREADS],
        [sum({masks[n] for n in warp(t)}) for t in THREADS],
    )
    return [
        value + (0 if in_third(t) else 1000) for found in results for t, value in enumerate(found)
    ]


def memory() -> list[int]:
    first, second = [], []
    for t in THREADS:
        is_lower, other_is_lower = t % 16 < 8, (t ^ 8) % 16 < 8
        first.append((t ^ 8) * (2 if other_is_lower else 3) + (0 if is_lower else 1000))
        second.append((t ^ 9) + (0 if other_is_lower else 1) + (0 if is_lower else 1000))
    return [*first, *second, *NONE]


def half() -> list[int]:
    given = [t * 3 if t & 1 else t * 5 for t in THREADS]
    found = [
        t
        if lane(t) >= 16
        else of_lane(given, t, (lane(t) + 2) % 16)
        if t & 1
        else of_lane(given, t, (lane(t) + 1) % 16) + 1000
        for t in THREADS
    ]
    odd = [bits(n for n in warp(t) if found[n] & 1) for t in THREADS]
    return [*found, *where(lambda t: t & 1 == 1 and lane(t) < 16, 3), *odd]


def nested() -> list[int]:
    given = [t * (3, 1, 3, 2)[t % 4] for t in THREADS]
    distances, added = (3, 1, 3, 2), (1000, 0, 1000, 100)
    found = [of_lane(given, t, (lane(t) + distances[t % 4]) % 16) + added[t % 4] for t in THREADS]
    given = [found[t] * (5, 1, 5, 3)[t % 4] for t in THREADS]
    distances = (11, 7, 11, 5)
    sums = [found[t] + of_lane(given, t, (lane(t) + distances[t % 4]) % 16) for t in THREADS]
    odd = [sums[t] if t & 1 else 0 for t in THREADS]
    even = [0 if t & 1 else found[t] for t in THREADS]
    return [*sums, *odd, *even]


def in_a_loop() -> list[int]:
    sums, kept = list(THREADS), list(NONE)
    for k in range(5):
        is_first = [(lane(t) + k) % 3 == 0 for t in THREADS]
        given = [sums[t] if is_first[t] else sums[t] + k for t in THREADS]
        sums = [
            sums[t] + given[t ^ 1] if is_first[t] else sums[t] * 3 + given[t ^ 1] for t in THREADS
        ]
        kept = [sums[t] if is_first[t] else kept[t] for t in THREADS]
    return [*sums, *kept, *NONE]


def as_often() -> list[int]:
    sums, kept = list(THREADS), list(NONE)
    for k in (1, 2, 3):
        loops = [lane(t) % 5 == 2 for t in THREADS]
        given = [sums[t] if loops[t] else sums[t] + k for t in THREADS]
        sums = [sums[t] + given[t ^ k] if loops[t] else sums[t] * 2 + given[t ^ k] for t in THREADS]
        if k == 1:
            kept = [0 if loops[t] else sums[t] for t in THREADS]
    return [*sums, *kept, *NONE]


def rotated(given: list[int]) -> list[int]:
    found = [of_lane(given, t, (lane(t) + 1) % 16) for t in THREADS]
    return [each // 5 if each % 5 == 0 else each * 3 + 1 for each in found]


def called() -> list[int]:
    sums = rotated([t + 50 if in_third(t) else t * 3 for t in THREADS])
    sums = [each + 1000 if in_third(t) else each for t, each in enumerate(sums)]
    total = [sums[t] + each for t, each in enumerate(rotated(sums))]
    return [*total, *where(in_third, 1), *NONE]


def groups() -> list[int]:
    flags = [t % 5 == 0 if t & 1 else t % 7 == 1 for t in THREADS]
    given = [t * 3 if t & 1 else t * 5 for t in THREADS]
    terms = [t if t & 1 else 2 * t for t in THREADS]
    mates = [[n for n in warp(t) if n % 3 == t % 3] for t in THREADS]
    results = (
        [bits(n for n in mates[t] if flags[n]) for t in THREADS],
        [given[mates[t][0]] for t in THREADS],
        [sum(terms[n] for n in mates[t]) for t in THREADS],
    )
    return unsigned(
        value + (0 if t & 1 else 1000) for found in results for t, value in enumerate(found)
    )


def ended() -> list[int]:
    given = [t * (3, 5, 7)[lane(t) % 3] for t in THREADS]
    found = [
        t if lane(t) >= 13 else of_lane(given, t, (lane(t) + 1) % 12) + 1000 * (lane(t) % 3)
        for t in THREADS
    ]
    return [*found, *where(lambda t: lane(t) < 13 and in_third(t), 3), *NONE]


def chain() -> list[int]:
    found, kept = list(THREADS), list(NONE)
    for start in range(0, len(THREADS), 32):
        kept[start + 1] = start + 2 + 30
        kept[start + 2] = 1
        found[start] = kept[start + 1] * 2
        found[start + 1] = start + 10
        found[start + 2] = start + 1 + 20
    return [*found, *kept, *NONE]


def cases() -> list[int]:
    case = [(lane(t) * 7 + 3) % 6 for t in THREADS]
    given = [t * (case[t] + 1) for t in THREADS]
    found = []
    for t in THREADS:
        got = given[t ^ 3]
        found.append((got, got + 100, got + 200, got * 2, got * 3, got + 500)[case[t]])
    kept = [case[t] if case[t] in (2, 4) else 0 for t in THREADS]
    return [*found, *kept, *NONE]


EXPECTED = [
    f"{each.__name__} 0: {' '.join(map(str, each()))}"
    for each in (
        shuffles,
        directions,
        wide,
        votes,
        matches,
        reductions,
        memory,
        half,
        nested,
        in_a_loop,
        as_often,
        called,
        groups,
        ended,
        chain,
        cases,
    )
]


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.parametrize(
    "processor", ["gfx1100", "gfx942", pytest.param("gfx1201", marks=pytest.mark.slow)]
)
def test_lanes_of_several_branches_exchange_as_one(processor: str, tmp_path: Path) -> None:
    assert_prints(UNIT, processor, tmp_path, cubins(), EXPECTED)


def test_what_was_worked_out_here_is_what_a_gpu_said() -> None:
    assert recorded()["exchanges"]["output"].splitlines() == EXPECTED


def with_lane_scheduler(source: str, folder: Path) -> dict[str, set[str]]:
    """By architecture: kernels of ``source`` whose lanes are scheduled independently."""
    (folder / "others.cu").write_text(source)
    unit = Unit(folder, PurePosixPath("others.cu"))
    found = find_nvidia().compile(unit, ("sm_80", "sm_90", "sm_120")).cubins
    return {
        architecture: kernels_with_lane_scheduler(lift_cubin(cubin))
        for architecture, cubin in found.items()
    }


TOGETHER = r"""
#include <cooperative_groups.h>
using word = unsigned;

__device__ word sum_of(word value) {
  for (int k = 16; k > 0; k /= 2) value += __shfl_down_sync(~0u, value, k);
  return value;
}

__global__ void of_block(const word *in, word *out, word n) {
  __shared__ word sums[32];
  const word t = threadIdx.x;
  word sum = 0;
  for (word k = blockIdx.x * blockDim.x + t; k < n; k += blockDim.x * gridDim.x) sum += in[k];
  sum = sum_of(sum);
  if (t % 32 == 0) sums[t / 32] = sum;
  __syncthreads();
  if (t < 32) {
    sum = sum_of(t < blockDim.x / 32 ? sums[t] : 0);
    if (t == 0) out[blockIdx.x] = sum;
  }
}
__global__ void some_end(const word *in, word *out, word n) {
  const word t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  out[t] = __ballot_sync(__activemask(), in[t] > 3);
  if (in[t] == 7) return;
  out[t] += __popc(__activemask());
}
__global__ void by_argument(word *out, int kind, word n) {
  for (word t = threadIdx.x; t < n; t += blockDim.x) {
    word found = out[t];
    __syncwarp();
    if (kind == 1) {
      found += __shfl_xor_sync(~0u, found, 1);
      out[n + t] = found;
    } else {
      found = __shfl_xor_sync(~0u, found * 3, 2);
    }
    out[t] = found;
  }
}
__global__ void by_vote(const word *in, word *out) {
  const word t = threadIdx.x;
  word found = in[t];
  if (__any_sync(~0u, found > 100)) {
    found = __shfl_up_sync(~0u, found, 1);
    out[t + 64] = found;
  } else {
    found = __shfl_up_sync(~0u, found, 2) + 1;
  }
  out[t] = found;
}
__global__ void once_more(const word *in, word *out) {
  const word t = threadIdx.x;
  word found = in[t];
  if (in[t / 32] > 5) {
    found += __shfl_xor_sync(~0u, found, 4);
    out[t + 64] = found;
  }
  out[t] = found + __shfl_xor_sync(~0u, found, 8);
}
__global__ void in_rounds(const word *in, word *out, word n) {
  const word t = threadIdx.x;
  word found = 0;
  for (word k = 0; k < in[t / 32]; ++k) {
    found += __shfl_xor_sync(~0u, in[t + k], 4);
    if (found > 900) break;
    if (t % 32 == 3) out[t + 64] = found;
    found += __shfl_xor_sync(~0u, found, 8);
  }
  out[t] = found + __shfl_xor_sync(~0u, found, 1);
}
__global__ void of_other_kinds(word *out) {
  const word t = threadIdx.x;
  if (t % 32 < 16) {
    out[t] = __shfl_xor_sync(0xffff, t, 1);
  } else {
    out[t] = __ballot_sync(0xffff0000, t % 3 == 0);
  }
}
__global__ void of_other_lanes(word *out) {
  const word t = threadIdx.x;
  if (t % 32 < 16) {
    out[t] = __shfl_xor_sync(0xffff, t, 1);
  } else {
    out[t] = __shfl_xor_sync(0xffff0000, t * 3, 2) + 1;
  }
}
__global__ void of_two_votes(const word *in, word *out) {
  const word t = threadIdx.x, v = in[t];
  const word odd = __ballot_sync(~0u, v & 1), even = __ballot_sync(~0u, !(v & 1));
  if (v & 1) {
    out[t] = __shfl_sync(odd, v, __ffs(odd) - 1) + __ballot_sync(odd, v > 5);
  } else {
    out[t] = __shfl_sync(even, v * 2, __ffs(even) - 1) - __ballot_sync(even, v > 8);
  }
}
__global__ void of_those_that_are_there(const word *in, word *out) {
  const word t = threadIdx.x, v = in[t];
  if (v & 1) {
    const word all = __activemask();
    out[t] = __shfl_sync(all, v, __ffs(all) - 1);
  } else {
    const word all = __activemask();
    out[t] = __shfl_sync(all, v * 2, __ffs(all) - 1) + 1;
  }
}
__global__ void tiles(word *out) {
  const auto tile = cooperative_groups::tiled_partition<8>(cooperative_groups::this_thread_block());
  const word t = threadIdx.x;
  if (tile.any(t % 5 == 0)) out[t + 64] = 3;
  tile.sync();
  if (tile.thread_rank() == 0) out[t + 128] = t;
  out[t] = tile.shfl_xor(t * 3, 1);
}
"""
"""Of these lanes never come to one exchange by several instructions."""


@pytest.mark.nvidia
@pytest.mark.amd
def test_kernels_whose_lanes_exchange_together_pay_nothing(tmp_path: Path) -> None:
    for architecture, kernels in with_lane_scheduler(TOGETHER, tmp_path).items():
        assert kernels == set(), architecture


OF_ONE_VOTE = r"""
using word = unsigned;

__global__ void of_one_vote(const word *in, word *out) {
  const word t = threadIdx.x, v = in[t], some = __ballot_sync(~0u, v > 3);
  if (v <= 3) return;
  if (v & 1) {
    out[t] = __shfl_sync(some, v, __ffs(some) - 1);
  } else {
    out[t] = __shfl_sync(some, v * 2, __ffs(some) - 1) + 1;
  }
}
"""
"""Here they do: the mask is one for both branches."""


@pytest.mark.nvidia
@pytest.mark.amd
def test_masks_that_one_vote_made_may_be_equal(tmp_path: Path) -> None:
    for architecture, kernels in with_lane_scheduler(OF_ONE_VOTE, tmp_path).items():
        assert kernels == {"_Z11of_one_votePKjPj"}, architecture


NEVER_MET = r"""
using word = unsigned;

// The second exchange is for lanes, too, that never come to it.
__global__ void awaits(word *out) {
  const word t = threadIdx.x;
  word found;
  if (t & 1) {
    found = __shfl_xor_sync(~0u, t, 1);
    out[t + 64] = found;
    found += __shfl_xor_sync(~0u, found, 2);
  } else {
    found = __shfl_xor_sync(~0u, t * 2, 1) + 5;
  }
  __syncthreads();
  out[t] = found;
}

int main() {
  word *out;
  cudaMalloc(&out, 128 * sizeof *out);
  awaits<<<1, 64>>>(out);
  return cudaDeviceSynchronize() != cudaSuccess;
}
"""


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.parametrize("processor", ["gfx1100", "gfx942"])
def test_lanes_that_wait_for_others_in_vain_are_an_error(processor: str, tmp_path: Path) -> None:
    (tmp_path / "awaits.cu").write_text(NEVER_MET)
    unit = Unit(tmp_path, PurePosixPath("awaits.cu"))
    cubin = find_nvidia().compile(unit, ("sm_90",)).cubins["sm_90"]
    program = ProgramOnAmd(unit, processor, tmp_path, RunOptions(seconds=60, kernel_seconds=20))
    with pytest.raises(AssertionError, match="s_trap"):
        program.printed(cubin)
