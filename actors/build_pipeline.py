"""The Ray Data pipeline of ``build_dataset``: blocks of rows through the actor pools."""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from itertools import islice
from typing import Any

import ray
from ray.data import ActorPoolStrategy

from actors.coordinator import coordinating
from actors.errors import plain_errors
from actors.lean_data import without_reporters
from actors.nodes import ALL_NODES, NodeChoice
from actors.session import LEAN_NODE, join_submitted, start_local
from actors.stage_workers import WORKERS, named_blocks
from cass_ray.pipeline.pieces.blocks import Block
from cass_ray.pipeline.pieces.work import BuildWork, Deduplicated
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.pipeline.stages.base import Needs
from cass_ray.pipeline.stages.order import Pool, wanted_pools, wanted_stages
from cass_ray.toolchain.errors import ToolMissing

_OBJECT_STORE_BYTES = 512 << 20
_BLOCKS_OF_A_RUN = 20_000
"""Blocks of one run of Ray Data, whose driver keeps a reference and metadata of each."""


def connect(slots: int | None) -> bool:
    """Join the cluster of ``RAY_ADDRESS``, else start a local one; whether a cluster was joined.

    A local one offers ``slots`` (default: a core each) of ``nvidia`` and as many of ``amd``, though
    two may share a core then. Which side costs more depends on the programs, and with fewer slots
    of one a build would end with few at work on what is left.
    """
    if join_submitted(log_to_driver=False):
        return True
    slots = slots or os.cpu_count() or 1
    start_local(
        lean=True,
        # The compilers take slots. On a node without a CPU, Ray Data runs one task at a time.
        num_cpus=slots,
        resources={"nvidia": slots, "amd": slots},
        object_store_memory=_OBJECT_STORE_BYTES,
        log_to_driver=False,
        configure_logging=False,
        # Nor is a worker needed for each of its CPUs.
        _system_config={**LEAN_NODE, "prestart_worker_first_driver": False},
    )
    return False


def compilers_of(settings: BuildSettings) -> list[str]:
    """Resources that nodes have to offer for a build."""
    needs = {stage.needs for stage in wanted_stages(settings)}
    return sorted(needs & {Needs.NVIDIA_TOOLCHAIN, Needs.AMD_TOOLCHAIN})


def _workers(settings: BuildSettings) -> list[tuple[tuple[Pool, ...], Needs, float]]:
    """The pools that rows pass, those in a tuple together; the resource that each needs, and its
    share of a slot of it.

    With execution, a slot of ``amd`` is shared by a compiler and an executor.
    """
    offered = ray.cluster_resources()
    needs: dict[tuple[Pool, ...], Needs] = {}
    for pools in wanted_pools(settings):
        entries = wanted_stages(settings, pools)
        resource = next((each.needs for each in entries if each.needs), Needs.NOTHING)
        if resource is not Needs.NVIDIA_GPU or offered.get(Needs.NVIDIA_GPU, 0) >= 1:
            needs[pools] = resource
    sharing = Counter(needs.values())
    return [(pools, resource, 1 / sharing[resource]) for pools, resource in needs.items()]


def compile_blocks(
    work: BuildWork, blocks: Iterable[tuple[Deduplicated, Block]], nodes: NodeChoice = ALL_NODES
) -> Iterator[dict[str, int]]:
    """Stream ``blocks`` through both compilers on ``nodes``; the counts of each come out when it is
    committed.

    Raises ``ToolMissing`` when no node offers a compiler.
    """
    joined = connect(work.settings.slots)
    left = iter(blocks)
    with nullcontext() if joined else without_reporters():
        while some := list(islice(left, _BLOCKS_OF_A_RUN)):
            yield from _compile(work, some, nodes, keeps=joined)


def _compile(
    work: BuildWork, blocks: Sequence[tuple[Deduplicated, Block]], nodes: NodeChoice, keeps: bool
) -> Iterator[dict[str, int]]:
    settings = work.settings
    quiet_data()
    coordinator, keep_alive = coordinating()
    dataset = _dataset(blocks)
    workers = _workers(settings)
    for number, (pools, resource, share) in enumerate(workers):
        arguments = {
            "work": work,
            "coordinator": coordinator,
            "pools": pools,
            "commits": number == len(workers) - 1,
            "keeps": keeps,
        }
        dataset = dataset.map_batches(
            WORKERS[pools[-1]],
            fn_constructor_kwargs=arguments,
            batch_size=None,
            batch_format="pyarrow",
            **_placement(settings, resource, share, nodes),
        )
    try:
        with plain_errors():
            for batch in dataset.iter_batches(batch_size=None, batch_format="pyarrow"):
                for counts in batch.column("counts").to_pylist():
                    yield dict(counts)
    except Exception:  # Ray Data wraps it in errors of its own
        problem: ToolMissing | None = ray.get(keep_alive.problem.remote())
        if problem is not None:
            raise problem from None
        raise
    finally:
        ray.kill(keep_alive)


def _placement(
    settings: BuildSettings, resource: Needs, share: float, nodes: NodeChoice
) -> dict[str, Any]:
    """Options of ``map_batches`` for a pool."""
    if resource is Needs.NOTHING:
        return {"compute": ActorPoolStrategy(size=settings.slots or 1)}
    on_gpu = resource is Needs.NVIDIA_GPU
    threads = 1 if on_gpu else nodes.threads_of_an_actor(resource)
    return {
        "compute": ActorPoolStrategy(
            size=nodes.slots_of(resource) // threads,
            max_concurrent_calls_per_actor=threads,
            enable_true_multi_threading=True,
        ),
        "num_cpus": 0,
        "num_gpus": share if on_gpu else 0,
        "resources": {} if on_gpu else {resource.value: share * threads},
        **nodes.selector(),
    }


def _dataset(blocks: Sequence[tuple[Deduplicated, Block]]) -> Any:
    """One block of Ray Data for each of ours.

    Nothing but compilers' work is a Ray task then: no worker process reads, and the object store
    holds rows that somebody works on.
    """
    return ray.data.from_blocks(
        [named_blocks([(piece.read, block.key)]) for piece, block in blocks]
    )


def quiet_data() -> None:
    """Set Ray Data up for a build."""
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.verbose_stats_logs = False
    context.memory_usage_poll_interval_s = None
    context.print_on_execution_start = False
    # A block that is cut in two could not be committed as one.
    context.target_max_block_size = None
    # Ray Data's own wrapping forgets on its way what it wraps; errors are raised, so nobody has to
    # log them as well.
    context.raise_original_map_exception = True
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)
