"""Results of ``benchmarks.train.gpu`` as ``benchmarks/results/train_gpu.{json,md}``.

python -m benchmarks.train.report FOLDER...          of these runs alone
python -m benchmarks.train.report --add FOLDER...    of these behind those that are recorded

A run's results may lie in several folders below ``FOLDER``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.folders import RESULTS

EXPLANATION = """\
Every part ran once, in a process of its own; where a machine has two GPUs, parts of one GPU ran
side by side, a system and what it is compared with on the same one. A step is 8 windows of 16,384
tokens, then clipping and the optimizer; 2 (7B) or 3 (1.5B) steps are measured after one to warm
up. The second half of every example is the answer. The plain loop is transformers' Qwen2 with
Liger's kernels, paged AdamW (32-bit), torch's flash attention, one sequence of 16,384 tokens a
pass. MFU counts six operations a weight and token, causal attention as half of the square, and the
output head where a token is predicted, for both systems alike, over 990 TFLOP/s. Nothing
recomputed counts. Peak memory is that of PyTorch's allocator; the moments of a paged optimizer
come on top, in unified memory: 8 bytes a weight, 2 where they are 8-bit. Between the first two
runs, the output head began to take its logits in larger pieces
(`cass_ray.train.model.kernels.logits_budget`). Run 3 (26 November 2026) had two GPUs of a machine
whose two others ran reinforcement learning, on 64 cores that had other work too. Products in FP8
are those of the output projection and the MLP (queries, keys and values have biases); MFU is of
bf16's 990 TFLOP/s for them as well. Run 4 (28 November 2026) had one GPU of three
machines in turn: attention by cuDNN, FP8 and the second of two rows alike are of one of them, the
others with FlashAttention 4 of another. Run 5 is of the same day, and so is run 6: SwiGLU in the
MLP's products (`model.fused_mlp`) beside the same without, on one card. Cards differ: on another,
a few minutes later, 7B took 58.2% and 1.5B 54.1% with it, with a variant that keeps gate and up
interleaved between the passes (7 GiB more for 7B) and was not faster. It was withdrawn.
"""

BOUNDS = """\
What a step's matrix products and its attention take if there is nothing else (no norm, no
activation, no loss, no optimizer; `benchmarks.train.products_bound`), for ten seconds after five
to warm up. **The card draws all of its 700 W and lowers its clock (1,980 MHz at most) for it**, so
that the last column is what a step in bf16 can reach on it with these libraries.
"""

PACKING = """\
Ten thousand examples are drawn from the lengths that the shipped programs' pairs have
(`lengths.json`): source pairs, assembly pairs, or both. The baseline pads batches of four examples
in random order (the CASS paper's batch) to the longest of the batch, once on the same engine and
kernels, so that packing is all that differs, and once as the usual recipe does it: the plain loop
with an attention mask and every layer checkpointed. The last columns pad every example to the
window. On the same kernels packing gains one over the useful share, and a little more for the
attention that padding costs: 1.8 can be reached where lengths differ as much as those of both
levels do, not on source pairs alone, of which padding to the longest of four wastes a fifth.
"""

SCALING = """\
7B shapes, paged AdamW (8-bit), fp32 masters, gradients in bf16, 8 windows of 16,384 tokens a GPU
and step (where rows are shared, two of 65,536 for all of them), every layer keeps its attention and
recomputes the rest, whatever the number of GPUs. Efficiency is beside one GPU of the same run with
the same ZeRO stage and windows. Energy is that of the GPU of the first worker.
"""


def _throughput(rows: list[dict[str, Any]]) -> list[str]:
    lines = [
        "| shapes | system | windows a pass | optimizer | fp32 masters | kept for the backward "
        "pass | tokens/s | × plain | MFU | peak GiB | million tokens/kWh |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for shape in ("7b", "1.5b"):
        same = [
            row
            for row in rows
            if row.get("shape") == shape and row["system"] in ("plain loop", "ours")
        ]
        plain = [row for row in same if row["system"] == "plain loop"]
        best = max((row["tokens_per_second"] for row in plain), default=None)
        for row in same:
            kept = row.get("recompute", "").split("; budget")[0]
            kept = kept or f"checkpointing: {row.get('checkpointing')}"
            ratio = f"{row['tokens_per_second'] / best:.2f}" if best else "–"
            lines.append(
                f"| {shape} | {row['system']}{_how(row)} | "
                f"{row.get('windows_at_once', 1):g} | {row['optimizer']} | "
                f"{'yes' if row.get('master_weights') else 'no'} | {kept} | "
                f"{row['tokens_per_second']:,.0f} | {ratio} | {row['mfu']:.1%} | "
                f"{row['peak_gib']:.1f} | {row['tokens_per_kwh'] / 1e6:.1f} |"
            )
    return lines


def _how(row: dict[str, Any]) -> str:
    compiled = {True: ", compiled", "static": ", compiled for one size"}
    fp8 = ", products in FP8" if row.get("fp8") else ""
    flash = ", FlashAttention 4" if row.get("attention") == "flash-attn" else ""
    mlp = ", MLP fused" if row.get("fused_mlp") else ""
    return compiled.get(row.get("compiled", False), "") + fp8 + flash + mlp


def _bounds(rows: list[dict[str, Any]]) -> list[str]:
    lines = [
        "| shapes | attention by | products: TFLOP/s | attention: TFLOP/s | both: TFLOP/s "
        "| SM clock, MHz | watts | MFU |",
        "|---|---|---|---|---|---|---|---|",
    ]
    names = {"flash-attn": "FlashAttention 4", "cudnn": "cuDNN"}
    for row in rows:
        both = row["both"]
        lines.append(
            f"| {row['part'].removesuffix('-bound')} | {names[row['attention by']]} | "
            f"{row['products']['teraflops']:.0f} | {row['attention']['teraflops']:.0f} | "
            f"{both['teraflops']:.0f} | {both['sm_mhz']:,.0f} | {both['watts']:.0f} | "
            f"{both['mfu']:.1%} |"
        )
    return lines


def _packing(rows: list[dict[str, Any]]) -> list[str]:
    """Of one run; the row of whole windows is what padding to the window costs."""
    whole = next((r["tokens_per_second"] for r in rows if r["part"] == "1.5b-ours"), None)
    lines = [
        "| examples of | packed: fill | examples a window | tokens/s | padded to the longest of 4: "
        "useful share | same kernels, useful tokens/s | gain | plain loop, useful tokens/s | gain "
        "| padded to the window: useful share | same kernels, gain |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        if row["system"] != "packing":
            continue
        padded, gain = row["useful_tokens_per_second_padded"], row["gain"]
        share = row["useful_share_window"]
        rate = row["packed_tokens_per_second"]
        lines.append(
            f"| {row['task']} | {row['fill']:.1%} | {row['examples_a_window']:.1f} | {rate:,.0f} | "
            f"{row['useful_share_longest_of_four']:.1%} | {padded['same_kernels']:,.0f} | "
            f"**{gain['same_kernels']:.2f}** | {padded['plain_loop']:,.0f} | "
            f"**{gain['plain_loop']:.2f}** | {share:.1%} | "
            + (f"**{rate / (whole * share):.2f}** |" if whole else "– |")
        )
    return lines


def _scaling(rows: list[dict[str, Any]]) -> list[str]:
    found = [row for row in rows if row["system"].startswith("ZeRO-")]
    if not found:
        return []
    lines = [
        "| | GPUs | tokens/s each | efficiency | MFU | peak GiB | million tokens/kWh |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in found:
        first = row["system"].split(",")[0]
        alone = [
            r
            for r in found
            if r["system"] == first and r["gpus"] == 1 and r.get("window") == row.get("window")
        ]
        rate = row["tokens_per_second"]
        share = f"{rate / alone[0]['tokens_per_second']:.1%}" if alone else "–"
        lines.append(
            f"| {row['system']} | {row['gpus']} | {rate:,.0f} | {share} | {row['mfu']:.1%} | "
            f"{row['peak_gib']:.1f} | {row['tokens_per_kwh'] / 1e6:.1f} |"
        )
    return lines


def _checks(rows: list[dict[str, Any]]) -> list[str]:
    lines = []
    for row in rows:
        if row["system"] == "checks":
            errors = [value for key, value in row.items() if ", keep " in key]
            has_package = any(key.startswith("flash-attn,") for key in row)
            backends = "all three" if has_package else "both"
            fused = " (one with fused MLPs too)" if any("MLP fused" in key for key in row) else ""
            lines.append(
                f"Gradients of a small packed bf16 model against fp32 without any of it (each "
                f"example alone, no fused kernel), for {backends} attention backends{fused} and "
                f"every level of recomputation: relative difference {min(errors):.4f} to "
                f"{max(errors):.4f}; loss {row['cudnn loss']:.2f} and "
                f"{row['flash loss']:.2f} against {row['loss_fp32']:.2f}."
            )
    return lines


def read_run(folder: Path) -> dict[str, Any]:
    """Environment and rows of what lies in ``folder``, in the order of time."""
    rows, commands, environment = list[dict[str, Any]](), list[str](), dict[str, Any]()
    found = sorted(folder.rglob("results.jsonl"), key=lambda path: path.stat().st_mtime)
    for path in found:
        rows += [json.loads(line) for line in path.read_text().splitlines()]
        own = json.loads(path.with_name("environment.json").read_text())
        commands += [own["command"]]
        environment = {**own, "gpus": max(own["gpus"], environment.get("gpus", 0))}
    bounds = [
        json.loads(line)
        for path in sorted(folder.rglob("bounds.jsonl"))
        for line in path.read_text().splitlines()
    ]
    run = {"environment": environment | {"command": "\n    ".join(commands)}, "rows": rows}
    return run | ({"bounds": bounds} if bounds else {})


def page(runs: list[dict[str, Any]]) -> Iterator[str]:
    """The lines of the page."""
    yield from ("# Training on GPUs", "")
    for number, run in enumerate(runs, 1):
        found = run["environment"]
        versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
        yield from (f"Run {number}: {found['gpus']} {found['gpu']}; {versions}", "")
        yield from (f"    {found['command']}", "")
    yield from ("This page: `python -m benchmarks.train.report [--add] DIR...`", "", EXPLANATION)
    for number, run in enumerate(runs, 1):
        if any(row["system"] in ("plain loop", "ours") for row in run["rows"]):
            yield from (f"## Throughput of one GPU, run {number}", "")
            yield from (*_throughput(run["rows"]), "")
    for number, run in enumerate(runs, 1):
        if bounds := run.get("bounds"):
            title = f"## Products and attention alone, run {number}"
            yield from (title, "", BOUNDS, *_bounds(bounds), "")
    for number, run in enumerate(runs, 1):
        if scaling := _scaling(run["rows"]):
            yield from (f"## Several GPUs, run {number}", "", SCALING, *scaling, "")
    for run in runs:
        if any(row["system"] == "packing" for row in run["rows"]):
            title = "## Packing against padding (1.5B shapes)"
            yield from (title, "", PACKING, *_packing(run["rows"]), "")
    rows = [row for run in runs for row in run["rows"]]
    yield from ("## The same gradients", "", *_checks(rows))


def main() -> None:
    arguments = sys.argv[1:]
    data, runs = RESULTS / "train_gpu.json", list[dict[str, Any]]()
    if arguments[:1] == ["--add"]:
        runs = json.loads(data.read_text())["runs"]
        arguments = arguments[1:]
    runs += [read_run(Path(folder)) for folder in arguments]
    data.write_text(json.dumps({"runs": runs}, indent=1) + "\n")
    (RESULTS / "train_gpu.md").write_text("\n".join(page(runs)) + "\n")


if __name__ == "__main__":
    main()
