"""Speed of the attention kernel over pages, beside the memory that it has to read.

    python -m benchmarks.serve.paged_decode            on a GPU; half a minute

One JSON line for each setting of the kernel: TB/s of keys and values at 16K tokens a sequence, for
the heads of the 1.5B and the 7B shape, by the number of sequences.
"""

from __future__ import annotations

import itertools
import json
import sys
import time

import torch

from serve.generation import paged_decode

LENGTH = 16_384
PAGE = 256
SIZE = 128
SHAPES = {"1.5b": (12, 2), "7b": (28, 4)}
SEQUENCES = (1, 8, 32)
SETTINGS = list(itertools.product((32, 64, 128), (2, 4, 8), (2, 3, 4), (4,)))
SETTINGS += [(64, 4, 3, 2), (64, 4, 3, 8), (64, 4, 3, 16)]


def main() -> int:
    """Measure all settings within ninety seconds."""
    begun = time.monotonic()
    cases = {}
    for shape, (heads, key_heads) in SHAPES.items():
        for sequences in SEQUENCES:
            pages = torch.randperm(sequences * (LENGTH // PAGE + 1), device="cuda").int()
            cache = torch.randn(
                2, len(pages), PAGE, key_heads, SIZE, device="cuda", dtype=torch.bfloat16
            )
            asked = torch.randn(sequences, 1, heads, SIZE, device="cuda", dtype=torch.bfloat16)
            new = torch.randn(2, sequences, 1, key_heads, SIZE, device="cuda").bfloat16()
            lengths = torch.full((sequences,), LENGTH - 1, device="cuda", dtype=torch.int32)
            table = pages.view(sequences, -1)
            cases[shape, sequences] = (asked, cache[0], cache[1], new[0], new[1], lengths, table)
    for setting in SETTINGS:
        if time.monotonic() - begun > 90:
            break
        tile, warps, stages, programs = setting
        paged_decode._MOST_TILE, paged_decode._WARPS = tile, warps
        paged_decode._STAGES, paged_decode._PROGRAMS_A_PROCESSOR = stages, programs
        line: dict[str, object] = dict(
            zip(("tile", "warps", "stages", "programs"), setting, strict=True)
        )
        for (shape, sequences), case in cases.items():
            read = 2 * 2 * LENGTH * sequences * SHAPES[shape][1] * SIZE
            seconds = graph_seconds(case)
            line[f"{shape} x{sequences}"] = f"{read / seconds / 1e12:.2f}"
        print(json.dumps(line), flush=True)
    return 0


Case = tuple[
    torch.Tensor,
    torch.Tensor,
    torch.Tensor,
    torch.Tensor,
    torch.Tensor,
    torch.Tensor,
    torch.Tensor,
]
"""What the function takes before its options: see its signature."""


def graph_seconds(case: Case, calls: int = 20) -> float:
    """Of one call among many in a CUDA graph, as the service runs them."""
    paged_decode.flash_attn_with_kvcache(*case)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            paged_decode.flash_attn_with_kvcache(*case)
    graph.replay()
    torch.cuda.synchronize()
    started = time.perf_counter()
    graph.replay()
    torch.cuda.synchronize()
    return (time.perf_counter() - started) / calls


if __name__ == "__main__":
    sys.exit(main())
