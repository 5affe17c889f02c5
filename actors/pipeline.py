"""The Ray Data pipeline of ``build_dataset``: staged rows through the actor pools."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import ray
from ray.data import ActorPoolStrategy
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from actors.compilers import AmdCompiler, NvidiaCompiler
from actors.coordinator import Coordinator
from actors.translators import SourceTranslator
from cass_ray.settings import BuildSettings
from cass_ray.stages import Row
from cass_ray.toolchain.errors import ToolMissing

_OBJECT_STORE_BYTES = 512 << 20


def connect(settings: BuildSettings) -> None:
    """Join the cluster of ``RAY_ADDRESS`` (a submitted job has it), else start a local one."""
    if ray.is_initialized():
        return
    if os.environ.get("RAY_ADDRESS"):
        ray.init(log_to_driver=False)
        return
    slots = settings.slots or os.cpu_count() or 1
    ray.init(
        address="local",
        num_cpus=slots,
        resources={"nvidia": slots, "amd": slots},
        include_dashboard=False,
        object_store_memory=_OBJECT_STORE_BYTES,
        log_to_driver=False,
        configure_logging=False,
    )


def _slots(resource: str) -> int:
    offered = int(ray.cluster_resources().get(resource, 0))
    if offered < 1:
        raise ToolMissing(
            f"A node that offers the resource `{resource}`",
            f"Start a cluster with `cass cluster up`, or add a node where `cass doctor` finds the "
            f"toolchain: `ray start --address=... --resources='{{\"{resource}\": 2}}'`.",
        )
    return offered


def compile_rows(settings: BuildSettings, staged: Path, trees: Path) -> Iterator[list[Row]]:
    """Stream the staged rows through translation and both compilers; finished blocks come out.

    Raises ``ToolMissing`` when no node offers a compiler.
    """
    connect(settings)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.verbose_stats_logs = False
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    coordinator = Coordinator.options(scheduling_strategy=here).remote(str(trees))
    arguments = {"settings": settings, "coordinator": coordinator}
    rows = settings.rows_per_block
    dataset = (
        ray.data.read_parquet(str(staged), ray_remote_args={"scheduling_strategy": here})
        .repartition(target_num_rows_per_block=rows)
        .map_batches(
            SourceTranslator,
            fn_constructor_kwargs={"engine": settings.translator, "coordinator": coordinator},
            compute=ActorPoolStrategy(size=1),
            num_cpus=0,
            batch_size=None,
            batch_format="pyarrow",
        )
        .map_batches(
            NvidiaCompiler,
            fn_constructor_kwargs=arguments,
            compute=ActorPoolStrategy(size=_slots("nvidia")),
            num_cpus=0,
            resources={"nvidia": 1},
            batch_size=None,
            batch_format="pyarrow",
        )
        .map_batches(
            AmdCompiler,
            fn_constructor_kwargs=arguments,
            compute=ActorPoolStrategy(size=_slots("amd")),
            num_cpus=0,
            resources={"amd": 1},
            batch_size=None,
            batch_format="pyarrow",
        )
    )
    for batch in dataset.iter_batches(batch_size=None, batch_format="pyarrow"):
        yield batch.to_pylist()
