"""What :mod:`benchmarks.serve.gpu` found, as a page.

python -m benchmarks.serve.gpu_page OUT/serve_gpu.jsonl "the command that made it"
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.folders import RESULTS
from benchmarks.serve.decode_bound import BANDWIDTHS, tokens_per_second
from benchmarks.serve.shapes import SHAPES, VOCABULARY


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
    lines += bound(points, where["device"])
    return "\n".join(lines) + "\n"


def bound(points: list[dict[str, Any]], device: str) -> list[str]:
    """Decoding beside the bound by memory bandwidth.

    What decoding took of a batch is what is left of its time without its prompts, each as long as
    the first token of one long answer alone took.
    """
    bandwidth = BANDWIDTHS.get(device)
    alone = {
        (point["shape"], point["prompt"]): point
        for point in points
        if point.get("way") == "sample" and point["tokens"]
    }
    if bandwidth is None or not alone:
        return []
    rows = []
    for (shape, prompt), point in sorted(alone.items()):
        context = prompt + point["tokens"] / 2
        rows.append((shape, prompt, point["tokens"], 1, context, point["tokens_per_second"]))
    for point in points:
        known = alone.get((point.get("shape", ""), point.get("prompt", 0)))
        if point.get("way") == "batched" and known and point["concurrency"] == 32:
            count, new = point["concurrency"], point["new"]
            decoding = point["wall_s"] - count * known["first_token_s"]
            context = point["prompt"] + new / 2
            rows.append(
                (point["shape"], point["prompt"], new, count, context, count * new / decoding)
            )
    made = [
        "",
        "## Decoding beside what memory allows",
        "",
        "A step reads all weights but the embedding's once, and the keys and values of every "
        "request: tokens/s <= requests x bandwidth / (weights + requests x context x bytes of a "
        f"token's keys and values), with {bandwidth / 1e12:.2f} TB/s of the data sheet "
        "(`benchmarks/serve/decode_bound.py`). Of 32 at once, decoding is the whole time without "
        "32 prompts, each as long as one alone took to its first token: an estimate, since "
        "prompts and decoding share steps.",
        "",
        "| shape | tokens in + out | at once | tokens/s in decoding | bound | share (wanted 50%) |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for shape, prompt, new, count, context, rate in rows:
        most = tokens_per_second(SHAPES[shape], VOCABULARY, count, context, bandwidth)
        made.append(
            f"| {shape} | {prompt} + {new} | {count} | {rate:,.0f} | {most:,.0f} "
            f"| {rate / most:.0%} |"
        )
    return made


if __name__ == "__main__":
    sys.exit(main())
