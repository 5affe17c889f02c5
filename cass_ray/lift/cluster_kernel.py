"""How kernels of clusters are launched: what is known of them where nothing is lifted."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ClusterKernel:
    """How a kernel is launched whose workgroups are clusters
    (:mod:`cass_ray.lift.lowering.clusters`)."""

    name: str
    symbol: str
    """The name of the lifted kernel; empty where it could not be lifted so."""
    parameters: int
    words_offset: int
    """Offset, among the arguments, of the one behind its own parameters."""
    shared_bytes: int
    """LDS of a block, without what the launch adds."""
    shape: tuple[int, int, int] | None
    """Blocks of a cluster along each axis; None: the launch says."""
    failure: str = ""
    """Why it could not be lifted."""
