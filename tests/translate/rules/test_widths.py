"""HIP that is right on 32 lanes only is reported with its line and advice; CUDA is made right."""

from __future__ import annotations

import pytest

from cass_ray.translate.diagnostics import diagnostic_of
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.protocol import Context
from cass_ray.translate.rules.widths import width_findings
from tests.translate.rules.wavefront_defects import KERNELS, cuda, naive_hip

EXPECTED = {
    "reduction": ("__shfl_down", "for (int step = 16"),
    "ballot": ("__ballot", "unsigned odd"),
    "shuffle": ("threadIdx.x & 31", "int lane"),
    "array": ("parts", "__shared__ int parts[256 / 32]"),
}


@pytest.mark.parametrize("name", KERNELS)
def test_each_defect_is_reported_at_its_line(name: str) -> None:
    source = naive_hip(name)
    construct, line = EXPECTED[name]
    lines = source.splitlines()
    found = {(each.construct, lines[each.line - 1].strip()) for each in width_findings(source)}
    assert any(one == construct and text.startswith(line) for one, text in found), found
    assert all(each.advice for each in width_findings(source))
    assert {diagnostic_of(each).code for each in width_findings(source)} == {"CASS1016"}


@pytest.mark.parametrize("name", KERNELS)
def test_the_engine_reports_it_unless_the_wavefront_has_32_lanes(name: str) -> None:
    rules, source = make_translator("rules"), naive_hip(name)
    assert rules.translate(source).findings == width_findings(source)
    assert rules.translate(source).source == source
    assert not rules.translate(source, context=Context(wavefronts=(32,))).findings


@pytest.mark.parametrize("name", KERNELS)
def test_what_is_translated_from_cuda_has_nothing_to_report(name: str) -> None:
    assert not make_translator("rules").translate(cuda(name)).findings


def hip(body: str) -> str:
    return f"#include <hip/hip_runtime.h>\n__global__ void k(int* p, int n) {{\n{body}\n}}\n"


@pytest.mark.parametrize(
    ("body", "construct"),
    [
        ("p[0] = __popc(__ballot(n));", "__ballot"),
        ("uint32_t m = __activemask();", "__activemask"),
        ("p[0] = static_cast<unsigned>(__ballot(n));", "__ballot"),
        ("p[0] = __shfl_sync(0xffffffff, n, 0);", "__shfl_sync"),
        ("const int WARP_SIZE = 32; p[0] = __shfl(n, WARP_SIZE - 1);", "WARP_SIZE"),
        ("p[threadIdx.x >> 5] = __shfl(n, 0);", "threadIdx.x >> 5"),
        ("int t = threadIdx.x; p[t / 32] = __shfl(n, 0);", "t / 32"),
        ("p[threadIdx.x / 32] = __popcll(__ballot(n) >> 3);", "threadIdx.x / 32"),
        ("int f = n & 32; p[threadIdx.x / 32] = __popcll(__ballot(n));", "threadIdx.x / 32"),
    ],
)
def test_forms(body: str, construct: str) -> None:
    findings = width_findings(hip(body))
    assert construct in [each.construct for each in findings]
    assert {diagnostic_of(each).code for each in findings} == {"CASS1016"}


@pytest.mark.parametrize(
    "body",
    [
        "unsigned long long m = __ballot(n); p[0] = __popcll(m);",
        "for (int s = warpSize / 2; s > 0; s /= 2) n += __shfl_down(n, s);",
        "for (int s = 16; s > 0; s /= 2) n += __shfl_down(n, s, 32);",
        "p[threadIdx.x % 32] = n; // a bank of LDS, no lane",
        "p[0] = __shfl_sync(0xffffffffffffffffull, n, 0);",
        "p[threadIdx.x & 31] = __popc((unsigned)(__ballot(n) >> (__lane_id() & 32)));",
        "int f = __lane_id() & ~31; p[threadIdx.x / 32] = (int)(__ballot(n) >> f);",
        "// unsigned m = __ballot(n);",
    ],
)
def test_what_is_right_on_64_lanes_is_not_reported(body: str) -> None:
    assert not width_findings(hip(body))
