"""The Ray Data pipeline of ``build_dataset``: staged rows through the actor pools."""

from __future__ import annotations

import logging
import math
import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import ray
from ray.data import ActorPoolStrategy
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from actors.compilers import AmdCompiler, NvidiaCompiler
from actors.coordinator import Coordinator
from actors.staged import staged_blocks
from actors.translators import SourceTranslator
from cass_ray.settings import BuildSettings
from cass_ray.stages import Row
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.translate.registry import IN_PROCESS_ENGINES

_OBJECT_STORE_BYTES = 512 << 20
_ROWS_PER_BLOCK = 8
_BLOCKS_PER_SLOT = 4
_MOST_THREADS = 8
_START_ATTEMPTS = 4
_LEAN = {
    "enable_metrics_collection": False,
    "task_events_report_interval_ms": 0,
    "prestart_worker_first_driver": False,
}
"""A local node lives as long as the job and nobody looks at it: its metrics and task events would
take two seconds of CPU a minute. Nor is a worker needed for each of its CPUs."""


def connect(slots: int | None, amd_share: float = 0.5) -> None:
    """Join the cluster of ``RAY_ADDRESS`` (a submitted job has it), else start a local one.

    A local one offers ``slots`` (default: a core each) of ``nvidia``, and ``amd_share`` times as
    many of ``amd``: an AMD compiler keeps up with two for Nvidia.
    """
    if ray.is_initialized():
        return
    if os.environ.get("RAY_ADDRESS"):
        ray.init(log_to_driver=False)
        return
    slots = slots or os.cpu_count() or 1
    logging.getLogger("ray._private.authentication").setLevel(logging.ERROR)
    resources = {"nvidia": slots, "amd": max(1, int(slots * amd_share))}
    for attempt in range(_START_ATTEMPTS):
        try:
            _start(resources)
            return
        except Exception as error:  # Ray raises nothing narrower
            # It gives a node 30 s; a machine that is busy compiling may take longer.
            if "timed out during startup" not in str(error) or attempt + 1 == _START_ATTEMPTS:
                raise
            ray.shutdown()


def _start(resources: dict[str, int]) -> None:
    """A local node that offers ``resources``."""
    ray.init(
        address="local",
        # The compilers take slots. On a node without a CPU, Ray Data runs one task at a time.
        num_cpus=int(resources["nvidia"]),
        resources=resources,
        include_dashboard=False,
        object_store_memory=_OBJECT_STORE_BYTES,
        log_to_driver=False,
        configure_logging=False,
        _system_config=_LEAN,
    )


def slots_of(resource: str) -> int:
    """Slots of ``resource`` on all nodes together. Raises ``ToolMissing`` where there is none."""
    offered = int(ray.cluster_resources().get(resource, 0))
    if offered < 1:
        raise ToolMissing(
            f"A node that offers the resource `{resource}`",
            f"Start a cluster with `cass cluster up`, or add a node where `cass doctor` finds the "
            f"toolchain: `ray start --address=... --resources='{{\"{resource}\": 2}}'`.",
        )
    return offered


def threads_of_an_actor(resource: str) -> int:
    """How many slots of a node one actor takes: as many as leave none of any node unused."""
    offered = [int(node["Resources"].get(resource, 0)) for node in ray.nodes() if node["Alive"]]
    common = math.gcd(*offered)
    return max(share for share in range(1, _MOST_THREADS + 1) if common % share == 0)


def _workers(settings: BuildSettings) -> list[tuple[type, str, float]]:
    """The actor classes a row passes, the resource each needs, and how much of it an actor takes.

    With execution, a slot of ``amd`` is shared by a compiler and an executor.
    """
    if not settings.execute:
        return [(NvidiaCompiler, "nvidia", 1), (AmdCompiler, "amd", 1)]
    from actors.executors import AmdExecutor, NvidiaExecutor

    workers: list[tuple[type, str, float]] = [(NvidiaCompiler, "nvidia", 1)]
    workers.append((AmdCompiler, "amd", 0.5))
    if ray.cluster_resources().get("GPU", 0) >= 1:
        workers.append((NvidiaExecutor, "GPU", 1))
    workers.append((AmdExecutor, "amd", 0.5))
    return workers


def rows_per_block(settings: BuildSettings, staged_rows: int) -> int:
    """As set; else 8, or fewer when every slot would not get a few blocks to work on."""
    if settings.rows_per_block is not None:
        return settings.rows_per_block
    blocks = _BLOCKS_PER_SLOT * slots_of("nvidia")
    return max(1, min(_ROWS_PER_BLOCK, staged_rows // blocks))


def compile_rows(
    settings: BuildSettings, staged: Path, staged_rows: int, trees: Path
) -> Iterator[list[Row]]:
    """Stream the staged rows through both compilers; finished blocks come out.

    Raises ``ToolMissing`` when no node offers a compiler.
    """
    connect(settings.slots)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.verbose_stats_logs = False
    context.memory_usage_poll_interval_s = None
    context.print_on_execution_start = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    coordinator = f"coordinator-{uuid.uuid4().hex}"
    keep_alive = (
        ray.remote(Coordinator)
        .options(name=coordinator, num_cpus=0, max_concurrency=16, scheduling_strategy=here)
        .remote(str(trees))
    )
    blocks = staged_blocks(staged, rows_per_block(settings, staged_rows))
    dataset = ray.data.from_blocks(blocks)
    if settings.translator not in IN_PROCESS_ENGINES:
        dataset = dataset.map_batches(
            SourceTranslator,
            fn_constructor_kwargs={"engine": settings.translator, "coordinator": coordinator},
            compute=ActorPoolStrategy(size=settings.slots or 1),
            batch_size=None,
            batch_format="pyarrow",
        )
    arguments = {"settings": settings, "coordinator": coordinator}
    for worker, resource, share in _workers(settings):
        threads = 1 if resource == "GPU" else threads_of_an_actor(resource)
        dataset = dataset.map_batches(
            worker,
            fn_constructor_kwargs=arguments,
            compute=ActorPoolStrategy(
                size=slots_of(resource) // threads,
                max_concurrent_calls_per_actor=threads,
                enable_true_multi_threading=True,
            ),
            num_cpus=0,
            num_gpus=share if resource == "GPU" else 0,
            resources={resource: share * threads} if resource != "GPU" else {},
            batch_size=None,
            batch_format="pyarrow",
        )
    for batch in dataset.iter_batches(batch_size=None, batch_format="pyarrow"):
        yield batch.to_pylist()
    ray.kill(keep_alive)
