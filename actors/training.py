"""Training on Ray: tokenising with Ray Data, the loop in the workers of a ``TorchTrainer``."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import ray

from cass_ray.train.data import (
    is_prepared,
    make_tokenizer,
    pair_files,
    read_pairs,
    store_examples,
)
from cass_ray.train.examples import COLUMNS, ExampleMaker
from cass_ray.train.files import RunFiles
from cass_ray.train.settings import TrainSettings
from cass_ray.train.store import EXAMPLE_SCHEMA

FEW_PAIRS = 512
"""So many pairs become tokens in less time than an actor takes to start."""

StepHook = Callable[[int, dict[str, float]], None]


class Tokeniser:
    """Pairs in, examples out; one tokenizer an actor."""

    def __init__(self, settings: TrainSettings) -> None:
        from cass_ray.train.model import load_tokenizer

        tokenizer = load_tokenizer(str(RunFiles(settings.out).tokenizer))
        self.maker = ExampleMaker(settings.data, tokenizer)

    def __call__(self, batch: pa.Table) -> pa.Table:
        """The examples of the pairs in ``batch``."""
        rows = [row for pair in batch.to_pylist() for row in self.maker.examples(pair)]
        return pa.Table.from_pylist(rows, schema=EXAMPLE_SCHEMA)


def prepare_data(settings: TrainSettings, say: Callable[[str], None]) -> None:
    """Make the token files of the run, unless they are there.

    Raises ``DataError`` and ``ModelError``.
    """
    files = pair_files(settings.data.pairs)
    if is_prepared(settings, files):
        say("tokens: made by an earlier run")
        return
    tokenizer = make_tokenizer(settings, files)
    tokenizer.save_pretrained(RunFiles(settings.out).tokenizer)
    started = time.perf_counter()
    counts = store_examples(settings, files, _examples(settings, files))
    dropped = ", ".join(f"{number} {reason}" for reason, number in counts["dropped"].items())
    say(
        f"tokens: {counts['train']} examples ({counts['train_tokens']:,} tokens), "
        f"{counts['held_out']} held out, dropped: {dropped or 'none'}; "
        f"{time.perf_counter() - started:.0f} s"
    )


def _examples(settings: TrainSettings, files: list[str]) -> Iterator[dict[str, Any]]:
    """Examples of the pairs in ``files``: from a pool of actors, unless there are few."""
    if pq.ParquetDataset(files).read(columns=["id"]).num_rows <= FEW_PAIRS:
        maker = Tokeniser(settings).maker
        for pair in read_pairs(files):
            yield from maker.examples(pair)
        return
    actors = max(1, min(int(ray.cluster_resources().get("CPU", 1)) - 1, 16))
    dataset = ray.data.read_parquet(files, columns=list(COLUMNS))
    dataset = dataset.repartition(target_num_rows_per_block=64).map_batches(
        Tokeniser,
        fn_constructor_args=(settings,),
        compute=ray.data.ActorPoolStrategy(min_size=1, max_size=actors),
        batch_format="pyarrow",
        batch_size=64,
        num_cpus=1,
    )
    for batch in dataset.iter_batches(batch_format="pyarrow", batch_size=256):
        yield from batch.to_pylist()


@dataclass(frozen=True)
class WorkerTask:
    """What a worker of the group runs."""

    settings: TrainSettings
    on_step: StepHook | None = None

    def __call__(self, _: dict[str, Any]) -> None:
        """Run the loop; the last report carries the summary."""
        import ray.train
        import ray.train.torch
        import torch

        from cass_ray.train.loop import Loop
        from cass_ray.train.world import this_world

        logging.basicConfig(level=logging.INFO, format="%(message)s", force=True)
        for name in ("DeepSpeed", "transformers"):
            logging.getLogger(name).setLevel(logging.WARNING)
        if not self.settings.workers.gpus:
            cores = len(os.sched_getaffinity(0))
            torch.set_num_threads(max(1, cores // self.settings.workers.number))
        device = ray.train.torch.get_device()
        if isinstance(device, list):
            device = device[0]
        context = ray.train.get_context()
        os.environ["LOCAL_RANK"] = str(context.get_local_rank())
        summary = Loop(
            self.settings, this_world(device), on_step=self.on_step, say=_print_line
        ).run()
        ray.train.report(asdict(summary))


def _print_line(text: str) -> None:
    print(text, flush=True)


def fit(settings: TrainSettings, on_step: StepHook | None = None) -> dict[str, Any]:
    """Train on the cluster that ``ray.init`` has joined; returns the run's summary.

    ``on_step`` runs in every worker after each optimizer step. Raises
    ``ray.train.TrainingFailedError`` when more workers fail than ``workers.failures``, or the loop
    raises.
    """
    import ray.train
    from ray.train.torch import TorchConfig, TorchTrainer

    workers = settings.workers
    on_gpu = workers.gpus > 0
    resources = {"CPU": workers.cpus} | ({"GPU": workers.gpus} if on_gpu else {})
    trainer = TorchTrainer(
        WorkerTask(settings, on_step),
        train_loop_config={},
        torch_config=TorchConfig(backend="nccl" if on_gpu else "gloo"),
        scaling_config=ray.train.ScalingConfig(
            num_workers=workers.number, use_gpu=on_gpu, resources_per_worker=resources
        ),
        run_config=ray.train.RunConfig(
            name=settings.name,
            storage_path=str(settings.out / "ray"),
            failure_config=ray.train.FailureConfig(max_failures=workers.failures),
        ),
    )
    result = trainer.fit()
    if result.error is not None:
        raise result.error
    return dict(result.metrics or {})
