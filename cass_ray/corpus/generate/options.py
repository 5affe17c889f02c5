"""What generated programs are like: length, and how often each construct occurs."""

from __future__ import annotations

from pydantic import Field, model_validator

from cass_ray.config import StrictModel

_WEIGHT = Field(default=1.0, ge=0.0, le=100.0)


def _share(default: float) -> float:
    value: float = Field(default=default, ge=0.0, le=1.0)
    return value


class TypeMix(StrictModel):
    """Weights of the types of variables."""

    int_: float = Field(default=3.0, ge=0.0, alias="int")
    unsigned: float = Field(default=3.0, ge=0.0)
    long: float = Field(default=1.0, ge=0.0)
    unsigned_long: float = Field(default=1.0, ge=0.0)
    float_: float = Field(default=3.0, ge=0.0, alias="float")
    double: float = Field(default=1.0, ge=0.0)
    half: float = Field(default=0.5, ge=0.0)

    @model_validator(mode="after")
    def _some(self) -> TypeMix:
        if not sum(self.model_dump().values()):
            raise ValueError("every weight is 0: give at least one type a weight")
        return self


class StatementMix(StrictModel):
    """Weights of the statements in a kernel's body."""

    declare: float = Field(default=4.0, gt=0.0)
    assign: float = Field(default=3.0, ge=0.0)
    branch: float = Field(default=2.0, ge=0.0)
    switch: float = Field(default=0.7, ge=0.0)
    loop: float = Field(default=1.5, ge=0.0)
    accumulate: float = Field(default=1.0, ge=0.0)
    while_: float = Field(default=0.7, ge=0.0, alias="while")
    local_array: float = Field(default=0.5, ge=0.0)
    struct: float = Field(default=0.6, ge=0.0)
    atomic: float = Field(default=0.8, ge=0.0)


class CollectiveMix(StrictModel):
    """Weights of what the threads of a block or warp do together."""

    exchange: float = Field(default=2.0, ge=0.0)
    reduction: float = Field(default=1.5, ge=0.0)
    scan: float = Field(default=1.0, ge=0.0)
    histogram: float = Field(default=1.0, ge=0.0)
    shuffle: float = Field(default=2.0, ge=0.0)
    warp_reduction: float = Field(default=1.5, ge=0.0)
    vote: float = Field(default=1.5, ge=0.0)
    partial_warp: float = Field(default=1.5, ge=0.0)
    lane_groups: float = Field(default=1.0, ge=0.0)
    lanes_apart: float = Field(default=0.0, ge=0.0)
    """One exchange of lanes in several branches, which HIP does not have."""

    @model_validator(mode="after")
    def _some(self) -> CollectiveMix:
        if not sum(self.model_dump().values()):
            raise ValueError("every weight is 0: set `collective` to 0 instead")
        return self


class GeneratorOptions(StrictModel):
    """Length and mix of generated programs."""

    kernels: tuple[int, int] = (1, 3)
    """Fewest and most kernels of a program."""
    statements: tuple[int, int] = (3, 8)
    """Of a kernel's body, those inside loops and branches not counted."""
    depth: int = Field(default=3, ge=1, le=6)
    """Of expressions."""
    nesting: int = Field(default=2, ge=0, le=4)
    """Of branches and loops."""
    elements: tuple[int, int] = (33, 900)
    """Fewest and most elements of arrays."""
    types: TypeMix = TypeMix()
    body: StatementMix = StatementMix()
    collectives: CollectiveMix = CollectiveMix()
    collective: float = _share(0.5)
    """Share of kernels with shared memory, barriers or warp functions."""
    two_dimensional: float = _share(0.25)
    grid_stride: float = _share(0.3)
    """Of the kernels that are neither of the above."""
    templates: float = _share(0.25)
    device_functions: float = _share(0.7)
    constant_memory: float = _share(0.35)
    dynamic_shared: float = _share(0.4)
    mathematics: float = _share(0.08)
    """Of float expressions: rounded results of ``sinf``, ``expf`` …"""

    @model_validator(mode="after")
    def _ranges(self) -> GeneratorOptions:
        limits = {"kernels": (1, 8), "statements": (1, 60), "elements": (33, 100_000)}
        for name, (least, most) in limits.items():
            low, high = getattr(self, name)
            if not least <= low <= high <= most:
                raise ValueError(f"{name}: give two numbers, {least} <= fewest <= most <= {most}")
        return self
