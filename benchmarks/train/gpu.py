"""Training throughput on GPUs; one call measures everything that one machine can.

    python -m benchmarks.train.gpu --out DIR            one GPU: checks, throughput, packing
    python -m benchmarks.train.gpu --out DIR --scaling  several GPUs of one host: ZeRO-2 and ZeRO-3
    python -m benchmarks.train.gpu --out DIR --side-by-side  both, one-GPU parts side by side

The baseline is the plain loop that the usual recipes amount to: transformers' Qwen2 with Liger's
kernels, paged AdamW (32-bit), activation checkpointing of every layer, torch's flash attention, one
sequence of 16,384 tokens at a time, 8 of them a step. Every part runs in a process of its own, so
that one that fails leaves the others alone; results are JSON lines in ``DIR/results.jsonl``.
Without a GPU the parts run on toy shapes, to try the code.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import torch

from benchmarks.train.shapes import REHEARSAL, WINDOW, make_batch, make_model, sizes_of
from cass_ray.train.distributed import World, this_world
from cass_ray.train.engines.replicated import Engine, ReplicatedEngine
from cass_ray.train.meters import EnergyMeter, Operations
from cass_ray.train.model import activation_checkpoint
from cass_ray.train.model.build import Prepared, prepare
from cass_ray.train.model.memory import resident_gib
from cass_ray.train.settings import ModelSettings, OptimizerSettings, TrainSettings, ZeroSettings

PEAK = 990e12
ACCUMULATION = 2 if REHEARSAL else 8
LONGEST_PART = 200
"""Seconds after which a part is given up."""


def this_device() -> torch.device:
    """The current GPU, or the CPU in a rehearsal."""
    return torch.device("cpu") if REHEARSAL else torch.device("cuda", torch.cuda.current_device())


def measure(
    step: Callable[[], None], work: Callable[[], None], passes: int, steps: int
) -> dict[str, float]:
    """Seconds of ``steps`` optimizer steps of ``passes`` passes each, after one to warm up."""

    def one() -> None:
        for _ in range(passes):
            work()
        step()
        if not REHEARSAL:
            torch.cuda.synchronize()

    one()
    if not REHEARSAL:
        torch.cuda.reset_peak_memory_stats()
    energy = EnergyMeter(this_device())
    times = []
    for _ in range(steps):
        started = time.perf_counter()
        one()
        times.append(time.perf_counter() - started)
    return {
        "seconds_a_step": min(times),
        "seconds_of_steps": sum(times),
        "peak_gib": 0.0 if REHEARSAL else torch.cuda.max_memory_allocated() / 2**30,
        "kwh": energy.kilowatt_hours,
    }


def rates(
    measured: dict[str, float], tokens: int, operations: float, steps: int
) -> dict[str, float]:
    """Throughput of a worker: ``tokens`` and ``operations`` of one of its steps."""
    mean = measured["seconds_of_steps"] / steps
    kwh = measured["kwh"]
    return {
        **measured,
        "tokens_per_second": tokens / mean,
        "mfu": operations / mean / PEAK,
        "tokens_per_kwh": tokens * steps / kwh if kwh else 0.0,
    }


# --- The plain loop -----------------------------------------------------------------------------


def plain_model(shape: str, checkpointing: bool) -> tuple[Any, Any]:
    """Model and optimizer of the plain loop."""
    import bitsandbytes

    model = make_model(shape, this_device())
    if not REHEARSAL:
        from liger_kernel.transformers import apply_liger_kernel_to_qwen2

        apply_liger_kernel_to_qwen2(model=model)
    if checkpointing:
        model.gradient_checkpointing_enable({"use_reentrant": False})
    model.train()
    return model, bitsandbytes.optim.PagedAdamW32bit(model.parameters(), lr=1e-5)


def baseline(shape: str, checkpointing: bool, steps: int) -> dict[str, Any]:
    """The plain loop; see the module's docstring."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    model, optimizer = plain_model(shape, checkpointing)
    batch = make_batch((WINDOW,), model.config.vocab_size, this_device())
    labels = torch.full_like(batch.input_ids, -100)
    labels[0, batch.predictors + 1] = batch.targets

    def work() -> None:
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
            loss = model(input_ids=batch.input_ids, labels=labels).loss
            (loss / ACCUMULATION).backward()

    def step() -> None:
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    operations = Operations.of(model.config, list(model.model.layers))
    found = measure(step, work, ACCUMULATION, steps)
    # Logits of every token are computed here, but the same operations are counted as for ours.
    total = operations((WINDOW,), len(batch.targets)) * ACCUMULATION
    return {
        "system": "plain loop",
        "shape": shape,
        "checkpointing": "every layer" if checkpointing else "none",
        "optimizer": "paged AdamW 32-bit",
        **rates(found, WINDOW * ACCUMULATION, total, steps),
    }


# --- Ours ---------------------------------------------------------------------------------------


def settings_of(optimizer: OptimizerSettings, stage: int = 0, windows: int = 8) -> TrainSettings:
    """Settings for the memory estimate; data and model are not used."""
    return TrainSettings(
        name="benchmark",
        out=Path("unused"),
        data={"pairs": ["unused"]},  # type: ignore[arg-type]
        model=ModelSettings(base="unused"),
        optimizer=optimizer,
        zero=ZeroSettings(stage=stage),  # type: ignore[arg-type]
        batch={"global_batch_size": windows},  # type: ignore[arg-type]
    )


def prepared_model(shape: str, compiled: bool = False) -> Prepared:
    """A model of ``shape`` as the training loop prepares it."""
    device = this_device()
    settings = ModelSettings(base="unused", compile=compiled)
    prepared = prepare(make_model(shape, device), settings, device)
    prepared.model.train()
    return prepared


def choose_recomputation(
    prepared: Prepared, batch: Any, optimizer: OptimizerSettings, budget_gib: float
) -> str:
    """As the training loop does; returns its note."""
    parameters = sum(p.numel() for p in prepared.model.parameters())
    if REHEARSAL:
        return "rehearsal"
    resident = resident_gib(settings_of(optimizer), parameters, 1) * 2**30
    _, note = activation_checkpoint.choose(
        prepared.model.layers,
        prepared.model.model.config.intermediate_size,
        lambda: prepared.model(batch),
        int(budget_gib * 2**30),
        int(resident - 2 * parameters),
    )
    for parameter in prepared.model.parameters():
        parameter.grad = None
    gc.collect()
    torch.cuda.empty_cache()
    return note


def ours(
    shape: str,
    optimizer: OptimizerSettings,
    batches: list[tuple[int, ...]],
    steps: int,
    budget_gib: float = 126.0,
    compiled: bool = False,
) -> dict[str, Any]:
    """One GPU, ZeRO 0, ``batches`` (lengths of the examples of each forward pass) a step."""
    prepared = prepared_model(shape, compiled)
    device, vocabulary = prepared.device, prepared.model.model.config.vocab_size
    made = [make_batch(lengths, vocabulary, device, n) for n, lengths in enumerate(batches)]
    longest = max(made, key=lambda batch: batch.tokens)
    note = choose_recomputation(prepared, longest, optimizer, budget_gib)
    engine = ReplicatedEngine(prepared.model, optimizer, World(0, 1, device))
    return {
        "shape": shape,
        "optimizer": optimizer.kind,
        "master_weights": optimizer.master_weights,
        "gradients": optimizer.gradients,
        "attention": prepared.attention,
        "recompute": note,
        "compiled": compiled,
        "windows_at_once": round(sum(batches[0]) / WINDOW, 2),
        **run_engine(engine, prepared, made, steps, 1),
    }


def run_engine(
    engine: Engine, prepared: Prepared, batches: list[Any], steps: int, workers: int
) -> dict[str, float]:
    """Throughput of ``engine`` on ``batches``, one optimizer step a round."""
    config = prepared.model.model.config
    operations = Operations.of(config, prepared.model.layers)
    predicted = sum(len(batch.targets) for batch in batches) * workers
    turn = iter(range(10**9))

    def work() -> None:
        number = next(turn) % len(batches)
        engine.accumulate(batches[number], 1.0 / predicted, number + 1 == len(batches))

    found = measure(lambda: engine.update(1e-6) and None, work, len(batches), steps)
    total = sum(operations(batch.lengths, len(batch.targets)) for batch in batches)
    return rates(found, sum(batch.tokens for batch in batches), total, steps)


# --- Checks: the same gradients whatever is fused, packed or recomputed -----------------------


def checks() -> dict[str, Any]:
    """Relative difference of all gradients to plain transformers, on a small model."""
    device = this_device()
    lengths = (230, 70, 30, 6) if REHEARSAL else (2300, 700, 300, 60)
    vocabulary = sizes_of("toy")["vocab_size"]
    batch = make_batch(lengths, vocabulary, device)
    reference = make_model("toy", device).float()
    start, total = 0, torch.zeros((), device=device)
    for length in lengths:  # each example alone, fp32, no fused kernel
        ids = batch.input_ids[:, start : start + length]
        logits = reference(input_ids=ids).logits[0]
        total = total + torch.nn.functional.cross_entropy(
            logits[length // 2 - 1 : -1], ids[0, length // 2 :], reduction="sum"
        )
        start += length
    total.backward()
    truth = _flat_gradient(reference)
    results: dict[str, Any] = {"system": "checks", "loss_fp32": float(total)}
    for backend in ("auto",) if REHEARSAL else ("cudnn", "flash"):
        model = make_model("toy", device)
        prepared = prepare(model, ModelSettings(base="unused", attention=backend), device)
        prepared.model.train()
        for keep in activation_checkpoint.Keep:
            activation_checkpoint.apply(
                prepared.model.layers,
                [keep] * len(prepared.model.layers),
                sizes_of("toy")["intermediate_size"],
            )
            model.zero_grad()
            loss = prepared.model(batch)
            loss.backward()
            found = _flat_gradient(model)
            error = float((found - truth).norm() / truth.norm())
            results[f"{backend}, keep {keep.name.lower()}"] = error
        results[f"{backend} loss"] = float(loss)
    return results


def _flat_gradient(model: Any) -> torch.Tensor:
    return torch.cat([p.grad.float().reshape(-1) for p in model.parameters()])


# --- Several GPUs -------------------------------------------------------------------------------


def scaling_worker(rank: int, size: int, shape: str, stage: int, steps: int, out: str) -> None:
    """One worker of a ZeRO run; the first writes the result."""
    import torch.distributed as dist

    from cass_ray.train.engines.deepspeed import DeepSpeedEngine

    os.environ |= {
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": str(size),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(29500 + 10 * stage + size),
    }
    if not REHEARSAL:
        torch.cuda.set_device(rank)
    device = this_device()
    dist.init_process_group(
        "gloo" if REHEARSAL else "nccl",
        rank=rank,
        world_size=size,
        device_id=None if REHEARSAL else device,
    )
    optimizer = OptimizerSettings(kind="paged-adamw-8bit", gradients="bf16")
    prepared = prepared_model(shape)
    layers = prepared.model.layers
    # The same recomputation at every number of GPUs, or scaling would measure memory.
    keeps = [activation_checkpoint.Keep.ATTENTION] * len(layers)
    activation_checkpoint.apply(layers, keeps, sizes_of(shape)["intermediate_size"])
    vocabulary = sizes_of(shape)["vocab_size"]
    batches = [
        make_batch((WINDOW,), vocabulary, device, rank * ACCUMULATION + n)
        for n in range(ACCUMULATION)
    ]
    zero = ZeroSettings(stage=stage)  # type: ignore[arg-type]
    engine = DeepSpeedEngine(
        prepared.model, zero, optimizer, this_world(device), accumulation=ACCUMULATION
    )
    found = run_engine(engine, prepared, batches, steps, size)
    if rank == 0:
        row = {"system": f"ZeRO-{stage}", "gpus": size, "shape": shape, **found}
        Path(out).write_text(json.dumps(row))
    dist.barrier()
    dist.destroy_process_group()


def scaling(shape: str, stage: int, size: int, steps: int) -> dict[str, Any]:
    """ZeRO on ``size`` GPUs of this host."""
    import tempfile

    import torch.multiprocessing as mp

    with tempfile.NamedTemporaryFile() as out:
        mp.spawn(scaling_worker, args=(size, shape, stage, steps, out.name), nprocs=size, join=True)
        result: dict[str, Any] = json.loads(Path(out.name).read_text())
        return result


# --- Parts --------------------------------------------------------------------------------------

IN_PLACE = {"master_weights": False, "gradients": "bf16"}
"""Optimizer settings that need the least memory: bf16 weights are updated as they are."""


def _ours(
    shape: str, kind: str, masters: bool, steps: int, at_once: int = 1, compiled: bool = False
) -> dict[str, Any]:
    options = {"gradients": "bf16"} if masters else IN_PLACE
    optimizer = OptimizerSettings(kind=kind, **options)  # type: ignore[arg-type]
    batches = [(WINDOW,) * at_once] * (ACCUMULATION // at_once)
    return {"system": "ours", **ours(shape, optimizer, batches, steps, compiled=compiled)}


def _packing(task: str) -> dict[str, Any]:
    from benchmarks.train.padding import packing

    return packing("1.5b", task, 2)


PARTS: dict[str, Callable[[], dict[str, Any]]] = {
    "checks": checks,
    "7b-plain": lambda: baseline("7b", True, 2),
    "7b-ours": lambda: _ours("7b", "paged-adamw", False, 2),
    "7b-ours-8bit": lambda: _ours("7b", "paged-adamw-8bit", False, 2),
    "7b-ours-masters-8bit": lambda: _ours("7b", "paged-adamw-8bit", True, 2),
    "1.5b-plain": lambda: baseline("1.5b", True, 3),
    "1.5b-plain-no-checkpointing": lambda: baseline("1.5b", False, 3),
    "1.5b-ours": lambda: _ours("1.5b", "paged-adamw", False, 3),
    "1.5b-ours-two-at-once": lambda: _ours("1.5b", "paged-adamw", False, 3, at_once=2),
    "1.5b-ours-masters": lambda: _ours("1.5b", "paged-adamw", True, 3),
    "packing-source": lambda: _packing("source"),
    "packing-assembly": lambda: _packing("assembly"),
    "packing-both": lambda: _packing("both"),
    "1.5b-ours-compiled": lambda: _ours("1.5b", "paged-adamw", False, 3, compiled=True),
}

SCALING: dict[str, Callable[[], dict[str, Any]]] = {
    f"zero-{stage}-{gpus}": (lambda s=stage, g=gpus: scaling("7b", s, g, 2))
    for stage in (2, 3)
    for gpus in (1, 2, 4)
}


def environment() -> dict[str, Any]:
    """What the figures were measured with."""
    from importlib.metadata import version

    names = ("torch", "transformers", "liger-kernel", "bitsandbytes", "deepspeed", "triton")
    return {
        "gpu": "none: a rehearsal" if REHEARSAL else torch.cuda.get_device_name(0),
        "gpus": torch.cuda.device_count(),
        "versions": {name: version(name) for name in names},
        "command": "python -m benchmarks.train.gpu " + " ".join(sys.argv[1:]),
    }


def run_part(name: str, out: Path, gpu: int | None, seconds: float) -> None:
    """Run one part in a process of its own, that sees ``gpu`` alone (None: all of them)."""
    if seconds < 5:
        print(f"{name}: no time left", flush=True)
        return
    command = [sys.executable, "-m", "benchmarks.train.gpu", "--out", str(out), "--part", name]
    own = {} if gpu is None else {"CUDA_VISIBLE_DEVICES": str(gpu)}
    began = time.monotonic()
    try:
        limit = min(seconds, LONGEST_PART)
        subprocess.run(command, check=True, timeout=limit, env=os.environ | own)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        traceback.print_exc(limit=0)
    print(f"{name}: {time.monotonic() - began:.0f} s", flush=True)


def side_by_side(names: list[str], gpus: int) -> list[list[list[str]]]:
    """Rounds of lanes: parts of one GPU in as many lanes as GPUs, those of several alone.

    A system and what it is compared with stay in one lane.
    """
    several = [[[name]] for name in names if name in SCALING and int(name[-1]) > 1]
    alone = [name for name in names if name in SCALING and int(name[-1]) == 1]
    families: dict[str, list[str]] = {}
    for name in names:
        if name not in SCALING:
            families.setdefault(name.split("-")[0], []).append(name)
    lanes: list[list[str]] = [[] for _ in range(gpus)]
    for _, family in sorted(families.items(), key=_cost, reverse=True):
        min(lanes, key=lambda lane: sum(_cost((part, [part])) for part in lane)).extend(family)
    return [[[name] for name in alone], *several, lanes]


def _cost(family: tuple[str, list[str]]) -> float:
    """About the minutes that a family's parts take."""
    name, parts = family
    return len(parts) * (1.0 if name.startswith(("7b", "packing")) else 0.5)


def main() -> None:
    """Run the parts, each in a process of its own."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--out", type=Path, required=True)
    arguments.add_argument("--scaling", action="store_true")
    arguments.add_argument("--side-by-side", action="store_true")
    arguments.add_argument("--parts", nargs="*")
    arguments.add_argument("--seconds", type=float, default=540, help="Start no part after.")
    arguments.add_argument("--part", help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.part:
        row = {"part": options.part, **(PARTS | SCALING)[options.part]()}
        with (options.out / "results.jsonl").open("a") as stream:
            stream.write(json.dumps(row) + "\n")
        print(json.dumps(row), flush=True)
        return
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "environment.json").write_text(json.dumps(environment(), indent=1))
    end = time.monotonic() + options.seconds
    gpus = 2 if REHEARSAL else torch.cuda.device_count()
    scaling_parts = [name for name in SCALING if int(name[-1]) <= gpus]
    wanted = options.parts or (scaling_parts if options.scaling else list(PARTS))
    if not options.side_by_side:
        for name in wanted:
            run_part(name, options.out, None, end - time.monotonic())
        return
    for lanes in side_by_side(options.parts or [*scaling_parts, *PARTS], gpus):
        with ThreadPoolExecutor(gpus) as pool:
            for gpu, lane in enumerate(lanes):
                shown = None if len(lanes) == 1 else gpu
                pool.submit(_run_lane, lane, options.out, shown, end)


def _run_lane(names: list[str], out: Path, gpu: int | None, end: float) -> None:
    for name in names:
        run_part(name, out, gpu, end - time.monotonic())


if __name__ == "__main__":
    main()
