"""Results of ``benchmarks.train.gpu`` as ``benchmarks/results/train_gpu.{json,md}``.

python -m benchmarks.train.report FOLDER...

A folder holds what one call wrote, and is added to what is there. Figures of several GPUs stay as
they were recorded, until a machine with several measures them again.
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
Every row ran in a process of its own, the next one not before all of its memory was free. Models
have the published shapes of Qwen2.5-Coder and random weights, tokens are random, the second half of
every example is the answer. A step is 8 rows of up to 16,384 tokens, then clipping and the
optimizer (bitsandbytes' paged AdamW, bf16 weights updated in place); 2 (7B; 1 where every layer is
checkpointed) or 3 (1.5B) steps are measured after at least two rows and one update to warm up.
*Real lengths* are those of the shipped programs' pairs (`lengths.json`: source, assembly, or both),
packed best-fit.

- **ordinary loop**: transformers' Qwen2, `layer.compile(dynamic=False)`, attention as PyTorch
  chooses it (cuDNN here), a compiled cross entropy on the answers' tokens
  (`benchmarks/train/ordinary.py`; nothing of ours). For real lengths it is *packed*:
  `torch.nn.attention.varlen` over whole documents and layers compiled for any size, which is the
  faster of two ways: in the session before it was 1.03 of rows padded to the window (1.5B, both).
- **plain loop**: the same with Liger's kernels and loss, not compiled.
- **ours**: what `jobs/configs/train_*.yaml` does on one GPU (`zero.stage: 0`): the same layers,
  compiled for the first size of row and, once there is another, for any; rows padded to a multiple
  of 128 tokens; attention of all examples of a row in one call of cuDNN, through
  `nvidia-cudnn-frontend`, which PyTorch does not reach for examples of several lengths.

"×" is the ratio to the row named beside it, **of the same call, hence the same card**, with moments
of the same width. A part that ran several times in a call, first and last, is shown by its mean.
The same loop twice in a call differed by 0.6%; cards differ by 2%. The first row of call 4, the
ordinary loop's at 1.5B, is 2 to 4% below what it gave in the others: the 1.02 beside it is no gain.

MFU counts six operations a weight and token, causal attention as **half** of the square within each
document (torchtitan's log counts the whole square), the output head where a token is predicted,
over 990 TFLOP/s, for FP8 too. Tokens and operations of padding and of recomputation do not count.

GiB are the peak of PyTorch's allocator, and the most that the device itself reports at the ends of
steps (the allocator's reserve, paged moments, kernels).
Start-up is from an empty GPU to the end of the warm-up; code that an earlier row of the call
compiled is taken from the compiler's cache.

Of the first two calls only rows without our loop are shown, since that has changed since. Between
the third call and the fourth our loss on answers was compiled for one size (before, for any) and
clipping no longer waits for the gradients' norm. In the fifth and the sixth the measurements had
four of the machine's processors, the others were busy at the lowest priority; calls 7 and 8 ran at
once, on the two GPUs of one machine, with three processors each beside such work. In call 8 the
first row is ours and the last the ordinary loop's: the 1.03 between them is no gain either, as four
other calls show.

torchtitan is release 0.2.2 with its own trainer, data loader, fused AdamW and log, on
Qwen2.5-Coder's shape, fp32 weights by autocast; every token is predicted, by ours beside it, too.
ZeRO is DeepSpeed's 0.19.8, on one GPU, where it divides nothing: its cost is what `zero.stage: 0`
saves.
"""

LEFT_OUT = """\
FlashAttention 4 and quack are on neither side. Whole windows at 7B gain nothing over the ordinary
loop, since kernels take the same time (below); nor does our trial of the compiler's memory budget
over the budget that it chooses, when a person knows it. What ours adds is attention over packed
examples, FP8, the trial itself, checkpoints and fp32 masters.

A recipe as it stands (`jobs/configs/train_1.5b_source.yaml`) by Ray Train and DeepSpeed on real
pairs, source, 1.5B (`python -m benchmarks.train.recipe_run`, both GPUs of that machine): 52,986
tokens/s on one GPU (46.9% MFU, 3 steps; 110 s from the start of the job to its first step) and
51,019 on each of two (44.9%, one step; 135 s), 1.93 times one.

Generation is a page of its own (`serve_gpu.md`): vLLM, which is twice as fast, took the place of
ours.
"""

GONE = """\
| piece | gain | what became of it |
|---|---|---|
| SwiGLU in the MLP's products (`model.fused_mlp`, quack) | 1.02 (1.5B), 1.01 (7B), ours with and \
without on one card, 28 November | removed |
| linear loss (ours) | 0.99 (1.5B whole) | removed: a compiled cross entropy up to 2^31 logits, \
beyond it Liger's (`model.liger`), or pieces that the backward pass makes again |
| choosing products to keep (ours) | 1.02 of the compiler's memory budget (7B whole) | removed: \
the compiler's memory budget, by trial |
| FlashAttention 4's package (a pre-release) | 1.05 (1.5B whole) and 1.01 (7B whole) of cuDNN's \
attention, 1.16 (0.1B packed) of PyTorch's flash attention, 28 November | kept, without code of \
ours: PyTorch calls the package's kernels in the place of its own; not measured again since |
| examples one by one through cuDNN from 4,096 tokens on, shorter ones by flash attention | 1.05 \
(1.5B both), 1.05 (7B both), 0.96 (1.5B source) | removed: one call for all |
| rows padded to the window (`compile: static`) | 0.97 (1.5B source, same card) | read as `true`, \
with a warning |
| q, k and v, and gate and up, each as one product | 0.97 (1.5B source, same card): products 3% \
faster, the compiler's code for their gradients slower | not kept |
| two windows a pass (`batch.micro_batch_size`) | 1.01 (1.5B whole) | kept for the small models, \
whose recipes set 4 and 8; the others have 1 |
| Liger's linear loss (`model.liger`) | 1.00 (1.5B whole) | taken beyond 2^31 logits alone, where \
it saves their memory |
| replicated engine (ours) | 1.00 | kept: it is not there for speed, but is the loop without \
DeepSpeed (`zero.stage: 0`), with its checkpoints and fp32 masters |
"""

GPU_TESTS = """\
`pytest tests/train/model/test_on_a_gpu.py tests/train/engines/test_engines.py
tests/train/test_sequence_parallel.py` on the card of call 8: the first 48 of 53 passed, those of
ZeRO 1 to 3 among them; then the time that they had was over (five of shared rows, on CPUs).
"""

LINES = """\
`cass_ray/train` had 8,370 lines on the morning of 29 November and has 8,211 since. Gone: a second
round on answers that ran right (`rejection`; `jobs/train_rl.py` learns from them), packings that no
recipe set, and FlashAttention 2's package, which is PyTorch's own flash attention. What only the
published small models needed is in `recipes/`.
"""

PROFILE = """\
One packed row of source pairs, 1.5B, forward and backward, by `torch.profiler`, ms of kernels
(third row: predicted before it was measured, by 28 times what attention gained alone). Kernels add
up to 0.81 of the time that the row takes in a step: not gaps, but the clock, which falls under
sustained load at 700 W.

| | products | attention | compiled elementwise code | rest | all |
|---|---|---|---|---|---|
| packed ordinary loop | 171 | 49 | 29 | 8 | 257 |
| ours with joint products, flash attention | 167 | 48 | 44 | 8 | 266 |
| with cuDNN's attention | 171 | 32 | 29 | 8 | 240 |

Attention alone, forward and backward, TFLOP/s, cuDNN and PyTorch's `varlen_attn` (12 query heads of
128, 2 of keys): seven examples of about 2,350 tokens 305 and 200; 8,749 + 7,586 tokens 418 and 239;
10,981 + 4,905 tokens 435 and 237; one of 16,384 tokens 474 and 263. With 28 and 4 heads: 337 and
217, 421 and 257, 419 and 258, 454 and 273. A plan for a new shape takes 0.15 s.
"""

LONG = """\
A model of Qwen2.5-0.5B's shape with fresh weights learns this repository's text
(`benchmarks/train/long_runs.py`: rows of 4,096 tokens, 635 of them, one a step, the same in the
same order; AdamW, 3e-4 at its highest, to zero as a cosine over 1,000 steps), four runs at once on
one card. Loss of 24 held-out rows after so many steps; the second row is the first once more, so
that what is between them is chance (0.3%). fp32 masters with gradients added up in fp32 end 0.8%
lower after 500 steps. FP8 ends its 1,000 steps 0.1% above bf16 (the last two rows, of call 6, two
runs at once on the text as it was then: 653 rows); on the way it is never more than 0.6% above, and
that in the first 200 steps.
"""

WRONG = """\
Until 28 November 2026 this page compared with a plain loop that was held to PyTorch's own flash
attention, which PyTorch does not choose on Hopper (265 against 474 TFLOP/s at 16K), and which
checkpointed every layer of 7B although 8-bit moments leave room for none; 32-bit moments of it
stood beside 8-bit ones of ours. "1.3 to 1.5 times the plain loop" came of that. On whole windows
there is no gain over the ordinary loop. What recipes ran (not compiled) was not what was measured.

Until the morning of 29 November our loop attended to long examples one by one and to short ones
together, broke each layer's compiled code for it, padded rows to the window (which cost source
pairs 5% and assembly 9% of their tokens), and waited for the gradients' norm before each update.
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
    name = row.get("against") or ""
    variants = {name, name.replace("-packed", "-padded")} - {row["part"]}
    known = [other for other in rows if other["part"] in variants]
    return max(known, key=lambda other: other["tokens_per_second"], default=None)


def _system(row: Row) -> str:
    kept = row.get("recompute", "nothing").split(";")[0]
    partly = "" if kept == "nothing" else f" ({kept})"
    several = f", mean of {row['runs']} runs" if row.get("runs", 1) > 1 else ""
    return f"{row['system']}{partly}{several}"


def _shown(row: Row, key: str, unit: float = 1.0) -> str:
    """A figure, or a dash: torchtitan's log does not have all."""
    return f"{row[key] / unit:.0f}" if key in row else "–"


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
                    f"{row['mfu']:.1%} | {row['peak_gib']:.0f}, {_shown(row, 'device_gib')} | "
                    f"{_shown(row, 'startup_seconds')} | {_shown(row, 'tokens_per_kwh', 1e6)} |"
                )
        yield ""


def _pieces(calls: list[dict[str, Any]]) -> Iterator[str]:
    gains = dict[str, list[tuple[str, float]]]()
    for call in calls:
        for row in call["rows"]:
            base = base_of(row, call["rows"])
            piece = "products in FP8 (ours)" if row.get("fp8") else row.get("piece")
            if piece and base:
                ratio = row["tokens_per_second"] / base["tokens_per_second"]
                place = f"{row['shape'].upper()} {row['rows']}"
                gains.setdefault(piece, []).append((place, ratio))
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
            errors = [value for key, value in row.items() if ", " in key]
            yield (
                f"Gradients of a small packed bf16 model against fp32 without any of it (each "
                f"example alone, no fused kernel), by cuDNN and by flash attention, compiled and "
                f"not, with and without recomputation: relative difference {min(errors):.4f} to "
                f"{max(errors):.4f}; loss {row['cudnn loss']:.2f} and {row['flash loss']:.2f} "
                f"against {row['loss_fp32']:.2f}."
            )
            yield ""
            yield GPU_TESTS


def _kernels(rows: list[Row]) -> Iterator[str]:
    """Kernels of one row, by kind, each side beside the other."""
    timed = [row for row in rows if row["system"] == "kernel times"]
    if timed:
        yield "| shape | loop | products | attention | compiled code | rest | all |"
        yield "|---|---|---|---|---|---|---|"
    for row in timed:
        kinds = ("products", "attention", "compiled", "rest")
        shown = " | ".join(f"{row['kinds'].get(kind, 0.0):.1f}" for kind in kinds)
        yield f"| {row['shape'].upper()} | {row['side']} | {shown} | {row['all']:.1f} |"


def _long(rows: list[Row]) -> Iterator[str]:
    steps = sorted({int(step) for row in rows for step in row["held_out"]})
    yield "| | " + " | ".join(f"{step:,}" for step in steps) + " |"
    yield "|---" * (len(steps) + 1) + "|"
    for row in rows:
        losses = {int(step): loss for step, loss in row["held_out"].items()}
        shown = " | ".join(f"{losses[step]:.3f}" if step in losses else "–" for step in steps)
        yield f"| {row['title']} | {shown} |"


def read_call(folder: Path) -> dict[str, Any]:
    """Environment and rows of what lies in ``folder``."""
    rows = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    environment = json.loads((folder / "environment.json").read_text())
    return {"environment": environment, "rows": merged(rows)}


def merged(rows: list[Row]) -> list[Row]:
    """Runs of one part as one row: the means of its figures, and in ``runs`` how many there are."""
    parts: dict[str, list[Row]] = {}
    for row in rows:
        parts.setdefault(row["part"], []).append(row)
    return [_mean(same) if len(same) > 1 else same[0] for same in parts.values()]


def _mean(same: list[Row]) -> Row:
    figures = {key for key, value in same[0].items() if isinstance(value, float)}
    means = {key: sum(row[key] for row in same) / len(same) for key in figures}
    return {**same[0], **means, "runs": len(same)}


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
    yield from ("## What each piece of ours gains", "", *_pieces(calls), "", GONE, LINES)
    rows = [row for call in calls for row in call["rows"]]
    yield from ("## The same gradients", "", *_checks(rows), "")
    yield from ("## Where the time goes", "", PROFILE, *_kernels(rows), "")
    yield from ("## Losses of long runs", "", LONG, *_long(data["long"]), "")
    yield from ("## Products and attention alone", "", BOUNDS, *_bounds(data["bounds"]), "")
    yield from ("## Several GPUs", "", SCALING, *_scaling(data["several"]), "")
    yield from ("## What was wrong before", "", WRONG)


def main() -> None:
    """Write the page of the folders that are named."""
    path = RESULTS / "train_gpu.json"
    data = json.loads(path.read_text())
    data["calls"] += [read_call(Path(folder)) for folder in sys.argv[1:]]
    path.write_text(json.dumps(data, indent=1) + "\n")
    (RESULTS / "train_gpu.md").write_text("\n".join(page(data)).rstrip() + "\n")


if __name__ == "__main__":
    main()
