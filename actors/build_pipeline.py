"""The Ray Data pipeline of ``build_dataset``: staged rows through the actor pools."""

from __future__ import annotations

import logging
import math
import os
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import ray
from ray.data import ActorPoolStrategy
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from actors.coordinator import Coordinator
from actors.session import LEAN_NODE, join_submitted, start_local
from actors.stage_workers import WORKERS
from actors.staged_rows import staged_blocks
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.pipeline.stages.base import Needs, Row
from cass_ray.pipeline.stages.order import Pool, translates_when_read, wanted_stages
from cass_ray.toolchain.errors import ToolMissing

_OBJECT_STORE_BYTES = 512 << 20
_ROWS_PER_BLOCK = 8
_BLOCKS_PER_SLOT = 4
_MOST_THREADS = 8


def connect(slots: int | None, amd_share: float = 0.5) -> None:
    """Join the cluster of ``RAY_ADDRESS``, else start a local one.

    A local one offers ``slots`` (default: a core each) of ``nvidia``, and ``amd_share`` times as
    many of ``amd``: an AMD compiler keeps up with two for Nvidia.
    """
    if join_submitted(log_to_driver=False):
        return
    slots = slots or os.cpu_count() or 1
    start_local(
        # The compilers take slots. On a node without a CPU, Ray Data runs one task at a time.
        num_cpus=slots,
        resources={"nvidia": slots, "amd": max(1, int(slots * amd_share))},
        object_store_memory=_OBJECT_STORE_BYTES,
        log_to_driver=False,
        configure_logging=False,
        # Nor is a worker needed for each of its CPUs.
        _system_config={**LEAN_NODE, "prestart_worker_first_driver": False},
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


def _workers(settings: BuildSettings) -> list[tuple[Pool, Needs, float]]:
    """The pools that a row passes, the resource each needs, and its share of a slot of it.

    With execution, a slot of ``amd`` is shared by a compiler and an executor.
    """
    offered = ray.cluster_resources()
    needs: dict[Pool, Needs] = {}
    for stage in wanted_stages(settings):
        if stage.needs is not Needs.NVIDIA_GPU or offered.get(Needs.NVIDIA_GPU, 0) >= 1:
            needs[stage.pool] = needs.get(stage.pool) or stage.needs
    sharing = Counter(needs.values())
    return [(pool, resource, 1 / sharing[resource]) for pool, resource in needs.items() if resource]


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
    arguments = {"settings": settings, "coordinator": coordinator}
    if not translates_when_read(settings):
        dataset = dataset.map_batches(
            WORKERS[Pool.TRANSLATOR],
            fn_constructor_kwargs=arguments,
            compute=ActorPoolStrategy(size=settings.slots or 1),
            batch_size=None,
            batch_format="pyarrow",
        )
    for pool, resource, share in _workers(settings):
        on_gpu = resource is Needs.NVIDIA_GPU
        threads = 1 if on_gpu else threads_of_an_actor(resource)
        dataset = dataset.map_batches(
            WORKERS[pool],
            fn_constructor_kwargs=arguments,
            compute=ActorPoolStrategy(
                size=slots_of(resource) // threads,
                max_concurrent_calls_per_actor=threads,
                enable_true_multi_threading=True,
            ),
            num_cpus=0,
            num_gpus=share if on_gpu else 0,
            resources={} if on_gpu else {resource.value: share * threads},
            batch_size=None,
            batch_format="pyarrow",
        )
    for batch in dataset.iter_batches(batch_size=None, batch_format="pyarrow"):
        yield batch.to_pylist()
    ray.kill(keep_alive)
