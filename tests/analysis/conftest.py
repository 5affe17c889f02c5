"""A data set of five rows whose every number can be worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.datasets_on_disk import write_rows

SASS = """\
.target sm_80

Function : add
MOV R1, c[0x0][0x28]
LDG.E R2, [R4.64]
@P0 BRA .L_0
FADD R2, R2, R3
.L_0:
STG.E [R4.64], R2
EXIT
"""
"""Six instructions: 1 move, 2 memory, 1 floating point, 2 control flow."""

RDNA3 = """\
\t.text
\t.globl\tadd
add:
\ts_load_b64 s[0:1], s[4:5], 0x0
\tv_dual_mov_b32 v1, v2 :: v_dual_add_f32 v3, v4, v5 ; both halves count
.LBB0_1:
\tglobal_load_b32 v1, v0, s[0:1]
\ts_waitcnt vmcnt(0)
\tv_add_f32_e32 v1, 1.0, v1
\tglobal_store_b32 v0, v1, s[0:1]
\ts_endpgm
"""
"""Eight instructions: 3 memory, 2 floating point, 1 move, 1 synchronisation, 1 control flow."""

HOST = """\
\t.text
main:
\tpushq\t%rbp
\tmovq\t%rsp, %rbp # frame
\tlock addl $1, (%rax)
.Lend:
\tretq
\t.size\tmain, .-main
"""
"""Four instructions: 2 moves, 1 atomic, 1 control flow."""


def row(number: int, **changed: Any) -> dict[str, Any]:
    """A pair; its CUDA source has two lines that hold something."""
    return {
        "id": f"{number:064x}",
        "filename": f"p{number}.cu",
        "origin": "local",
        "repository": "someone/some",
        "license": "MIT",
        "domain": "general_compute",
        "cuda_source": "__global__ void add(float* a) {\n\n  a[0] += 1;}\n",
        "hip_source": "__global__ void add(float* a) {\n\n  a[0] += 1;}\n",
        "cuda_host": HOST,
        "hip_host": HOST,
        "cuda_device": SASS,
        "hip_device": RDNA3,
        "cuda_arch": ["sm_80"],
        "cuda_device_by_arch": [{"arch": "sm_80", "sass": SASS}],
        "hip_arch": "gfx1100",
        "kernels": ["add"],
        "verified": "compiled",
        **changed,
    }


def executed(number: int, **changed: Any) -> dict[str, Any]:
    """A pair with evidence: two launches of blocks of 128 and one of 96 threads."""
    counters = {"kernels": {"add": {"launches": 3, "instructions": 100, "lds": 20, "barriers": 5}}}
    evidence = {
        "runs": [],
        "launches": [
            "add <<<(4, 1, 1), (128, 1, 1)>>> × 2",
            "add <<<(1, 1, 1), (96, 1, 1), 64>>> × 1",
        ],
        "coverage": 0.5,
        "max_error": 0.0,
        "counters": json.dumps(counters),
    }
    return row(number, verified="executed", evidence=evidence, **changed)


@pytest.fixture(scope="module")
def five_rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three pairs (one of them generated), a duplicate of the first, one that did not compile."""
    folder = tmp_path_factory.mktemp("five")
    rows = [
        row(1),
        executed(2, license=""),
        row(3, origin="synthetic", repository="", kernels=["add", "mul"], hip_device=RDNA3 * 2),
        {
            **row(4),
            "stage": "deduplicate",
            "reason": "near_duplicate",
            "diagnostic": "",
            "duplicate_of": row(1)["id"],
        },
        {
            **row(5),
            "stage": "compile_amd",
            "reason": "compile_error",
            "diagnostic": "",
            "duplicate_of": "",
        },
    ]
    write_rows(rows, folder)
    return folder
