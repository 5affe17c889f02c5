"""The Ray Data pipeline of ``run_bench``: items through questioners, answerers and markers.

Systems that need a GPU, or wait for a service, have a pipeline of their own; the others share one.
All stages stream: a GPU never waits for compilers, which judge what it wrote before.
"""

from __future__ import annotations

import logging
import math
import pickle
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import ray
from ray.data import ActorPoolStrategy

from actors.build_pipeline import connect
from actors.coordinator import coordinating
from actors.examiners import Answerer, Marker, Questioner, answered, rows
from actors.nodes import ALL_NODES
from cass_ray.bench.plan import Asked, BenchSettings, Item, in_process
from cass_ray.bench.programs import Compilers, ask
from cass_ray.bench.question import BenchLevel
from cass_ray.bench.results import BenchSample
from cass_ray.bench.systems import REFERENCE, System
from cass_ray.bench.task import BenchTask
from cass_ray.translate.engines.prefixes import CHAT_PREFIX as _CHAT
from cass_ray.translate.engines.prefixes import MODEL_PREFIX as _MODEL


def bench_samples(
    settings: BenchSettings,
    items: Sequence[Item],
    tasks: Mapping[str, BenchTask],
    systems: Mapping[str, System],
    compilers: Compilers,
) -> Iterator[list[BenchSample]]:
    """Make the samples of ``items``; finished ones come out in blocks.

    ``systems`` are the driver's own, by name. Raises ``ToolMissing`` when no node offers ``amd``.
    """
    connect(settings.slots)
    _quiet()
    name, coordinator = coordinating()
    for group in _groups(items).values():
        run = _Run(settings, name, dict(tasks), group)
        dataset = run.marked(run.answers(systems, compilers))
        for batch in dataset.iter_batches(batch_size=None, batch_format="pyarrow"):
            yield [BenchSample.model_validate_json(_work(row)) for row in batch.to_pylist()]
    ray.kill(coordinator)


def _quiet() -> None:
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.verbose_stats_logs = False
    context.print_on_execution_start = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)


def _work(row: dict[str, Any]) -> str:
    text: str = pickle.loads(row["work"])
    return text


def _groups(items: Sequence[Item]) -> dict[str, list[Item]]:
    """Items by what answers them: one model, one chat model, the driver, or other workers.

    The reference has workers of its own, because they are given the tasks.
    """
    groups: dict[str, list[Item]] = {}
    for item in items:
        if in_process(item):
            key = "driver"
        elif item.system.startswith((_MODEL, _CHAT)) or item.system == REFERENCE:
            key = item.system
        else:
            key = "workers"
        groups.setdefault(key, []).append(item)
    return groups


class _Run:
    """One group of items through the stages."""

    def __init__(
        self,
        settings: BenchSettings,
        coordinator: str,
        tasks: dict[str, BenchTask],
        items: list[Item],
    ) -> None:
        self._settings = settings
        self._items = items
        self._tasks = tasks
        self._arguments = {
            "coordinator": coordinator,
            "cached": settings.cache,
            "architecture": settings.amd_architecture,
        }
        self._system = items[0].system
        self._here = in_process(items[0])

    def answers(self, systems: Mapping[str, System], compilers: Compilers) -> Any:
        """The data set of ``(Item, BenchAnswer)``."""
        if self._here:
            work = [
                (item.id, (item, answered(asked, systems[item.system])))
                for item in self._items
                for asked in [Asked(item, ask(self._tasks[item.task], item.kind, compilers))]
            ]
            return ray.data.from_blocks([rows([one]) for one in work])
        given = {"tasks": self._tasks if self._system == REFERENCE else {}}
        return self._pool(self._questions(compilers), Answerer, given, self._answerers())

    def _questions(self, compilers: Compilers) -> Any:
        """The data set of :class:`Asked`; the driver makes those about source text."""
        if self._settings.level is BenchLevel.SOURCE:
            result = [
                (item.id, Asked(item, ask(self._tasks[item.task], item.kind, compilers)))
                for item in self._items
            ]
            return ray.data.from_blocks([rows([one]) for one in result])
        blocks: list[pa.Table] = [rows([(item.id, item)]) for item in self._items]
        dataset = ray.data.from_blocks(blocks)
        return self._pool(dataset, Questioner, {"tasks": self._tasks}, _slots("nvidia", 1.0))

    def marked(self, dataset: Any) -> Any:
        share = 1.0 if self._here or self._apart else 0.5
        return self._pool(dataset, Marker, {"tasks": self._tasks}, _slots("amd", share))

    @property
    def _apart(self) -> bool:
        """Whether answers come from a GPU or a service, not from the slots of the markers."""
        gpu = ray.cluster_resources().get("GPU", 0) >= 1
        return self._system.startswith(_CHAT) or (self._system.startswith(_MODEL) and gpu)

    def _answerers(self) -> dict[str, Any]:
        """Resources and concurrency of the answering actors."""
        if self._system.startswith(_CHAT):
            return {"actors": 1, "threads": self._settings.chat_requests, "resources": {}}
        if self._apart:
            gpus = int(ray.cluster_resources()["GPU"])
            return {"actors": gpus, "threads": 1, "resources": {}, "num_gpus": 1}
        return _slots("amd", 0.5)

    def _pool(
        self, dataset: Any, worker: type, arguments: dict[str, Any], size: dict[str, Any]
    ) -> Any:
        threads = size["threads"]
        return dataset.map_batches(
            worker,
            fn_constructor_kwargs={**self._arguments, **arguments},
            compute=ActorPoolStrategy(
                size=size["actors"],
                max_concurrent_calls_per_actor=threads,
                enable_true_multi_threading=threads > 1,
            ),
            num_cpus=0,
            num_gpus=size.get("num_gpus", 0),
            resources=size["resources"],
            batch_size=None,
            batch_format="pyarrow",
        )


def _slots(resource: str, share: float) -> dict[str, Any]:
    """Actors that take ``share`` of every slot of ``resource``, a thread for each slot."""
    threads = ALL_NODES.threads_of_an_actor(resource)
    return {
        "actors": math.ceil(ALL_NODES.slots_of(resource) / threads),
        "threads": threads,
        "resources": {resource: share * threads},
    }
