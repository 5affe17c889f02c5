"""Training on Ray: tokenizing with Ray Data, a trainer in every worker of a ``TorchTrainer``."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from actors.progress_file import ProgressWriter, followed, write_line
from actors.session import is_alone, join_submitted, start_local
from cass_ray.dataset.parquet import of_one_storage, parquet_dataset
from cass_ray.llm.pretrained import load_tokenizer
from cass_ray.storage.location import below
from cass_ray.train.data.examples import COLUMNS, LEVEL_COLUMNS, LIFTED, ExampleGenerator
from cass_ray.train.data.prepare import (
    by_data_set,
    is_prepared,
    make_tokenizer,
    pair_files,
    read_pairs,
    store_examples,
)
from cass_ray.train.data.recipe_files import prepare_recipe
from cass_ray.train.data.token_store import EXAMPLE_SCHEMA
from cass_ray.train.run_files import RunFiles
from cass_ray.train.settings import TrainSettings
from cass_ray.train.share import RunShare

FEW_PAIRS = 512
"""These become tokens in less time than an actor takes to start."""

StepHook = Callable[[int, dict[str, float]], None]


def join_cluster(workers: int) -> None:
    """Join the cluster of ``RAY_ADDRESS``, else start a local one."""
    if ray.is_initialized():
        return
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    os.environ.setdefault("RAY_worker_register_timeout_seconds", "600")
    os.environ.setdefault("RAY_TRAIN_WORKER_GROUP_START_TIMEOUT_S", "600")
    # Ray makes workers nice, which other work on the machine turns into waiting: steps of a minute.
    os.environ.setdefault("RAY_worker_niceness", "0")
    quiet: dict[str, Any] = {"logging_level": "warning", "log_to_driver": False}
    if join_submitted(**quiet):
        return
    start_local(lean=True, num_cpus=max(os.cpu_count() or 1, workers), **quiet)


class PairTokenizer:
    """Pairs in, examples out; one tokenizer an actor."""

    def __init__(self, settings: TrainSettings) -> None:
        tokenizer = load_tokenizer(str(RunFiles(settings.out).tokenizer))
        self.maker = ExampleGenerator(settings.data, tokenizer)

    def __call__(self, batch: pa.Table) -> pa.Table:
        """The examples of the pairs in ``batch``."""
        rows = [row for pair in batch.to_pylist() for row in self.maker.examples(pair)]
        return pa.Table.from_pylist(rows, schema=EXAMPLE_SCHEMA)


def prepare_data(settings: TrainSettings, say: Callable[[str], None]) -> None:
    """Make the token files of the run, unless they are there.

    Raises ``DataError`` and ``cass_ray.llm.pretrained.ModelError``.
    """
    files = pair_files(settings.data.pairs)
    if is_prepared(settings, files):
        say("tokens: made by an earlier run")
        return
    if settings.data.recipe is not None:
        columns = ("id", "origin", "repository", "filename", "cuda_source", "hip_source")
        drawn = prepare_recipe(settings, files, read_pairs(files, columns))
        say(f"{drawn['pairs']} pairs to draw from, {drawn['held_out']} held out")
        if skipped := drawn["no_sources"]:
            say(f"{skipped} rows without a source on both sides skipped")
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
    if sum(parquet_dataset(some).count_rows() for some in by_data_set(files)) <= FEW_PAIRS:
        maker = PairTokenizer(settings).maker
        for pair in read_pairs(files):
            yield from maker.examples(pair)
        return
    actors = max(1, min(int(ray.cluster_resources().get("CPU", 1)) - 1, 16))
    lifted = [LIFTED] if settings.data.rdna3 == LIFTED else []
    dataset = pairs_dataset(files, [*COLUMNS, *lifted])
    dataset = dataset.repartition(target_num_rows_per_block=64).map_batches(
        PairTokenizer,
        fn_constructor_args=(settings,),
        compute=ray.data.ActorPoolStrategy(min_size=1, max_size=actors),
        batch_format="pyarrow",
        batch_size=64,
        num_cpus=1,
    )
    for batch in dataset.iter_batches(batch_format="pyarrow", batch_size=256):
        yield from batch.to_pylist()


def pairs_dataset(files: list[str], columns: list[str]) -> ray.data.Dataset:
    """The rows of ``files``, which nodes read where they are."""
    read = []
    for some in by_data_set(files):
        filesystem, paths = of_one_storage(some)
        there = parquet_dataset(some).schema.names
        names = columns + [name for name in LEVEL_COLUMNS if name in there]
        read.append(ray.data.read_parquet(paths, filesystem=filesystem, columns=names))
    return read[0].union(*read[1:]) if len(read) > 1 else read[0]


@dataclass(frozen=True)
class TrainWorker:
    """What a worker of the group runs."""

    settings: TrainSettings
    on_step: StepHook | None = None
    progress: Any = None
    """A :class:`~.progress_file.ProgressWriter`, where the driver's folder may not be seen."""

    def __call__(self, _: dict[str, Any]) -> None:
        """Run the loop; what comes of it is in the folder of the run, and where it is shared."""
        import ray.train
        import ray.train.torch
        import torch

        from cass_ray.train.distributed import distributed_context
        from cass_ray.train.trainer import Trainer

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
        shared, on_step = self._shared(context.get_world_rank() == 0)
        Trainer(self.settings, distributed_context(device), on_step=on_step, say=self._say).run()
        if shared is not None:
            shared.deliver()

    def _say(self, text: str) -> None:
        if self.progress is None:
            write_line(RunFiles(self.settings.out).progress, text)
        else:
            ray.get(self.progress.write.remote(text))

    def _shared(self, first: bool) -> tuple[RunShare | None, StepHook | None]:
        """For the first worker the share, if any, and a hook that sends curves beside every
        checkpoint; for the others what they have."""
        if self.settings.share is None:
            return None, self.on_step
        share = RunShare(self.settings.share, self.settings.out)
        share.fetch()
        if not first:
            return None, self.on_step

        def hear(step: int, values: dict[str, float]) -> None:
            if self.on_step is not None:
                self.on_step(step, values)
            if step % self.settings.checkpoints.every == 0:
                share.send_curves()

        return share, hear


def fit(
    settings: TrainSettings,
    on_step: StepHook | None = None,
    say: Callable[[str], None] = print,
) -> dict[str, Any]:
    """Train on the cluster that ``ray.init`` has joined; returns the run's summary.

    ``say`` hears of its progress, ``on_step`` runs in every worker after each optimizer step.
    Raises ``ray.train.TrainingFailedError`` when more workers fail than ``workers.failures``, or
    the loop raises.
    """
    import ray.train
    from ray.train.torch import TorchConfig, TorchTrainer

    from actors.lean_train import LeanTrainer

    workers = settings.workers
    on_gpu = workers.gpus > 0
    resources = {"CPU": workers.cpus} | ({"GPU": workers.gpus} if on_gpu else {})
    files = RunFiles(settings.out)
    share = RunShare(settings.share, settings.out) if settings.share is not None else None
    progress = None
    if share is not None:
        share.offer()
        progress = _beside_driver(ProgressWriter, files.progress)
    trainer = (LeanTrainer if is_alone() else TorchTrainer)(
        TrainWorker(settings, on_step, progress),
        train_loop_config={},
        torch_config=TorchConfig(backend="nccl" if on_gpu else "gloo"),
        scaling_config=ray.train.ScalingConfig(
            num_workers=workers.number, use_gpu=on_gpu, resources_per_worker=resources
        ),
        run_config=ray.train.RunConfig(
            name=settings.name,
            storage_path=str(below(settings.share or settings.out, "ray")),
            failure_config=ray.train.FailureConfig(max_failures=workers.failures),
        ),
    )
    files.summary.unlink(missing_ok=True)
    with followed(files.progress, say):
        result = trainer.fit()
    if result.error is not None:
        raise result.error
    if share is not None:
        share.collect()
    summary: dict[str, Any] = json.loads(files.summary.read_text())
    return summary


def _beside_driver(actor: type, *arguments: Any) -> Any:
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    return ray.remote(actor).options(num_cpus=0, scheduling_strategy=here).remote(*arguments)
