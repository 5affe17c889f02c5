"""Which ports lack a fence that their original has."""

from __future__ import annotations

import pytest

from cass_ray.execute.evidence.fences import lost_fences

FLAG = "__global__ void k(int* d, volatile int* f) {{ d[0] = 1; {} f[0] = 1; }}"


@pytest.mark.parametrize(
    ("original", "port", "lost"),
    [
        ("__threadfence();", "", "__threadfence() and the like 1 times, the port 0 times"),
        ("__threadfence();", "__syncthreads();", "the port 0 times"),
        ("__threadfence();", "/* __threadfence(); */", "the port 0 times"),
        ("__threadfence_system();", "// not needed here\n", "calls __threadfence_system()"),
        ("__threadfence(); __threadfence();", "__threadfence();", "2 times, the port 1 times"),
        ("__threadfence();", "__threadfence_system();", ""),
        ("__threadfence();", "__threadfence(); __threadfence();", ""),
        ("__threadfence();", '__builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");', ""),
        ("__threadfence();", 'asm volatile("s_waitcnt_vscnt null, 0x0");', ""),
        ("__threadfence_block();", "", ""),  # waves of a workgroup: races of LDS are looked for
        ("", "", ""),
    ],
)
def test_a_lost_fence_is_named(original: str, port: str, lost: str) -> None:
    texts = [{"a": FLAG.format(text).encode()} for text in (original, port)]
    message = lost_fences(texts[0], texts[1])
    assert lost in message
    assert bool(message) == bool(lost)


def test_a_fence_in_another_file_counts() -> None:
    original = {"a.cu": FLAG.format("publish();").encode(), "b.h": b"#define publish __threadfence"}
    port = {"a.hip": FLAG.format("publish();").encode()}
    assert lost_fences(original, port)
    assert lost_fences(original, {**port, "b.h": b"#define publish __threadfence"}) == ""
    assert lost_fences({"a.cu": b"__threadfence();"}, {}) == ""  # assembly, without a text
