"""CASS-Bench on a model while it trains: accuracy against step, as in the CASS paper's figure."""

from __future__ import annotations

import random
import shutil
import tempfile
from pathlib import Path

from cass_ray.llm.pretrained import load_tokenizer
from cass_ray.temporary import temporary_prefix
from cass_ray.train.checkpoint.export import export
from cass_ray.train.distributed import DistributedContext
from cass_ray.train.engines.base import TrainingEngine
from cass_ray.train.model.build import AnswerModel
from cass_ray.train.settings import TrainSettings
from cass_ray.translate.engines.model import ModelOptions, ModelTranslator


def bench_accuracy(
    engine: TrainingEngine,
    model: AnswerModel,
    settings: TrainSettings,
    distributed: DistributedContext,
) -> float | None:
    """Share of the sampled tasks that the model solves; None on workers other than the first.

    The first worker exports the weights to a temporary folder and asks the model as any user would;
    the others wait.
    """
    folder = Path(tempfile.mkdtemp(prefix=temporary_prefix("bench-model")))
    try:
        tokenizer = load_tokenizer(str(settings.out / "tokenizer"))
        results = {"steps": 0, "tokens": 0, "loss": 0.0, "kilowatt_hours": 0.0}
        export(engine, model.model, tokenizer, settings, results, folder / "model")
        accuracy = _score(folder / "model", settings) if distributed.is_main else None
        distributed.barrier()
        return accuracy
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _score(folder: Path, settings: TrainSettings) -> float:
    bench = settings.evaluation.bench
    assert bench is not None
    from cass_ray.bench.evaluate import evaluate
    from cass_ray.bench.question import BenchLevel
    from cass_ray.bench.task import load_tasks

    tasks = load_tasks()
    chosen = random.Random(settings.seed).sample(tasks, min(bench.tasks, len(tasks)))
    translator = ModelTranslator(str(folder), ModelOptions(max_new_tokens=bench.max_new_tokens))
    architectures = settings.data.architectures or ["sm_80"]
    scores = evaluate(
        translator,
        chosen,
        BenchLevel(bench.level),
        architecture=architectures[0] if bench.level == "assembly" else "",
        seed=settings.seed,
    )
    return scores.share("passed")
