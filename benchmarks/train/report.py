"""Results of ``benchmarks.train.gpu`` as ``benchmarks/results/train_gpu.{json,md}``.

python -m benchmarks.train.report FOLDER...

A folder holds what one call wrote. Figures of several GPUs stay as they were recorded, until a
machine with several measures them again.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.folders import RESULTS

Row = dict[str, Any]

PAYS = 1.03
"""The least speed-up that justifies an optimization of our own, on the case it was made for."""

MEASURE = """\
Every row ran in a process of its own (in the third call, the next one not before all of its memory
was free). Models have the published shapes of Qwen2.5-Coder and random weights, tokens are random,
the second half of every example is the answer. A step is 8 rows of up to 16,384 tokens, then
clipping and the optimizer (bitsandbytes' paged AdamW, bf16 weights updated in place unless the row
says masters); 2 (7B; 1 where every layer is checkpointed) or 3 (1.5B) steps are measured after at
least two rows and one update to warm up. *Real lengths* are those of the shipped programs' pairs
(`lengths.json`: source, assembly, or both), packed best-fit.

- **ordinary loop**: transformers' Qwen2, `layer.compile(dynamic=False)`, attention as PyTorch
  chooses it (cuDNN here), a compiled cross entropy on the answers' tokens
  (`benchmarks/train/ordinary.py`; nothing of ours). For real lengths it is *packed*:
  `torch.nn.attention.varlen` over whole documents, rows padded to the window or code for any size;
  ours is compared with the faster one.
- **plain loop**: the same with Liger's kernels and loss, not compiled.
- **ours**: what `jobs/configs/train_*.yaml` does on one GPU (`zero.stage: 0`).

"×" is the ratio to the row named beside it, **of the same call, hence the same card**, with moments
of the same width. The same loop twice in a call differed by 0.6%; cards differ by 2%. Tokens and
operations of padding and of recomputation do not count. MFU counts six operations a weight and
token, causal attention as half of the square within each document, the output head where a token is
predicted, over 990 TFLOP/s, for FP8 too. GiB are the peak of PyTorch's allocator, and the most that
the device itself reports at the ends of steps (the allocator's reserve, paged moments, kernels).
Start-up is from an empty GPU to the end of the warm-up; code that an earlier row of the call
compiled is taken from the compiler's cache.
"""

WRONG = """\
Until 28 November 2026 this page compared with a plain loop that was held to PyTorch's own flash
attention, which PyTorch does not choose on Hopper (265 against 474 TFLOP/s at 16K), and which
checkpointed every layer of 7B although 8-bit moments leave room for none; 32-bit moments of it
stood beside 8-bit ones of ours. "1.3 to 1.5 times the plain loop" came of that. On whole windows
there is no gain over the ordinary loop. What recipes ran (not compiled) was not what was measured.

The first two calls of this page had rows of any size and took examples from 2,048 tokens on through
cuDNN one by one: on source pairs alone that lost 4% to one call for all. Since then it is 4,096,
and windows are padded to one size (`compile: static`); source pairs have not been measured again.
`7b-both-ours` of the second call shared the GPU with a process that was ending, and was left out
and measured again in the third.
"""

LEFT_OUT = """\
Activation checkpointing by choice was measured compiled, where choosing which products to keep does
not work (compiled code hides them; those layers recomputed all but attention): 1.02 of the
compiler's memory budget, with more memory. Layers that recompute are not compiled since then.
torchtitan is not on the machine (nor are the packages that it needs), and neither is torchao: FP8
in both loops is ours. FlashAttention 4 and quack are on neither side. Not measured for want of
device time: 500 steps with and without fp32 masters, 7B's linear loss and packed attention alone,
"by choice" without compilation beside the ordinary loop on one card, generation and serving.
"""

GONE = """\
| piece | gain | what became of it |
|---|---|---|
| SwiGLU in the MLP's products (`model.fused_mlp`, quack) | 1.02 (1.5B), 1.01 (7B), ours with and \
without on one card, 28 November | removed |
"""

BOUNDS = """\
Of 28 November 2026 (`benchmarks.train.products_bound`): what a step's matrix products and its
attention take if there is nothing else. The card draws all of its 700 W for it and lowers its
clock, so that the last column is what a step in bf16 can reach with these libraries.
"""

SCALING = """\
Of 26 November 2026, two H200 (DeepSpeed 0.19.8, not compiled): 7B shapes, paged AdamW (8-bit), fp32
masters, gradients in bf16, 8 windows of 16,384 tokens a GPU and step (where rows are shared, two of
65,536 for all of them), every layer keeps its attention and recomputes the rest. Efficiency is
beside one GPU of the same run with the same ZeRO stage and windows.
"""


def base_of(row: Row, rows: list[Row]) -> Row | None:
    """The row that ``row`` is compared with: the faster of the part it names and its variant."""
    name = row.get("against")
    variants = {name, f"{name}-dynamic"} - {row["part"], None}
    known = [other for other in rows if other["part"] in variants]
    return max(known, key=lambda other: other["tokens_per_second"], default=None)


def _system(row: Row) -> str:
    any_size = ", compiled for any size" if row.get("compiled") is True else ""
    kept = row.get("recompute", "").split("; budget")[0]
    partly = f" ({kept})" if "products" in kept or "nothing" in kept else ""
    return f"{row['system']}{any_size}{partly}"


def _throughput(calls: list[dict[str, Any]]) -> Iterator[str]:
    sections = sorted(
        {row["section"] for call in calls for row in call["rows"] if row.get("section")}
    )
    for section in sections:
        yield from (f"### {section}", "")
        yield "| call | system | compared with | × | tokens/s | MFU | GiB: allocator, device \
| start-up, s | million tokens/kWh |"
        yield "|---|---|---|---|---|---|---|---|---|"
        for number, call in enumerate(calls, 1):
            for row in call["rows"]:
                if row.get("section") != section:
                    continue
                base = base_of(row, call["rows"])
                ratio = row["tokens_per_second"] / base["tokens_per_second"] if base else 0.0
                yield (
                    f"| {number} | {_system(row)} | {_system(base) if base else '–'} | "
                    f"{f'**{ratio:.2f}**' if base else '–'} | {row['tokens_per_second']:,.0f} | "
                    f"{row['mfu']:.1%} | {row['peak_gib']:.0f}, {row['device_gib']:.0f} | "
                    f"{row['startup_seconds']:.0f} | {row['tokens_per_kwh'] / 1e6:.0f} |"
                )
        yield ""


def _pieces(calls: list[dict[str, Any]]) -> Iterator[str]:
    gains = dict[str, list[tuple[str, float]]]()
    for call in calls:
        for row in call["rows"]:
            base = base_of(row, call["rows"])
            if row.get("piece") and base:
                ratio = row["tokens_per_second"] / base["tokens_per_second"]
                place = f"{row['shape'].upper()} {row['rows']}"
                gains.setdefault(row["piece"], []).append((place, ratio))
        for row in call["rows"]:
            if row["system"] == "muon":
                ratio = row["torch_ms"] / row["ours_ms"]
                gains["Muon's update (ours) beside `torch.optim.Muon`"] = [("0.1B", ratio)]
    yield "| piece | gain over the loop without it | at least 3% on what it is for |"
    yield "|---|---|---|"
    for piece, found in gains.items():
        shown = ", ".join(f"{ratio:.2f} ({place})" for place, ratio in found)
        best = max(ratio for _, ratio in found)
        yield f"| {piece} | {shown} | {'yes' if best >= PAYS else '**no**'} |"


def _bounds(rows: list[Row]) -> Iterator[str]:
    yield "| shapes | attention by | products, TFLOP/s | attention, TFLOP/s | both, TFLOP/s | MFU |"
    yield "|---|---|---|---|---|---|"
    for row in rows:
        rates = " | ".join(f"{row[k]['teraflops']:.0f}" for k in ("products", "attention", "both"))
        shape = row["part"].removesuffix("-bound")
        yield f"| {shape} | {row['attention by']} | {rates} | {row['both']['mfu']:.1%} |"


def _scaling(rows: list[Row]) -> list[str]:
    lines = [
        "| | GPUs | tokens/s each | efficiency | MFU | peak GiB | million tokens/kWh |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        first = row["system"].split(",")[0]
        alone = [
            other
            for other in rows
            if other["system"] == first
            and other["gpus"] == 1
            and (other.get("run"), other.get("window")) == (row.get("run"), row.get("window"))
        ]
        rate = row["tokens_per_second"]
        share = f"{rate / alone[0]['tokens_per_second']:.1%}" if alone else "–"
        lines.append(
            f"| {row['system']} | {row['gpus']} | {rate:,.0f} | {share} | {row['mfu']:.1%} | "
            f"{row['peak_gib']:.1f} | {row['tokens_per_kwh'] / 1e6:.1f} |"
        )
    return lines


def _checks(rows: list[Row]) -> Iterator[str]:
    for row in rows:
        if row["system"] == "checks":
            errors = [value for key, value in row.items() if ", keep " in key]
            yield (
                f"Gradients of a small packed bf16 model against fp32 without any of it (each "
                f"example alone, no fused kernel), by cuDNN and by flash attention, for every "
                f"level of recomputation: relative difference {min(errors):.4f} to "
                f"{max(errors):.4f}; loss {row['cudnn loss']:.2f} and {row['flash loss']:.2f} "
                f"against {row['loss_fp32']:.2f}."
            )


def read_call(folder: Path) -> dict[str, Any]:
    """Environment and rows of what lies in ``folder``."""
    rows = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    return {"environment": json.loads((folder / "environment.json").read_text()), "rows": rows}


def page(data: dict[str, Any]) -> Iterator[str]:
    """The lines of the page."""
    calls = data["calls"]
    yield from ("# Training on GPUs", "")
    for number, call in enumerate(calls, 1):
        made = call["environment"]
        versions = ", ".join(f"{name} {version}" for name, version in made["versions"].items())
        yield f"Call {number}, {made.get('day', '')}: {made['gpus']} {made['gpu']}; {versions}"
        yield from ("", f"    {made['command']}", "")
    yield from ("This page: `python -m benchmarks.train.report DIR...`", "")
    yield from ("## How we measure", "", MEASURE, LEFT_OUT)
    yield from ("## Throughput of one GPU", "", *_throughput(calls))
    yield from ("## What each piece of ours gains", "", *_pieces(calls), "", GONE)
    rows = [row for call in calls for row in call["rows"]]
    yield from ("## The same gradients", "", *_checks(rows), "")
    yield from ("## Products and attention alone", "", BOUNDS, *_bounds(data["bounds"]), "")
    yield from ("## Several GPUs", "", SCALING, *_scaling(data["several"]), "")
    yield from ("## What was wrong before", "", WRONG)


def main() -> None:
    """Write the page of the folders that are named."""
    path = RESULTS / "train_gpu.json"
    data = json.loads(path.read_text())
    data["calls"] = [read_call(Path(folder)) for folder in sys.argv[1:]] or data["calls"]
    path.write_text(json.dumps(data, indent=1) + "\n")
    (RESULTS / "train_gpu.md").write_text("\n".join(page(data)).rstrip() + "\n")


if __name__ == "__main__":
    main()
