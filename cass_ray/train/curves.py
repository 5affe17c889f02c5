"""Curves of a run: a JSON line per step, TensorBoard, and by setting W&B or MLflow."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Protocol

from cass_ray.train.settings import TrainSettings

METRICS = "metrics.jsonl"


class Sink(Protocol):
    """Where the numbers of each step go."""

    def write(self, step: int, values: dict[str, float]) -> None: ...

    def close(self) -> None: ...


class JsonLinesSink:
    """``metrics.jsonl``; what a resumed run does again is taken out first."""

    def __init__(self, path: Path, from_step: int) -> None:
        kept = [row for row in read_metrics(path) if row["step"] <= from_step]
        path.parent.mkdir(parents=True, exist_ok=True)
        self._stream = path.open("w")
        for row in kept:
            self._stream.write(json.dumps(row) + "\n")
        self._stream.flush()

    def write(self, step: int, values: dict[str, float]) -> None:
        self._stream.write(json.dumps({"step": step, **values}) + "\n")
        self._stream.flush()

    def close(self) -> None:
        self._stream.close()


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """The rows of a ``metrics.jsonl``; none when there is no such file."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


class TensorBoard:
    """Event files that ``tensorboard --logdir`` shows."""

    def __init__(self, folder: Path, from_step: int) -> None:
        from torch.utils.tensorboard.writer import SummaryWriter

        self._writer = SummaryWriter(str(folder), purge_step=from_step + 1)

    def write(self, step: int, values: dict[str, float]) -> None:
        for name, value in values.items():
            self._writer.add_scalar(name, value, step)

    def close(self) -> None:
        self._writer.close()


class WeightsAndBiases:
    """A W&B run of the job's name, resumed where it exists. Raises ``ImportError``."""

    def __init__(self, settings: TrainSettings) -> None:
        import wandb

        self._run = wandb.init(
            project=settings.logging.wandb,
            name=settings.name,
            id=settings.name,
            resume="allow",
            config=settings.model_dump(mode="json"),
        )

    def write(self, step: int, values: dict[str, float]) -> None:
        self._run.log(values, step=step)

    def close(self) -> None:
        self._run.finish()


class MlFlow:
    """An MLflow run in the experiment of the settings. Raises ``ImportError``."""

    def __init__(self, settings: TrainSettings) -> None:
        import mlflow

        self._mlflow = mlflow
        mlflow.set_experiment(settings.logging.mlflow)
        mlflow.start_run(run_name=settings.name)

    def write(self, step: int, values: dict[str, float]) -> None:
        self._mlflow.log_metrics(values, step=step)

    def close(self) -> None:
        self._mlflow.end_run()


class Curves:
    """Writes each step to every sink that the settings ask for."""

    def __init__(self, settings: TrainSettings, from_step: int) -> None:
        """Open them. Raises ``ImportError`` naming what a setting needs."""
        self._sinks: list[Sink] = [JsonLinesSink(settings.out / METRICS, from_step)]
        if settings.logging.tensorboard:
            self._sinks.append(TensorBoard(settings.out / "tensorboard", from_step))
        if settings.logging.wandb is not None:
            self._sinks.append(WeightsAndBiases(settings))
        if settings.logging.mlflow is not None:
            self._sinks.append(MlFlow(settings))

    def write(self, step: int, values: dict[str, float]) -> None:
        for sink in self._sinks:
            sink.write(step, values)

    def close(self) -> None:
        for sink in self._sinks:
            sink.close()
