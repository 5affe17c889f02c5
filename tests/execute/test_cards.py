"""What a program prints of its card, or makes of it, is the same for an original and its port."""

from __future__ import annotations

from pathlib import Path

import pytest

from cass_ray.execute.backends.base import Backend, RunMode
from cass_ray.execute.backends.rdna3 import Rdna3Backend, presented
from cass_ray.execute.backends.registry import make_backend
from cass_ray.execute.grades import Grade
from cass_ray.execute.originals import reference_backends
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.pipeline.stages.order import STAGES, StageContext, make_stages
from cass_ray.pipeline.stages.reference import ReferenceStage
from cass_ray.pipeline.workspace import Workspace
from cass_ray.public.gathering import gathered
from cass_ray.public.verifying import Comparison, compare_programs

ORIGINAL = r"""
#include <cstdio>
#include <cuda_runtime.h>
__global__ void add(int* p, int n) {
  const int step = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) p[i] += i % 7;
}
int main() {
  cudaDeviceProp prop;
  cudaGetDeviceProperties(&prop, 0);
  int clock = 0, sms = 0;
  size_t available = 0, total = 0;
  cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, 0);
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
  cudaMemGetInfo(&available, &total);
  printf("running on %s, warp size %d, %d SMs\n", prop.name, 32, prop.multiProcessorCount);
  printf("%d * 2 = %d\n", sms, sms * 2);
  printf("%zu of %zu\n", total >> 20, prop.totalGlobalMem >> 20);
  printf("clock %d, bus %d, L2 %d\n", clock, prop.memoryBusWidth, prop.l2CacheSize);
  if (prop.multiProcessorCount > 200) printf("a large card\n");
  int* p;
  int sum = 0, values[10000] = {};
  cudaMalloc(&p, sizeof values);
  cudaMemset(p, 0, sizeof values);
  add<<<sms, 32>>>(p, 10000);
  cudaMemcpy(values, p, sizeof values, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 10000; ++i) sum += values[i] * (i % 5);
  printf("sum %d\n", sum);
}
"""

WRONG = [
    pytest.param("prop.name,", '"AMD Radeon RX 7900 XT",', id="the name of the first card"),
    pytest.param("Count > 200", "Count > 2000", id="a branch"),
    pytest.param("= gridDim.x * blockDim.x", "= 42 * 32", id="the step of a kernel"),
    pytest.param(
        "  const int step", "  if (blockIdx.x >= 42) return;\n  const int step", id="blocks"
    ),
    pytest.param("add<<<sms, 32>>>", "add<<<sms, 32>>>(p, 42);\n  add<<<sms, 32>>>", id="launches"),
]


def hip(text: str) -> str:
    return (
        text.replace("cuda_runtime.h", "hip/hip_runtime.h")
        .replace("cuda", "hip")
        .replace("hipDevAttrClockRate", "hipDeviceAttributeClockRate")
        .replace("hipDevAttrMultiProcessorCount", "hipDeviceAttributeMultiprocessorCount")
        .replace("hipDeviceProp ", "hipDeviceProp_t ")
    )


def written(folder: Path, port: str) -> tuple[Path, Path]:
    (folder / "a.cu").write_text(ORIGINAL)
    (folder / "a.hip").write_text(port)
    return folder / "a.cu", folder / "a.hip"


@pytest.mark.nvidia
@pytest.mark.amd
def test_a_right_port_agrees_on_every_card(tmp_path: Path) -> None:
    cards = ["gfx1100", "gfx942", "gfx90a", "gfx1200", "gfx1201"]
    made = compare_programs(*written(tmp_path, hip(ORIGINAL)), Comparison(), cards)
    assert {name: each.reason for name, each in made.items()} == dict.fromkeys(cards, "")
    assert all(each.reference_kind == "lifted sm_90" for each in made.values())
    assert made["gfx942"].reference.endswith(", with the properties of gfx942")


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.parametrize(("right", "wrong"), WRONG)
def test_a_port_that_has_the_first_cards_numbers_differs_on_the_second(
    tmp_path: Path, right: str, wrong: str
) -> None:
    text = hip(ORIGINAL)
    assert text.count(right) == 1
    programs = written(tmp_path, text.replace(right, wrong))
    made = compare_programs(*programs, Comparison(), ["gfx942"])
    assert made["gfx942"].grade is Grade.DIFFERS


@pytest.mark.nvidia
@pytest.mark.amd
def test_a_translated_original_finds_the_ports_card_too(tmp_path: Path) -> None:
    how = Comparison(reference_backend="rdna3")
    made = compare_programs(*written(tmp_path, hip(ORIGINAL)), how, ["gfx1100", "gfx942"])
    assert [each.numeric for each in made.values()] == [True, True], made["gfx942"].reason


PRINTS = r"""
#include <cstdio>
#include <hip/hip_runtime.h>
__global__ void set(int* p) { *p = warpSize; }
int main() {
  hipDeviceProp_t prop;
  if (hipGetDeviceProperties(&prop, 0) != hipSuccess) return 1;
  int *p, lanes = 0;
  if (hipMalloc(&p, sizeof *p) != hipSuccess) return 1;
  set<<<1, 1>>>(p);
  if (hipMemcpy(&lanes, p, sizeof *p, hipMemcpyDeviceToHost) != hipSuccess) return 1;
  printf("%s %s %d %d %d\n", prop.name, prop.gcnArchName, prop.multiProcessorCount, prop.warpSize,
         lanes);
}
"""


@pytest.mark.amd
@pytest.mark.parametrize(
    ("shown", "printed"),
    [  # names and compute units (CDNA) or work group processors (RDNA): AMD's data sheets
        ("", "AMD Radeon RX 7900 XT gfx1100 42 32 32\n"),
        ("gfx942", "AMD Instinct MI300X gfx1100 304 32 32\n"),
        ("gfx90a", "AMD Instinct MI250X gfx1100 110 32 32\n"),
        ("gfx1200", "AMD Radeon RX 9060 XT gfx1100 16 32 32\n"),
        ("gfx1201", "AMD Radeon RX 9070 XT gfx1100 32 32 32\n"),
    ],
)
def test_a_card_with_the_name_and_sizes_of_another_runs_its_own_code(
    tmp_path: Path, shown: str, printed: str
) -> None:
    backend = Rdna3Backend(threads=1)
    (tmp_path / "a.hip").write_text(PRINTS)
    built = backend.build(gathered(tmp_path / "a.hip", in_project=False))
    done = backend.shown_as(shown).run(built)
    assert done.ended.stdout.decode() == printed, done.ended.stderr


TIMES = r"""
#include <chrono>
#include <cstdio>
#include <hip/hip_runtime.h>
__global__ void count(int* p) {
  for (int i = 0; i < 1000; ++i) atomicAdd(p, 1);
}
int main() {
  hipEvent_t start, stop;
  int* p;
  float by_events = 0;
  if (hipMalloc(&p, sizeof *p) || hipEventCreate(&start) || hipEventCreate(&stop)) return 1;
  const auto before = std::chrono::steady_clock::now();
  if (hipEventRecord(start)) return 1;
  count<<<1, 64>>>(p);
  if (hipEventRecord(stop) || hipEventSynchronize(stop)) return 1;
  const std::chrono::duration<float, std::milli> by_host =
      std::chrono::steady_clock::now() - before;
  if (hipEventElapsedTime(&by_events, start, stop)) return 1;
  puts(by_events > by_host.count() ? "longer" : "within");
}
"""


@pytest.mark.amd
def test_no_rounding_hides_that_the_other_card_is_slower(tmp_path: Path) -> None:
    """Times between events lie within the host's: on the other card they are longer by far."""
    backend = Rdna3Backend(threads=1)
    (tmp_path / "a.hip").write_text(TIMES)
    built = backend.build(gathered(tmp_path / "a.hip", in_project=False))
    done = [backend.run(built, mode=RunMode(varied=varied)).ended for varied in (False, True)]
    assert [each.stdout for each in done] == [b"within\n", b"longer\n"], done[0].stderr


@pytest.mark.parametrize(
    ("mode", "shown", "variable"),
    [
        (RunMode(), "", "gfx1100"),
        (RunMode(), "gfx1100", "gfx1100"),
        (RunMode(), "gfx942", "gfx1100=gfx942"),
        (RunMode(varied=True), "", "gfx1100+"),
        (RunMode(varied=True), "gfx942", "gfx1100=gfx942+"),
    ],
)
def test_how_the_runtime_is_told(mode: RunMode, shown: str, variable: str) -> None:
    assert presented("gfx1100", mode, shown) == variable


def test_references_present_the_card_of_the_port() -> None:
    port = make_backend("rdna3", "gfx942")
    assert [each.presents for each in reference_backends(None, port)] == ["", "gfx942", "gfx942"]
    assert make_backend("lifted").presents == "gfx1100"


@pytest.mark.parametrize(
    ("port", "card"),
    [
        (make_backend("amd", "gfx942"), "gfx942"),  # a real card: one of its architecture
        (make_backend("amd", "gfx1201"), "gfx1201"),
        (make_backend("amd", "gfx1100"), "gfx1100"),
        (make_backend("amd", "gfx1030"), "gfx1100"),  # the emulator has no card of that one
        (make_backend("rdna3", "gfx90a"), "gfx90a"),
        (make_backend("hip-on-nvidia"), "gfx1100"),
    ],
)
def test_a_lifted_original_finds_the_card_of_the_port_or_its_like(port: Backend, card: str) -> None:
    nvidia, lifted, last = reference_backends(None, port)
    assert (nvidia.presents, lifted.presents) == ("", card)
    assert last.name == port.name


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.parametrize("architecture", ["gfx1100", "gfx942", "gfx1201"])
def test_originals_of_rows_find_the_card_of_the_first_target(
    architecture: str, tmp_path: Path
) -> None:
    settings = BuildSettings(
        sources=["shipped"], out=str(tmp_path), execute=True, amd_architectures=(architecture,)
    )
    context = StageContext(settings, Workspace(lambda name: b""))
    stages = make_stages([e for e in STAGES if e.name == "lifted reference"], context)
    assert [each.backend.presents for each in stages if isinstance(each, ReferenceStage)] == [
        architecture
    ]
