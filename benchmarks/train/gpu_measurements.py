"""``benchmarks.train.gpu`` measures cass-ray's trainer here: throughput, checks, several GPUs.

Without a GPU the parts run on toy shapes.
"""

from __future__ import annotations

import gc
import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import torch

from benchmarks.train.shapes import REHEARSAL, WINDOW, make_batch, make_model, sizes_of
from cass_ray.train.data.collate import Batch, padded, share_of
from cass_ray.train.distributed import DistributedContext, distributed_context
from cass_ray.train.engines.base import TrainingEngine
from cass_ray.train.engines.replicated import ReplicatedEngine
from cass_ray.train.meters import EnergyMeter, Operations
from cass_ray.train.model import activation_checkpoint, attention, sequence_parallel
from cass_ray.train.model.build import PreparedModel, prepare
from cass_ray.train.model.memory import resident_gib
from cass_ray.train.settings import (
    TILE,
    Attention,
    ModelSettings,
    OptimizerSettings,
    TrainSettings,
    ZeroSettings,
)

PEAK = 990e12
ACCUMULATION = 2 if REHEARSAL else 8
BUDGET = 0.9
"""Share of a GPU's memory that a run may take."""
IN_PLACE = {"master_weights": False, "grad_accum_dtype": "bf16"}
"""Optimizer settings that need the least memory: bf16 weights are updated as they are."""


def this_device() -> torch.device:
    """The current GPU, or the CPU in a rehearsal."""
    return torch.device("cpu") if REHEARSAL else torch.device("cuda", torch.cuda.current_device())


STARTED = time.perf_counter()
"""When this process began to import what it needs …"""


def begin() -> None:
    """… or when it had the GPU for itself: what start-up times count from."""
    global STARTED
    STARTED = time.perf_counter()


def measure(
    step: Callable[[], None],
    work: Callable[[], None],
    passes: int,
    steps: int,
    warm: int | None = None,
) -> dict[str, float]:
    """Seconds of ``steps`` optimizer steps of ``passes`` passes each, after one to warm up.

    ``warm``: passes of the first step, where not all are needed to see every size of row.
    """

    def one(passes: int) -> None:
        for _ in range(passes):
            work()
        step()
        if not REHEARSAL:
            torch.cuda.synchronize()

    one(passes if warm is None else warm)
    startup = time.perf_counter() - STARTED
    if not REHEARSAL:
        torch.cuda.reset_peak_memory_stats()
    energy = EnergyMeter(this_device())
    times, used = [], 0.0
    for _ in range(steps):
        started = time.perf_counter()
        one(passes)
        times.append(time.perf_counter() - started)
        used = max(used, device_gib())
    return {
        "seconds_a_step": min(times),
        "seconds_of_steps": sum(times),
        "startup_seconds": startup,
        "peak_gib": 0.0 if REHEARSAL else torch.cuda.max_memory_allocated() / 2**30,
        "device_gib": used,
        "kwh": energy.kilowatt_hours,
    }


def device_gib() -> float:
    """GiB in use on the device as the driver counts them: the allocator's reserve, kernels and
    paged optimizer states. 0 without a GPU."""
    if REHEARSAL:
        return 0.0
    free, total = torch.cuda.mem_get_info()
    return (total - free) / 2**30


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


@dataclass(frozen=True)
class Products:
    """How the decoder layers are computed (:class:`ModelSettings`)."""

    compiled: bool = False
    fp8: bool = False


PLAIN = Products()


def prepared_model(shape: str, products: Products = PLAIN) -> PreparedModel:
    """A model of ``shape`` as the training loop prepares it."""
    device = this_device()
    settings = ModelSettings(
        base="unused",
        compile=False if REHEARSAL else products.compiled,
        fp8=products.fp8,
    )
    prepared = prepare(make_model(shape, device), settings, device)
    prepared.model.train()
    return prepared


def make_engine(
    prepared: PreparedModel, optimizer: OptimizerSettings, stage: int, passes: int
) -> TrainingEngine:
    """The engine of ``stage`` for one worker."""
    alone = DistributedContext(0, 1, prepared.device)
    if not stage:
        return ReplicatedEngine(prepared.model, optimizer, alone)
    import torch.distributed as dist

    from cass_ray.train.engines.deepspeed import DeepSpeedEngine

    os.environ |= {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1"}
    os.environ["MASTER_PORT"] = str(20_000 + os.getpid() % 10_000)
    dist.init_process_group("gloo" if REHEARSAL else "nccl", rank=0, world_size=1)
    zero = ZeroSettings(stage=stage)  # type: ignore[arg-type]
    return DeepSpeedEngine(prepared.model, zero, optimizer, alone, accumulation=passes)


def choose_recomputation(
    prepared: PreparedModel,
    batch: Any,
    optimizer: OptimizerSettings,
    compiled: bool,
    stage: int = 0,
) -> str:
    """As the training loop does; returns its note."""
    parameters = sum(p.numel() for p in prepared.model.parameters())
    if REHEARSAL:
        return "rehearsal"
    resident = resident_gib(settings_of(optimizer), parameters, 1) * 2**30
    if stage:
        resident += 16 * ZeroSettings().bucket_elements

    def trial() -> float:
        size = activation_checkpoint.most_bytes(
            lambda: prepared.model(batch), int(resident - 2 * parameters)
        )
        for parameter in prepared.model.parameters():
            parameter.grad = None
        gc.collect()
        torch.cuda.empty_cache()
        return size

    return activation_checkpoint.keep_what_fits(
        prepared.model.layers,
        trial,
        BUDGET * torch.cuda.get_device_properties(prepared.device).total_memory,
        compiled=compiled,
        all_max=lambda value: value,
    )


def ours(
    shape: str,
    optimizer: OptimizerSettings,
    batches: list[tuple[int, ...]],
    steps: int,
    products: Products = PLAIN,
    warm: int | None = None,
    stage: int = 0,
    predicted: Literal["answers", "all"] = "answers",
) -> dict[str, Any]:
    """One GPU, ``batches`` (lengths of the examples of each forward pass) a step.

    ``stage``: of ZeRO, DeepSpeed's from 1 on.
    """
    prepared = prepared_model(shape, products)
    device, vocabulary = prepared.device, prepared.model.model.config.vocab_size
    made = [
        make_batch(lengths, vocabulary, device, n, predicted) for n, lengths in enumerate(batches)
    ]
    useful = sum(batch.tokens for batch in made)
    operations = Operations.of(prepared.model.model.config, prepared.model.layers)
    total = sum(operations(batch.lengths, len(batch.targets)) for batch in made)
    made = [fill(batch, TILE) for batch in made]
    longest = max(made, key=lambda batch: batch.tokens)
    note = choose_recomputation(prepared, longest, optimizer, products.compiled, stage)
    engine = make_engine(prepared, optimizer, stage, len(made))
    if stage:
        warm = None  # DeepSpeed counts the passes of a step
    found = run_engine(engine, prepared, made, steps, 1, warm=warm)
    found |= rates(found, useful, total, steps)
    return {
        "shape": shape,
        "optimizer": optimizer.kind,
        "master_weights": optimizer.master_weights,
        "gradients": optimizer.grad_accum_dtype,
        "attention": prepared.attention,
        "recompute": note,
        "compiled": products.compiled,
        "zero_stage": stage,
        "fp8": products.fp8,
        "windows_at_once": round(sum(batches[0]) / WINDOW, 2),
        **found,
    }


def fill(batch: Batch, multiple: int) -> Batch:
    """``batch`` in a row of a multiple of so many tokens."""
    device = batch.input_ids.device
    names = ("input_ids", "position_ids", "predictors", "targets")
    here = replace(batch, **{name: getattr(batch, name).cpu() for name in names})
    row = padded(here, multiple, 0)
    return replace(row, **{name: getattr(row, name).to(device) for name in names})


def run_engine(
    engine: TrainingEngine,
    prepared: PreparedModel,
    batches: list[Any],
    steps: int,
    workers: int,
    shared: int = 1,
    warm: int | None = None,
) -> dict[str, float]:
    """Throughput of ``engine`` on ``batches``, one optimizer step a round.

    ``shared``: workers that hold a row together, of which each does its share.
    """
    config = prepared.model.model.config
    operations = Operations.of(config, prepared.model.layers)
    predicted = sum(len(batch.targets) for batch in batches) * workers
    turn = iter(range(10**9))

    def work() -> None:
        number = next(turn) % len(batches)
        engine.accumulate(batches[number], 1.0 / predicted, number + 1 == len(batches))

    def update() -> None:
        engine.update(1e-6)

    found = measure(update, work, len(batches), steps, warm)
    total = sum(operations(batch.lengths, len(batch.targets) * shared) for batch in batches)
    total /= shared
    return rates(found, sum(batch.tokens for batch in batches), total, steps)


# --- Checks: the same gradients whatever is fused, packed or recomputed -----------------------


def checks() -> dict[str, Any]:
    """Relative difference of all gradients to plain transformers, on a small model."""
    device = this_device()
    lengths = (230, 70, 30, 6) if REHEARSAL else (4300, 700, 300, 76)
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
    backends: tuple[Attention, ...] = ("auto",) if REHEARSAL else ("cudnn", "flash")
    computed: dict[str, ModelSettings] = {
        name: ModelSettings(base="unused", attention=name) for name in backends
    }
    for name, settings in computed.items():
        model = make_model("toy", device)
        prepared = prepare(model, settings, device)
        prepared.model.train()
        for number in (0, len(prepared.model.layers)):
            activation_checkpoint.recompute_layers(prepared.model.layers, number)
            model.zero_grad()
            loss = prepared.model(batch)
            loss.backward()
            found = _flat_gradient(model)
            error = float((found - truth).norm() / truth.norm())
            results[f"{name}, {number} layers recompute"] = error
        results[f"{name} loss"] = float(loss)
        if not REHEARSAL:
            compiled = settings.model_copy(update={"compile": True})
            model = make_model("toy", device)
            prepared = prepare(model, compiled, device)
            prepared.model.train()
            for share in (1.0, 0.3):
                activation_checkpoint.keep_share(prepared.model.layers, share, compiled=True)
                model.zero_grad()
                prepared.model(batch).backward()
                error = float((_flat_gradient(model) - truth).norm() / truth.norm())
                results[f"{name}, compiled, keeps {share:.0%}"] = error
    return results


def _flat_gradient(model: Any) -> torch.Tensor:
    return torch.cat([p.grad.float().reshape(-1) for p in model.parameters()])


# --- Several GPUs -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scaling:
    """A run on several GPUs of one host."""

    shape: str
    stage: int
    gpus: int
    steps: int
    live: int = 1_000_000_000
    """Weights that a worker may hold whole (:class:`ZeroSettings`)."""
    shared: int = 1
    """Workers that hold a row together; then it has 65,536 tokens, and a step two of them."""

    @property
    def system(self) -> str:
        """Its name in the report; what it is compared with stands before the comma."""
        whole = ", weights gathered once a pass" if self.live > 1_000_000_000 else ""
        return f"ZeRO-{self.stage}{whole}{', rows shared' if self.shared > 1 else ''}"

    @property
    def rows(self) -> int:
        return ACCUMULATION if self.shared == 1 else 2

    @property
    def window(self) -> int:
        return WINDOW if self.shared == 1 else 4 * WINDOW


def _row(run: Scaling, distributed: DistributedContext, vocabulary: int, number: int) -> Batch:
    """A worker's share of a row; where it is shared, every other token is predicted."""
    seed = distributed.data_rank * run.rows + number
    batch = make_batch((run.window,), vocabulary, torch.device("cpu"), seed)
    if run.shared > 1:
        where = torch.arange(0, run.window - 1, 2)
        batch = replace(batch, predictors=where, targets=batch.input_ids[0, where + 1])
    return share_of(batch, distributed).to(distributed.device)


def scaling_worker(rank: int, run: Scaling, out: str) -> None:
    """One worker of a ZeRO run; the first writes the result."""
    import torch.distributed as dist

    from cass_ray.train.engines.deepspeed import DeepSpeedEngine

    os.environ |= {
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": str(run.gpus),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(29500 + 10 * run.stage + run.gpus),
    }
    if not REHEARSAL:
        torch.cuda.set_device(rank)
    device = this_device()
    dist.init_process_group(
        "gloo" if REHEARSAL else "nccl",
        rank=rank,
        world_size=run.gpus,
        device_id=None if REHEARSAL else device,
    )
    distributed = replace(distributed_context(device), sequence_size=run.shared)
    optimizer = OptimizerSettings(kind="paged-adamw-8bit", grad_accum_dtype="bf16")
    prepared = prepared_model(run.shape, Products(compiled=True))
    layers = prepared.model.layers
    # The same recomputation at every number of GPUs, or scaling would measure memory.
    activation_checkpoint.keep_share(layers, 0.2, compiled=not REHEARSAL)
    vocabulary = sizes_of(run.shape)["vocab_size"]
    batches = [_row(run, distributed, vocabulary, number) for number in range(run.rows)]
    zero = ZeroSettings(stage=run.stage, live_elements=run.live)  # type: ignore[arg-type]
    engine = DeepSpeedEngine(
        prepared.model, zero, optimizer, distributed, accumulation=len(batches)
    )
    if run.shared > 1:
        exchange = sequence_parallel.make_exchange(attention.attend_heads, distributed)
        attention.share_rows(exchange)
    found = run_engine(engine, prepared, batches, run.steps, run.gpus, run.shared)
    if rank == 0:
        row = {"system": run.system, "window": run.window, **asdict(run), **found}
        Path(out).write_text(json.dumps(row))
    dist.barrier()
    dist.destroy_process_group()


def scaling(run: Scaling) -> dict[str, Any]:
    """ZeRO on GPUs of this host."""
    import tempfile

    from torch.multiprocessing.spawn import spawn

    with tempfile.NamedTemporaryFile() as out:
        spawn(scaling_worker, args=(run, out.name), nprocs=run.gpus, join=True)
        result: dict[str, Any] = json.loads(Path(out.name).read_text())
        return result
