"""Where the driver puts which word in front of the parameters in constant bank 0.

No document of Nvidia's says so. Which offset is what was read off ptxas, which turns PTX of
documented meaning into a read of it: ``cvta.const`` of a variable gives the address of bank 3,
``cvta.param`` of a parameter that of the parameters, ``%dynamic_smem_size`` that size, and
``%cluster_nctaid``, ``%clusterid`` and their kind the words about clusters.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class DriverWords:
    """Byte offsets in bank 0. Of an address the low word's, and the high word follows it."""

    block_size: int
    """The first of three words."""
    grid_size: int
    """The first of three words, in blocks."""
    stack_size: int
    local_window: int
    """The generic address of the thread's stack."""
    shared_window: int | None
    """The generic address of shared memory; None where only a special register has it."""
    descriptor: int
    """What global accesses name."""
    grid_workspace: tuple[int, int]
    """The address of memory for barriers of the whole grid: its low word's, its high word's."""
    constants: int
    """The generic address of bank 3, where ``__constant__`` variables are."""
    parameters: int
    """The generic address that the parameters are counted from."""
    parameters_distance: int
    """How far behind that address they begin."""
    clusters: int | None = None
    """The first of three words: clusters of the grid."""
    explicit_cluster: int | None = None
    """1 where a kernel or a launch asks for clusters, whatever their size."""
    cluster_size: int | None = None
    """The first of three words: blocks of a cluster."""
    cluster_reciprocals: int | None = None
    """The first of three words: 1 / each of those, in single precision."""
    cluster_blocks: int | None = None
    """Blocks of a cluster."""
    counted_back: int = 0
    """What code takes off the offsets of words about clusters that it names."""
    refused: dict[int, str] = field(default_factory=dict)
    """Words that are known by name and not provided."""

    @property
    def about_clusters(self) -> frozenset[int]:
        """Offsets, as code names them, of words by which it can tell clusters of several blocks."""
        threes = (self.clusters, self.cluster_size, self.cluster_reciprocals)
        offsets = {first + 4 * axis for first in threes if first is not None for axis in range(3)}
        if self.cluster_blocks is not None:
            offsets.add(self.cluster_blocks)
        offsets = {offset + self.counted_back for offset in offsets}
        return frozenset(
            offsets if self.explicit_cluster is None else {*offsets, self.explicit_cluster}
        )


_END = "the end of the kernel's parameters"
_AMPERE = DriverWords(
    block_size=0x0,
    grid_size=0xC,
    stack_size=0x28,
    local_window=0x20,
    shared_window=0x18,
    descriptor=0x118,
    grid_workspace=(0x90, 0x8C),
    constants=0x50,
    parameters=0x40,  # of bank 0 itself
    parameters_distance=0x160,
    refused={
        0x2C: "the size of dynamic shared memory",
        0x114: "the size of reserved shared memory",
        0x12C: _END,
    },
)
_HOPPER = DriverWords(
    block_size=0x0,
    grid_size=0xC,
    stack_size=0x28,
    local_window=0x20,
    shared_window=0x18,
    descriptor=0x208,
    grid_workspace=(0x48, 0x44),
    constants=0xD0,
    parameters=0x198,
    parameters_distance=0,
    clusters=0x15C,
    explicit_cluster=0x140,
    cluster_size=0x144,
    cluster_reciprocals=0x150,
    cluster_blocks=0x188,
    refused={
        0x2C: "the size of dynamic shared memory",
        0x114: "the size of reserved shared memory",
        0x1A0: _END,
        0x1A4: _END,
    },
)


CLUSTER_SIZE = 1
"""What code of Blackwell counts some words by, 0xA0 bytes back for each; here always as for one
block, for where a word is has no other meaning."""
_BLACKWELL = DriverWords(
    block_size=0x360,
    grid_size=0x370,
    stack_size=0x37C,
    local_window=0x2F8,
    shared_window=None,
    descriptor=0x358,
    grid_workspace=(0x258 - 0xA0 * CLUSTER_SIZE, 0x254 - 0xA0 * CLUSTER_SIZE),
    constants=0x120,
    parameters=0x348,
    parameters_distance=0,
    clusters=0x2C0 - 0xA0 * CLUSTER_SIZE,
    explicit_cluster=0x36C,
    cluster_size=0x2A0 - 0xA0 * CLUSTER_SIZE,
    cluster_reciprocals=0x2B0 - 0xA0 * CLUSTER_SIZE,
    cluster_blocks=0x2CC - 0xA0 * CLUSTER_SIZE,
    counted_back=0xA0 * CLUSTER_SIZE,
    refused={
        0x2AC - 0xA0 * CLUSTER_SIZE: "the size of dynamic shared memory",
        0x350: _END,
        0x354: _END,
    },
)


def driver_words(architecture: int) -> DriverWords:
    """The layout for ``architecture``, 80 for sm_80."""
    if architecture >= 100:
        return _BLACKWELL
    return _HOPPER if architecture >= 90 else _AMPERE
