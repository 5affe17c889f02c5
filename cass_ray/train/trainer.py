"""The training loop of one worker.

The same code runs in every worker; what they share is the process group and the folder of the run.
Where training goes on after a restart follows from the newest whole checkpoint alone, so a restart
needs no arguments and may have another number of workers.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import torch

from cass_ray.llm.pretrained import extend_rope, load_config, load_tokenizer
from cass_ray.train.checkpoint import state
from cass_ray.train.checkpoint.export import export
from cass_ray.train.checkpoint.reader import CheckpointReader
from cass_ray.train.checkpoint.store import CheckpointStore
from cass_ray.train.checkpoint.writer import CheckpointWriter
from cass_ray.train.curves import Curves
from cass_ray.train.data.collate import collate
from cass_ray.train.data.loader import BatchLoader, OptimizerStep
from cass_ray.train.data.packing import Plan, fill_rate
from cass_ray.train.data.token_store import TokenStore
from cass_ray.train.distributed import DistributedContext
from cass_ray.train.engines.optimizers import learning_rate
from cass_ray.train.engines.replicated import ReplicatedEngine, TrainingEngine
from cass_ray.train.evaluation import Evaluator
from cass_ray.train.loss_guard import LossGuard, LossVerdict, TrainingDiverged
from cass_ray.train.meters import EnergyMeter, Operations, StepMeter, peak_operations
from cass_ray.train.model import activation_checkpoint
from cass_ray.train.model.build import (
    PreparedModel,
    build_model,
    check_window,
    fresh_config,
    inner_model,
    prepare,
)
from cass_ray.train.model.memory import OutOfMemory, advice
from cass_ray.train.run_files import RunFiles
from cass_ray.train.settings import TrainSettings

log = logging.getLogger("cass.train")

_ELSEWHERE = 6 << 30
"""Bytes of GPU memory left for what PyTorch's allocator does not count, and for fragmentation."""


@dataclass(frozen=True)
class TrainingSummary:
    """How a run ended."""

    steps: int
    loss: float
    held_out_loss: float | None
    tokens: int
    seconds: float
    kilowatt_hours: float
    model: str
    resumed_from: int | None
    skipped: int


def make_plan(settings: TrainSettings, store: TokenStore) -> Plan:
    """The order of the data."""
    return Plan(
        lengths=store.lengths,
        weights=store.weights,
        capacity=settings.data.window,
        kind=settings.data.packing,
        batch=settings.batch.global_batch_size,
        seed=settings.data.seed,
    )


class Trainer:
    """One worker's run. ``on_step`` hears of each step's numbers (first worker: all of them)."""

    def __init__(
        self,
        settings: TrainSettings,
        distributed: DistributedContext,
        *,
        on_step: Callable[[int, dict[str, float]], None] | None = None,
        say: Callable[[str], None] = log.info,
    ) -> None:
        self.settings = settings
        self.distributed = distributed
        self.files = RunFiles(settings.out)
        self._on_step = on_step
        self._say = say if distributed.is_main else (lambda _: None)
        self._guard = LossGuard(settings.guard)
        self._skipped = 0
        self._tokens = 0.0
        self._energy = 0.0
        self._held_out: float | None = None

    def run(self) -> TrainingSummary:
        """Train to the end and export.

        Raises:
            TrainingDiverged: the guard stopped it.
            OutOfMemory: with what would fit.
            CheckpointError, ModelError, DataError: what they say.
        """
        started = time.perf_counter()
        try:
            return self._run(started)
        except torch.OutOfMemoryError as error:
            raise OutOfMemory(self._explain(error)) from error

    def _explain(self, error: Exception) -> str:
        available = torch.cuda.get_device_properties(self.distributed.device).total_memory / 2**30
        first = str(error).strip().split("\n")[0]
        parameters = getattr(self, "_parameters", 0)
        return (
            f"{first}\n{advice(self.settings, parameters, self.distributed.world_size, available)}"
        )

    def _run(self, started: float) -> TrainingSummary:
        settings, distributed = self.settings, self.distributed
        store = TokenStore(self.files.train)
        plan = make_plan(settings, store)
        steps = settings.steps or plan.steps(settings.epochs)
        if steps == 0:
            windows = len(plan.epoch(0))
            raise ValueError(
                f"the data fill {windows} window(s) an epoch, batch.global_batch_size is "
                f"{settings.batch.global_batch_size}: lower it, or raise epochs"
            )
        checkpoints = CheckpointStore(settings.checkpoint_url)
        first = distributed.from_main(self._newest(checkpoints) if distributed.is_main else None)
        reader = CheckpointReader(checkpoints, first) if first is not None else None
        prepared, tokenizer = self._model(reader)
        self._choose_activation_checkpoints(prepared, store, plan)
        engine = self._engine(prepared)
        if reader is not None:
            state.load_engine(engine, reader, reader.manifest.notes["updates"])
            self._recall(reader.manifest.notes)
            reader.close()
        for note in prepared.notes:
            self._say(note)
        self._say(self._outline(store, plan, steps, first))
        writer = CheckpointWriter(checkpoints, distributed.rank, distributed.world_size)
        curves = Curves(settings, first or 0) if distributed.is_main else None
        try:
            loss = self._steps(
                engine, prepared, store, plan, first or 0, steps, (checkpoints, writer), curves
            )
            writer.finish()
            distributed.barrier()
            if distributed.is_main:
                writer.commit()
                checkpoints.prune(settings.checkpoints)
        finally:
            if curves is not None:
                curves.close()
        summary = TrainingSummary(
            steps=steps,
            loss=loss,
            held_out_loss=self._held_out,
            tokens=int(self._tokens),
            seconds=time.perf_counter() - started,
            kilowatt_hours=self._energy,
            model=str(self.files.model),
            resumed_from=first,
            skipped=self._skipped,
        )
        export(engine, prepared.model.model, tokenizer, settings, asdict(summary), self.files.model)
        if distributed.is_main:
            self.files.summary.write_text(json.dumps(asdict(summary), indent=1) + "\n")
        distributed.barrier()
        return summary

    def _newest(self, checkpoints: CheckpointStore) -> int | None:
        step = checkpoints.latest(log.warning)
        checkpoints.remove_after(step)
        return step

    def _outline(self, store: TokenStore, plan: Plan, steps: int, first: int | None) -> str:
        windows = plan.epoch(0)
        filled = fill_rate(windows, store.lengths.tolist(), plan.capacity)
        resumed = f", going on after step {first}" if first is not None else ""
        return (
            f"{len(store)} examples, {int(store.lengths.sum()):,} tokens in {len(windows)} windows "
            f"of {plan.capacity} ({filled:.1%} full); {steps} steps of {plan.batch} windows on "
            f"{self.distributed.world_size} worker(s){resumed}"
        )

    # --- Before training ------------------------------------------------------------------------

    def _model(self, reader: CheckpointReader | None) -> tuple[PreparedModel, Any]:
        settings = self.settings
        tokenizer = load_tokenizer(str(self.files.tokenizer))
        if settings.model.base is not None:
            config = load_config(settings.model.base)
        else:
            assert settings.model.fresh is not None
            config = fresh_config(
                settings.model.fresh, len(tokenizer), tokenizer.eos_token_id, tokenizer.pad_token_id
            )
        if settings.model.rope is not None:
            extend_rope(config, settings.model.rope)
        check_window(config, settings.data.window, settings.model.base or "the fresh model")
        model = build_model(
            settings.model, config=config, seed=settings.seed, device=self.distributed.device
        )
        prepared = prepare(model, settings.model, self.distributed.device)
        prepared.model.train()
        self._parameters = sum(p.numel() for p in prepared.model.parameters())
        prepared.notes.append(
            f"{self._parameters / 1e6:.1f}M parameters on {self.distributed.device}"
        )
        if reader is not None:
            state.load_weights(prepared.model, reader)
        self._operations = Operations.of(inner_model(model).config, prepared.model.layers)
        return prepared, tokenizer

    def _choose_activation_checkpoints(
        self, prepared: PreparedModel, store: TokenStore, plan: Plan
    ) -> None:
        """Decide by a trial on the longest possible batch what the backward pass recomputes."""
        layers, model = prepared.model.layers, self.settings.model
        config = inner_model(prepared.model.model).config
        if model.activation_checkpointing == "none" or self.distributed.device.type != "cuda":
            return
        if model.activation_checkpointing == "all":
            activation_checkpoint.apply(
                layers, [activation_checkpoint.Keep.NOTHING] * len(layers), 0
            )
            return
        windows = sorted(plan.epoch(0), key=lambda w: -sum(int(store.lengths[e]) for e in w))
        batch = collate(store, windows[: self.settings.batch.micro_batch_size]).to(
            self.distributed.device
        )
        total = torch.cuda.get_device_properties(self.distributed.device).total_memory
        budget = int((model.memory_gib or 0.94 * total / 2**30) * 2**30)
        _, note = activation_checkpoint.choose(
            layers,
            int(config.intermediate_size),
            lambda: prepared.model(batch),
            budget - _ELSEWHERE,
            self._reserved(),
        )
        for parameter in prepared.model.parameters():
            parameter.grad = None
        torch.cuda.empty_cache()
        prepared.notes.append(f"recomputation: {note}")

    def _reserved(self) -> int:
        """Bytes that gradients, masters and moments will take beyond the weights."""
        from cass_ray.train.model.memory import resident_gib

        zero, size = self.settings.zero, self.distributed.world_size
        gib = resident_gib(self.settings, self._parameters, size)
        weights = 2 if self.settings.model.precision == "bf16" else 4
        own = self._parameters * weights / (size if zero.stage == 3 else 1)
        buckets = 4 * zero.bucket_elements * 4 if zero.stage else 0
        return int(gib * 2**30 - own + buckets)

    def _engine(self, prepared: PreparedModel) -> TrainingEngine:
        settings = self.settings
        if settings.zero.stage == 0:
            return ReplicatedEngine(prepared.model, settings.optimizer, self.distributed)
        from cass_ray.train.engines.deepspeed import DeepSpeedEngine

        accumulation = settings.batch.accumulation(self.distributed.world_size)
        return DeepSpeedEngine(
            prepared.model, settings.zero, settings.optimizer, self.distributed, accumulation
        )

    # --- Training -------------------------------------------------------------------------------

    def _steps(
        self,
        engine: TrainingEngine,
        prepared: PreparedModel,
        store: TokenStore,
        plan: Plan,
        first: int,
        last: int,
        saving: tuple[CheckpointStore, CheckpointWriter],
        curves: Curves | None,
    ) -> float:
        settings, distributed = self.settings, self.distributed
        evaluation = Evaluator(settings, distributed, self.files)
        loader = BatchLoader(store, plan, distributed, settings.batch.micro_batch_size)
        energy = EnergyMeter(distributed.device)
        used = self._energy
        began, loss = time.perf_counter(), float("nan")
        for step in loader.steps(first, last):
            loss, values = self._step(engine, loader, store, step, last)
            done = step.number + 1
            self._energy = used + distributed.all_sum(energy.kilowatt_hours)[0]
            values["energy_kwh"] = self._energy
            if done % settings.evaluation.every == 0 or done == last:
                measured = evaluation.run(prepared.model, engine, done)
                self._held_out = measured.get("held_out_loss", self._held_out)
                values |= measured
            if done % settings.checkpoints.every == 0 or done == last:
                self._save(engine, saving[1], done)
            if distributed.is_main:
                for finished in saving[1].commit():
                    saving[0].prune(settings.checkpoints)
                    self._say(f"checkpoint of step {finished} written")
            if curves is not None and (done % settings.logging.every == 0 or done == last):
                curves.write(done, values)
                self._say(_progress(done, first, last, values, time.perf_counter() - began))
            if self._on_step is not None:
                self._on_step(done, values)
        return loss

    def _step(
        self,
        engine: TrainingEngine,
        loader: BatchLoader,
        store: TokenStore,
        step: OptimizerStep,
        last: int,
    ) -> tuple[float, dict[str, float]]:
        """One optimizer step: its mean loss, and its numbers over all workers."""
        meter = StepMeter(self._operations)
        total = torch.zeros((), dtype=torch.float64, device=self.distributed.device)
        for number in range(step.passes):
            batch, waited = loader.batch()
            meter.add(batch, waited)
            batch = batch.to(self.distributed.device)
            final = number + 1 == step.passes
            total += engine.accumulate(batch, 1.0 / max(step.predicted, 1), final)
        rate = learning_rate(self.settings.optimizer, step.number, last)
        summed, tokens, computed = self.distributed.all_sum(
            float(total), float(meter.tokens), meter.computed
        )
        loss = summed / max(step.predicted, 1)
        verdict, reason = self._guard.judge(loss)
        norm = 0.0
        if verdict is not LossVerdict.GO:
            self._report(verdict, reason, step, store)
        if verdict is LossVerdict.SKIP:
            engine.discard()
            self._skipped += 1
        else:
            norm = engine.update(rate)
        self._tokens += tokens
        return loss, self._values(meter, loss, norm, rate, tokens, computed)

    def _report(
        self, verdict: LossVerdict, reason: str, step: OptimizerStep, store: TokenStore
    ) -> None:
        pairs = sorted({store[example].pair for window in step.windows for example in window})
        message = f"step {step.number + 1}: {reason}; pairs: {', '.join(pairs)}"
        if verdict is LossVerdict.STOP:
            raise TrainingDiverged(
                f"{message}. Training stopped (guard); the checkpoints before it are kept"
            )
        action = "the step is skipped" if verdict is LossVerdict.SKIP else "reported only"
        if self.distributed.is_main:
            log.warning("%s: %s", message, action)
            self.files.append_event({"step": step.number + 1, "reason": reason, "pairs": pairs})

    def _values(
        self,
        meter: StepMeter,
        loss: float,
        norm: float,
        rate: float,
        tokens: float,
        computed: float,
    ) -> dict[str, float]:
        seconds = self.distributed.all_max(meter.seconds)
        values = {
            "loss": loss,
            "gradient_norm": norm,
            "learning_rate": rate,
            "tokens": tokens,
            "seconds": seconds,
            "tokens_per_second_per_worker": tokens / seconds / self.distributed.world_size,
            "data_wait_seconds": meter.waited,
            "skipped_steps": float(self._skipped),
        }
        peak = peak_operations(self.distributed.device)
        if peak is not None:
            values["mfu"] = computed / seconds / self.distributed.world_size / peak
            values["memory_gib"] = torch.cuda.max_memory_allocated(self.distributed.device) / 2**30
        return values

    def _save(self, engine: TrainingEngine, writer: CheckpointWriter, step: int) -> None:
        notes = {
            "updates": step - self._skipped,
            "skipped": self._skipped,
            "tokens": self._tokens,
            "energy_kwh": self._energy,
            "held_out_loss": self._held_out,
            "workers": self.distributed.world_size,
        }
        writer.start(step, state.tensors_to_save(engine), notes)

    def _recall(self, notes: dict[str, Any]) -> None:
        self._skipped = int(notes["skipped"])
        self._tokens = float(notes["tokens"])
        self._energy = float(notes["energy_kwh"])
        self._held_out = notes["held_out_loss"]


def _progress(done: int, first: int, last: int, values: dict[str, float], seconds: float) -> str:
    left = seconds / max(done - first, 1) * (last - done)
    parts = [
        f"step {done}/{last}",
        f"loss {values['loss']:.4f}",
        f"norm {values['gradient_norm']:.2f}",
        f"{values['tokens_per_second_per_worker']:,.0f} tokens/s each",
    ]
    if "mfu" in values:
        parts.append(f"MFU {values['mfu']:.1%}")
    if "held_out_loss" in values:
        parts.append(f"held-out loss {values['held_out_loss']:.4f}")
    if "bench_accuracy" in values:
        parts.append(f"CASS-Bench {values['bench_accuracy']:.1%}")
    parts.append(f"{left / 60:.0f} min left" if left >= 90 else f"{left:.0f} s left")
    return " · ".join(parts)
