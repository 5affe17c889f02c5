"""Results of ``benchmarks.train.gpu`` as ``benchmarks/results/train_gpu.{json,md}``.

python -m benchmarks.train.report FOLDER...
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[1] / "results"

EXPLANATION = """\
Every part ran once, in a process of its own, on the same machine, one after the other. A step is 8
windows of 16,384 tokens, then clipping and the optimizer; 2 (7B) or 3 (1.5B) steps are measured
after one to warm up. The second half of every example is the answer. The plain loop is
transformers' Qwen2 with Liger's kernels, paged AdamW (32-bit), torch's flash attention, one
sequence of 16,384 tokens a pass. MFU counts six operations a weight and token, causal attention as
half of the square, and the output head where a token is predicted, for both systems alike, over 990
TFLOP/s. Nothing recomputed counts. Peak memory is that of PyTorch's allocator; the moments of a
paged optimizer come on top, in unified memory: 8 bytes a weight, 2 where they are 8-bit.
"""


def _throughput(rows: list[dict[str, Any]]) -> list[str]:
    lines = [
        "| shapes | system | optimizer | fp32 masters | kept for the backward pass | tokens/s | "
        "× plain | MFU | peak GiB | million tokens/kWh |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for shape in ("7b", "1.5b"):
        same = [row for row in rows if row.get("shape") == shape and "tokens_per_second" in row]
        plain = [row for row in same if row["system"] == "plain loop"]
        best = max((row["tokens_per_second"] for row in plain), default=None)
        for row in same:
            kept = row.get("recompute", "").split("; budget")[0]
            kept = kept or f"checkpointing: {row.get('checkpointing')}"
            ratio = f"{row['tokens_per_second'] / best:.2f}" if best else "–"
            lines.append(
                f"| {shape} | {row['system']} | {row['optimizer']} | "
                f"{'yes' if row.get('master_weights') else 'no'} | {kept} | "
                f"{row['tokens_per_second']:,.0f} | {ratio} | {row['mfu']:.1%} | "
                f"{row['peak_gib']:.1f} | {row['tokens_per_kwh'] / 1e6:.1f} |"
            )
    return lines


def _packing(rows: list[dict[str, Any]]) -> list[str]:
    lines = [
        "| task | fill | examples a window | packed tokens/s | padded to the longest of 4: useful "
        "tokens/s | gain | useful share when padded to the window |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        if row["system"] == "packing":
            gain = row["gain_over_padding_to_the_longest_of_four"]
            lines.append(
                f"| {row['task']} | {row['fill']:.1%} | {row['examples_a_window']:.1f} | "
                f"{row['packed_tokens_per_second']:,.0f} | "
                f"{row['padded_useful_tokens_per_second']:,.0f} | {gain:.2f} | "
                f"{row['share_useful_when_padded_to_the_window']:.1%} |"
            )
    return lines


def _scaling(rows: list[dict[str, Any]]) -> list[str]:
    found = [row for row in rows if row["system"].startswith("ZeRO-")]
    if not found:
        return []
    lines = ["", "| | GPUs | tokens/s each | efficiency |", "|---|---|---|---|"]
    for row in found:
        alone = [r for r in found if r["system"] == row["system"] and r["gpus"] == 1]
        rate = row["tokens_per_second"]
        share = f"{rate / alone[0]['tokens_per_second']:.1%}" if alone else "–"
        lines.append(f"| {row['system']} | {row['gpus']} | {rate:,.0f} | {share} |")
    return lines


def _checks(rows: list[dict[str, Any]]) -> list[str]:
    lines = []
    for row in rows:
        if row["system"] == "checks":
            errors = [value for key, value in row.items() if ", keep " in key]
            lines.append(
                f"Gradients of a small packed bf16 model against fp32 without any of it (each "
                f"example alone, no fused kernel), for both attention backends and every level of "
                f"recomputation: relative difference {min(errors):.4f} to {max(errors):.4f}; loss "
                f"{row['cudnn loss']:.2f} and {row['flash loss']:.2f} against "
                f"{row['loss_fp32']:.2f}."
            )
    return lines


def main() -> None:
    """Write both files."""
    rows: list[dict[str, Any]] = []
    environments = []
    for folder in map(Path, sys.argv[1:]):
        rows += [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
        environments.append(json.loads((folder / "environment.json").read_text()))
    content = {"environments": environments, "rows": rows}
    (RESULTS / "train_gpu.json").write_text(json.dumps(content, indent=1) + "\n")
    versions = environments[0]["versions"]
    lines = [
        "# Training on one H200",
        "",
        f"{environments[0]['gpu']}; " + ", ".join(f"{k} {v}" for k, v in versions.items()),
        "",
        "    python -m benchmarks.train.gpu --out DIR && python -m benchmarks.train.report DIR",
        "",
        EXPLANATION,
        "## Throughput",
        "",
        *_throughput(rows),
        "",
        "## Packing against padding (1.5B shapes, lengths of the shipped programs' pairs)",
        "",
        *_packing(rows),
        *_scaling(rows),
        "",
        "## The same gradients",
        "",
        *_checks(rows),
    ]
    (RESULTS / "train_gpu.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
