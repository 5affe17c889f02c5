"""The parts of ``benchmarks.train.gpu``: which loop, on which rows, compared with which.

A ratio is made within one section alone, whose rows have one model, one kind of rows and moments of
one width, so that nothing but what the row's name says is between the two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from benchmarks.train.gpu_measurements import ACCUMULATION, IN_PLACE, Products, checks, ours
from benchmarks.train.kernel_times import kernel_times
from benchmarks.train.long_runs import long_run
from benchmarks.train.muon import compare_muon
from benchmarks.train.ordinary import Loop, run_loop
from benchmarks.train.packed import packed_rows
from benchmarks.train.shapes import WINDOW
from benchmarks.train.titan import run_titan
from cass_ray.train.settings import OptimizerSettings

Part = Callable[[], dict[str, Any]]

ORDINARY = Loop()
PLAIN = Loop(compiled=False, loss="model", liger=True)
DEFAULTS = replace(PLAIN, liger=False)
PACKED = Loop(attention="varlen", compiled="dynamic")
PACKED_ATTENTION = "attention over packed examples by cuDNN's package"
COMPILED, FP8 = Products(compiled=True), Products(compiled=True, fp8=True)


def _loop(
    shape: str, title: str, loop: Loop, *, task: str = "", at_once: int = 1, **more: Any
) -> Part:
    def run() -> dict[str, Any]:
        rows = packed_rows(task) if task else [(WINDOW,) * at_once] * (ACCUMULATION // at_once)
        warm = None if task else 2
        steps = 1 if shape == "7b" and loop.checkpointing == "every layer" else _steps(shape)
        return {**labels(shape, title, task, loop.optimizer, more), **run_loop(
            shape, loop, rows, steps, warm
        )}  # fmt: skip

    return run


def _ours(
    shape: str,
    title: str,
    kind: str,
    *,
    task: str = "",
    products: Products = COMPILED,
    masters: bool = False,
    stage: int = 0,
    predicted: Literal["answers", "all"] = "answers",
    **more: Any,
) -> Part:
    def run() -> dict[str, Any]:
        options: dict[str, Any] = {} if masters else IN_PLACE
        optimizer = OptimizerSettings(kind=kind, **options)  # type: ignore[arg-type]
        whole: list[tuple[int, ...]] = [(WINDOW,)] * ACCUMULATION
        rows = packed_rows(task) if task else whole
        warm = None if task else 2
        found = ours(shape, optimizer, rows, _steps(shape), products, warm, stage, predicted)
        return {**labels(shape, title, task, kind, more), **found}

    return run


def _steps(shape: str) -> int:
    return 2 if shape == "7b" else 3


def labels(shape: str, title: str, task: str, kind: str, more: dict[str, Any]) -> dict[str, Any]:
    """The columns that identify a row of the report."""
    bits = "8-bit" if kind.endswith("8bit") else "32-bit"
    rows = f"real lengths ({task})" if task else "whole windows"
    return {
        "system": title,
        "section": f"{shape.upper()}, {rows}, {bits} moments",
        "rows": task or "whole",
        **more,
    }


def _titan(shape: str, title: str, checkpointing: str, **more: Any) -> Part:
    def run() -> dict[str, Any]:
        return {
            "system": title,
            "section": _every_token(shape),
            "rows": "every token",
            **more,
            **run_titan(shape, checkpointing),
        }

    return run


def _every_token(shape: str) -> str:
    return f"{shape.upper()}, whole windows, every token predicted, fp32 weights and moments"


def _small() -> dict[str, Part]:
    """1.5B, whole windows, 32-bit moments."""
    base, loop, one = "1.5b-ordinary", partial(_loop, "1.5b"), partial(_ours, "1.5b")
    parts: dict[str, Part] = {
        "1.5b-defaults": loop("transformers, nothing else", DEFAULTS, against=base),
        "1.5b-plain": loop("plain loop: Liger's kernels, not compiled", PLAIN, against=base),
        base: loop("ordinary loop", ORDINARY),
        "1.5b-ours": one("ours", "paged-adamw", against=base),
    }
    pieces = {
        "liger": ("Liger's linear loss", replace(ORDINARY, loss="liger")),
        "engine": ("replicated engine (ours)", replace(ORDINARY, engine="ours")),
        "fp8": ("products in FP8 (ours)", replace(ORDINARY, fp8=True)),
    }
    for name, (title, changed) in pieces.items():
        parts[f"1.5b-with-{name}"] = loop(
            f"ordinary loop + {title}", changed, against=base, piece=title
        )
    two = "two windows a pass"
    parts["1.5b-with-two"] = loop(
        f"ordinary loop + {two}", ORDINARY, at_once=2, against=base, piece=two
    )
    parts["1.5b-ours-fp8"] = one("ours, products in FP8", "paged-adamw", products=FP8, against=base)
    parts["1.5b-recipe"] = one(
        "ours, fp32 masters and gradients", "paged-adamw", masters=True, against="1.5b-ours"
    )
    for task in ("both", "source", "assembly"):
        first = f"1.5b-{task}-packed"
        parts[first] = loop("packed ordinary loop", PACKED, task=task)
        parts[f"1.5b-{task}-ours"] = one(
            "ours", "paged-adamw", task=task, against=first, piece=PACKED_ATTENTION
        )
    parts["1.5b-both-padded"] = loop(
        "packed ordinary loop, rows padded to the window, compiled for that size",
        replace(PACKED, compiled=True, pad=True),
        task="both",
        against="1.5b-both-packed",
    )
    parts["1.5b-both-fp8"] = one(
        "ours, products in FP8",
        "paged-adamw",
        task="both",
        products=FP8,
        against="1.5b-both-packed",
    )
    parts |= _beside_titan("1.5b")
    parts["1.5b-zero-2"] = one(
        "ours, fp32 masters and gradients, DeepSpeed's ZeRO 2 on one GPU",
        "paged-adamw",
        masters=True,
        stage=2,
        against="1.5b-recipe",
    )
    parts["1.5b-again"] = loop("ordinary loop, once more", ORDINARY, against=base)
    return parts


def _beside_titan(shape: str) -> dict[str, Part]:
    """torchtitan and ours, both with fp32 weights that are computed with in bf16."""
    none, selective = f"{shape}-titan-none", f"{shape}-titan"
    return {
        selective: _titan(shape, "torchtitan, compiled, its default checkpointing", "selective"),
        none: _titan(shape, "torchtitan, compiled, no checkpointing", "none", against=selective),
        f"{shape}-titan-ours": _ours(
            shape,
            "ours, fp32 masters and gradients",
            "paged-adamw",
            masters=True,
            predicted="all",
            section=_every_token(shape),
            against=none,
        ),
    }


def _profiles() -> dict[str, Part]:
    """Kernels of one row, ours and the ordinary loop's."""
    parts: dict[str, Part] = {}
    for shape in ("1.5b", "7b"):
        for side in ("ordinary", "ours"):
            parts[f"kernels-{shape}-{side}"] = partial(
                kernel_times, shape, (WINDOW,), side, ORDINARY
            )
    return parts


def _large() -> dict[str, Part]:
    """7B."""
    eight = replace(ORDINARY, optimizer="paged-adamw-8bit")
    every = replace(ORDINARY, checkpointing="every layer")
    base, loop, one = "7b-ordinary", partial(_loop, "7b"), partial(_ours, "7b")
    kind: Literal["paged-adamw-8bit"] = "paged-adamw-8bit"
    return {
        base: loop("ordinary loop", eight),
        "7b-ours": one("ours", kind, against=base),
        "7b-plain": loop(
            "plain loop: Liger's kernels, not compiled",
            replace(PLAIN, optimizer=kind),
            against=base,
        ),
        "7b-both-packed": loop(
            "packed ordinary loop", replace(PACKED, optimizer=kind), task="both"
        ),
        "7b-both-ours": one(
            "ours",
            kind,
            task="both",
            against="7b-both-packed",
            piece=PACKED_ATTENTION,
        ),
        "7b-both-fp8": one(
            "ours, products in FP8", kind, task="both", products=FP8, against="7b-both-packed"
        ),
        "7b-every-ordinary": loop("ordinary loop, every layer checkpointed", every),
        "7b-every-budget": loop(
            "ordinary loop, the compiler's memory budget of 0.4",
            replace(ORDINARY, checkpointing=0.4),
            against="7b-every-ordinary",
        ),
        "7b-every-budget-75": loop(
            "ordinary loop, the compiler's memory budget of 0.75",
            replace(ORDINARY, checkpointing=0.75),
            against="7b-every-ordinary",
        ),
        "7b-chosen-ours": one("ours", "paged-adamw", against="7b-every-ordinary"),
        "7b-with-fp8": loop(
            "ordinary loop + products in FP8 (ours)",
            replace(eight, fp8=True),
            against=base,
            piece="products in FP8 (ours)",
        ),
        "7b-ours-fp8": one("ours, products in FP8", kind, products=FP8, against=base),
        "7b-recipe": one("ours, fp32 masters and gradients", kind, masters=True, against="7b-ours"),
        "7b-zero-2": one(
            "ours, fp32 masters and gradients, DeepSpeed's ZeRO 2 on one GPU",
            kind,
            masters=True,
            stage=2,
            against="7b-recipe",
        ),
        "7b-every-plain": loop(
            "plain loop: Liger's kernels, not compiled, every layer checkpointed",
            replace(PLAIN, checkpointing="every layer"),
            against="7b-every-ordinary",
        ),
    }


LONG: dict[str, Part] = {
    "long-bf16": partial(long_run, 1000),
    "long-again": partial(long_run, 500),
    "long-masters": partial(long_run, 500, masters=True),
    "long-fp8": partial(long_run, 1000, fp8=True),
}

PARTS: dict[str, Part] = {
    "checks": checks,
    "muon": compare_muon,
    **_small(),
    **_large(),
    **_profiles(),
    **LONG,
}
