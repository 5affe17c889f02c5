"""What surrounds a kernel, known before its code is lifted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cass_ray.lift.analysis.ieee_idioms import RecognizedOperation
from cass_ray.lift.analysis.liveness import CodePlace
from cass_ray.lift.frontend.code import CubinCode
from cass_ray.lift.frontend.cubin import KernelInfo
from cass_ray.lift.llvm.globals import DeviceData
from cass_ray.lift.lowering.target import LiftTarget

CLUSTER_SUFFIX = ".cluster"


@dataclass(frozen=True)
class KernelEnvironment:
    """Resources of one kernel, and the data and code of its cubin."""

    kernel: KernelInfo
    data: DeviceData
    program: CubinCode
    target: LiftTarget
    shared_shift: int
    """Added to shared addresses: LDS in front of the kernel's own, for BAR.RED."""
    flushes_denormals: bool = False
    """Whether single-precision arithmetic of the whole kernel flushes denormal numbers."""
    uses_handles: bool = False
    """Whether the kernel has textures or surfaces: SASS needs only the low words of their handles,
    HIP's are addresses."""
    keeps_shared_loads: bool = False
    """Whether a load of shared memory may be of what another warp writes meanwhile, without a
    barrier: none may be moved or left out."""
    in_cluster: bool = False
    """Whether a workgroup is a cluster of blocks (:mod:`.clusters`); else it is a block."""
    own_place: int = 0
    """Where LDS begins that the lifter needs for itself: behind what tensor memory has there."""
    uses_tensor_memory: bool = False
    unaligned_barriers: frozenset[CodePlace] = frozenset()
    """Barriers to which the lanes of a warp may come one after the other (PTX's ``barrier``)."""
    barriers_may_diverge: bool = False
    """Whether lanes of a warp may come to a barrier by several ways."""
    block_barriers: frozenset[int | None] = frozenset()
    """Numbers of barriers that somewhere have no count: of all threads; None: of some number."""
    unrolled: frozenset[CodePlace] = frozenset()
    """Branches back to the beginning of loops that LLVM is to unroll."""
    spin_loads: frozenset[CodePlace] = frozenset()
    """Loads before which other waves get a turn."""
    recognized_operations: Mapping[CodePlace, RecognizedOperation] = field(default_factory=dict)
    """Branches to slow paths of divisions and square roots, and what these are with all of it."""

    @property
    def suffix(self) -> str:
        """Suffix of the name, where the kernel is there a second time for launches with
        clusters."""
        return CLUSTER_SUFFIX if self.in_cluster and self.kernel.cluster is None else ""
