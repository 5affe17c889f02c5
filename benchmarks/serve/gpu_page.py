"""What :mod:`benchmarks.serve.gpu` found, as a page.

python -m benchmarks.serve.gpu_page OUT/serve_gpu.jsonl "the command that made it"
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.folders import RESULTS


def main() -> int:
    """Write ``benchmarks/results/serve_gpu.json`` and ``serve_gpu.md``."""
    points = [json.loads(line) for line in Path(sys.argv[1]).read_text().splitlines()]
    found = {"command": sys.argv[2], "points": points}
    (RESULTS / "serve_gpu.json").write_text(json.dumps(found, indent=1) + "\n")
    (RESULTS / "serve_gpu.md").write_text(page(points, sys.argv[2]))
    return 0


def page(points: list[dict[str, Any]], command: str) -> str:
    """As Markdown; the gain is over plain generation of the same shape in the same run."""
    where = next(point for point in points if "device" in point)
    lines = [
        "# Generation on one GPU",
        "",
        f"{where['device']}, PyTorch {where['torch']}, transformers {where['transformers']}. "
        f"`{command}`. Random weights in bfloat16, greedy. Plain is `model.generate`, one request "
        "after another; batched is the service's manager with that many requests at once. Plain "
        "generation launches every kernel from Python: where both shapes are equally fast, the "
        "host is what limits it.",
        "",
        "| shape | tokens in + out | way | at once | tokens/s | p50 s | gain |",
        "|---|---|---|---:|---:|---:|---:|",
    ]
    plain = {point["shape"]: point for point in points if point.get("way") == "plain"}
    for point in points:
        if point.get("way") not in ("plain", "batched") or "p50_s" not in point:
            continue
        gain = point["tokens_per_second"] / plain[point["shape"]]["tokens_per_second"]
        lines.append(
            f"| {point['shape']} | {point['prompt']} + {point['new']} | {point['way']} "
            f"| {point['concurrency']} | {point['tokens_per_second']} | {point['p50_s']} "
            f"| {gain:.1f} × |"
        )
    lines += ["", "One long answer, alone; seconds from the request to the token:", ""]
    for point in points:
        if point.get("way") == "sample" and point["tokens"]:
            marks = ", ".join(f"{n}: {s} s" for n, s in point["seconds_at_tokens"].items())
            lines.append(
                f"- {point['shape']}, {point['prompt']} in: first token {point['first_token_s']} "
                f"s, then {point['tokens_per_second']} tokens/s. {marks}; "
                f"{point['tokens']} tokens in all."
            )
    for point in points:
        if "check" in point:
            lines += [
                "",
                "Largest difference of the attention kernels from PyTorch's attention in float32, "
                f"inputs of variance 1 in bfloat16: over pages {point['paged']:.4f}, over "
                f"sequences of different lengths {point['varied_lengths']:.4f}.",
            ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
