"""DeepSpeed's collectives, over the process group that Ray Train or a test has made."""

from __future__ import annotations

from cass_ray.train.distributed import DistributedContext


def start_collectives(distributed: DistributedContext) -> None:
    """What DeepSpeed wants before anything else of it; no harm where it was done already."""
    import deepspeed

    on_gpu = distributed.device.type == "cuda"
    if not on_gpu:
        _without_shared_memory_kernels()
    deepspeed.init_distributed(dist_backend="nccl" if on_gpu else "gloo", verbose=False)


def _without_shared_memory_kernels() -> None:
    """Keep DeepSpeed from compiling its shared-memory collectives (44 s); gloo does their work."""
    import deepspeed
    from deepspeed.accelerator import get_accelerator

    builder = get_accelerator().create_op_builder("ShareMemCommBuilder")
    if builder is not None:
        deepspeed.ops.__compatible_ops__[builder.NAME] = False
