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
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch

from cass_ray.train import setup
from cass_ray.train.checkpoint import state
from cass_ray.train.checkpoint.export import export
from cass_ray.train.checkpoint.reader import CheckpointReader
from cass_ray.train.checkpoint.store import CheckpointStore
from cass_ray.train.checkpoint.writer import CheckpointWriter
from cass_ray.train.curves import Curves
from cass_ray.train.data.loader import OptimizerStep
from cass_ray.train.data.sources import StepLoader, TrainingSource, training_source
from cass_ray.train.distributed import DistributedContext
from cass_ray.train.engines.base import TrainingEngine
from cass_ray.train.engines.optimizers import learning_rate
from cass_ray.train.evaluation import Evaluator
from cass_ray.train.loss_guard import LossGuard, LossVerdict, TrainingDiverged
from cass_ray.train.meters import EnergyMeter, Operations, StepMeter, peak_operations
from cass_ray.train.model.build import PreparedModel, inner_model
from cass_ray.train.model.memory import OutOfMemory, advice
from cass_ray.train.run_files import RunFiles
from cass_ray.train.run_progress import RunProgress
from cass_ray.train.settings import TrainSettings

log = logging.getLogger("cass.train")


@dataclass(frozen=True)
class TrainingSummary:
    """How a run ended; ``summary.json`` holds it. Sums are over all workers and restarts."""

    steps: int
    loss: float
    held_out_loss: float | None
    tokens: int
    seconds: float
    kilowatt_hours: float
    model: str
    resumed_from: int | None
    skipped: int


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
        shared = settings.workers.sequence_parallel
        self.distributed = distributed = replace(distributed, sequence_size=shared)
        self.files = RunFiles(settings.out)
        self._on_step = on_step
        self._say = say if distributed.is_main else (lambda _: None)
        self._guard = LossGuard(settings.guard)
        self._progress = RunProgress()
        self._parameters = 0

    def run(self) -> TrainingSummary:
        """Train to the end and export.

        Raises:
            TrainingDiverged: the guard stopped it.
            OutOfMemory: with what would fit.
            CheckpointError: the newest checkpoint is of another model, or none can be written.
            cass_ray.llm.pretrained.ModelError: no such model, or it cannot be used as asked.
            AttentionUnavailable, OptimizerUnavailable: a setting needs what is not here.
            ValueError: the data fill not one step.
        """
        started = time.perf_counter()
        try:
            return self._run(started)
        except torch.OutOfMemoryError as error:
            raise OutOfMemory(self._explain(error)) from error

    def _explain(self, error: Exception) -> str:
        available = torch.cuda.get_device_properties(self.distributed.device).total_memory / 2**30
        first = str(error).strip().split("\n")[0]
        workers = self.distributed.world_size
        return f"{first}\n{advice(self.settings, self._parameters, workers, available)}"

    def _run(self, started: float) -> TrainingSummary:
        settings, distributed = self.settings, self.distributed
        source = training_source(settings, distributed, self.files)
        steps = settings.steps or source.steps_of_epochs()
        checkpoints = CheckpointStore(settings.checkpoint_url)
        first = distributed.from_main(self._newest(checkpoints) if distributed.is_main else None)
        engine, prepared, tokenizer = self._prepared(checkpoints, first, source)
        for note in prepared.notes:
            self._say(note)
        resumed = f", going on after step {first}" if first is not None else ""
        workers = f"{distributed.world_size} worker(s){resumed}"
        self._say(f"{source.outline()}; {steps} steps on {workers}")
        writer = CheckpointWriter(checkpoints, distributed.rank, distributed.world_size)
        curves = Curves(settings, first or 0) if distributed.is_main else None
        try:
            loss = self._steps(
                engine, prepared, source, first or 0, steps, (checkpoints, writer), curves
            )
            writer.finish()
            distributed.barrier()
            if distributed.is_main:
                writer.commit()
                checkpoints.prune(settings.checkpoints)
        finally:
            if curves is not None:
                curves.close()
        summary = self._summary(loss, steps, first, time.perf_counter() - started)
        export(engine, prepared.model.model, tokenizer, settings, asdict(summary), self.files.model)
        if distributed.is_main:
            self.files.summary.write_text(json.dumps(asdict(summary), indent=1) + "\n")
        distributed.barrier()
        return summary

    def _prepared(
        self, checkpoints: CheckpointStore, first: int | None, source: TrainingSource
    ) -> tuple[TrainingEngine, PreparedModel, Any]:
        """Engine, model and tokenizer; as they were after step ``first``, where there is one."""
        settings, distributed = self.settings, self.distributed
        reader = CheckpointReader(checkpoints, first) if first is not None else None
        prepared, tokenizer = setup.prepare_model(settings, distributed)
        self._parameters = prepared.parameters
        if reader is not None:
            state.load_weights(prepared.model, reader)
        config = inner_model(prepared.model.model).config
        self._operations = Operations.of(config, prepared.model.layers)
        setup.choose_activation_checkpoints(prepared, settings, distributed, source.longest_batch)
        engine = setup.make_engine(prepared, settings, distributed)
        if reader is not None:
            state.load_engine(engine, reader, reader.manifest.notes["updates"])
            self._progress = RunProgress.from_notes(reader.manifest.notes)
            reader.close()
        return engine, prepared, tokenizer

    def _summary(
        self, loss: float, steps: int, first: int | None, seconds: float
    ) -> TrainingSummary:
        return TrainingSummary(
            steps=steps,
            loss=loss,
            held_out_loss=self._progress.held_out_loss,
            tokens=int(self._progress.tokens),
            seconds=seconds,
            kilowatt_hours=self._progress.energy_kwh,
            model=str(self.files.model),
            resumed_from=first,
            skipped=self._progress.skipped,
        )

    def _newest(self, checkpoints: CheckpointStore) -> int | None:
        step = checkpoints.latest(self._say)
        checkpoints.remove_after(step)
        return step

    def _steps(
        self,
        engine: TrainingEngine,
        prepared: PreparedModel,
        source: TrainingSource,
        first: int,
        last: int,
        saving: tuple[CheckpointStore, CheckpointWriter],
        curves: Curves | None,
    ) -> float:
        settings, distributed = self.settings, self.distributed
        evaluation = Evaluator(settings, distributed, self.files)
        loader = source.loader()
        energy = EnergyMeter(distributed.device)
        used = self._progress.energy_kwh
        began, loss = time.perf_counter(), float("nan")
        for step in loader.steps(first, last):
            loss, values = self._step(engine, loader, source, step, last)
            done = step.number + 1
            evaluated = done % settings.evaluation.every == 0 or done == last
            saved = done % settings.checkpoints.every == 0 or done == last
            due = done % settings.logging.every == 0 or evaluated
            if due or saved:  # the meter takes milliseconds to read
                self._progress.energy_kwh = used + distributed.all_sum(energy.kilowatt_hours)[0]
                values["energy_kwh"] = self._progress.energy_kwh
            if evaluated:
                measured = evaluation.run(prepared.model, engine, done)
                self._progress.held_out_loss = measured.get(
                    "held_out_loss", self._progress.held_out_loss
                )
                values |= measured
            if saved:
                notes = self._progress.notes(done, distributed.world_size)
                saving[1].start(done, state.tensors_to_save(engine), notes)
            if distributed.is_main:
                for finished in saving[1].commit():
                    saving[0].prune(settings.checkpoints)
                    self._say(f"checkpoint of step {finished} written")
            if curves is not None and due:
                curves.write(done, values)
                self._say(_progress_line(done, first, last, values, time.perf_counter() - began))
            if self._on_step is not None:
                self._on_step(done, values)
        return loss

    def _step(
        self,
        engine: TrainingEngine,
        loader: StepLoader,
        source: TrainingSource,
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
            self._report(verdict, reason, step, source)
        if verdict is LossVerdict.SKIP:
            engine.zero_grad()
            self._progress.skipped += 1
        else:
            norm = engine.update(rate)
        self._progress.tokens += tokens
        return loss, self._values(meter, loss, norm, rate, tokens, computed)

    def _report(
        self, verdict: LossVerdict, reason: str, step: OptimizerStep, source: TrainingSource
    ) -> None:
        pairs = source.pairs_of(step)
        of = f"; pairs: {', '.join(pairs)}" if pairs else ""
        message = f"step {step.number + 1}: {reason}{of}"
        if verdict is LossVerdict.STOP:
            raise TrainingDiverged(
                f"{message}. Training stopped (guard); the checkpoints before it are kept"
            )
        action = "the step is skipped" if verdict is LossVerdict.SKIP else "reported only"
        if self.distributed.is_main:
            self._say(f"{message}: {action}")
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
            "skipped_steps": float(self._progress.skipped),
        }
        peak = peak_operations(self.distributed.device)
        if peak is not None:
            values["mfu"] = computed / seconds / self.distributed.world_size / peak
            values["memory_gib"] = torch.cuda.max_memory_allocated(self.distributed.device) / 2**30
        return values


def _progress_line(
    done: int, first: int, last: int, values: dict[str, float], seconds: float
) -> str:
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
