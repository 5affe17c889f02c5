"""The machine that evaluates a generated kernel: all threads of a launch at once, in NumPy.

Threads run in lockstep, statement by statement. That is one of the orders a GPU may choose, and
generated programs are free of races, so every order gives the same result.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from cass_ray.corpus.generate.types import Bounds, Scalar, Values, holds

Mask = npt.NDArray[np.bool_]

WARP = 32


class GeneratorError(Exception):
    """The generator made a program that is not well defined: a bug of ours."""


class Unpredictable(Exception):
    """A value lies so near to a rounding boundary that a GPU may round it the other way."""


@dataclass(frozen=True)
class LaunchShape:
    """A launch: ``grid`` and ``block`` in x and y, in blocks and threads."""

    grid: tuple[int, int]
    block: tuple[int, int]

    @property
    def block_threads(self) -> int:
        return self.block[0] * self.block[1]

    @property
    def blocks(self) -> int:
        return self.grid[0] * self.grid[1]

    @property
    def threads(self) -> int:
        return self.blocks * self.block_threads


@dataclass(frozen=True)
class KernelArray:
    """An array in memory, as a kernel knows it. ``size`` counts elements, for each owner: the
    program, a block (``shared``) or a thread (``local``)."""

    name: str
    type: Scalar
    size: int
    bounds: Bounds
    space: str = "global"


@dataclass(eq=False)
class LaunchState:
    """State of one launch. ``checked`` also asserts every claim about bounds and exclusive stores.

    Arrays of one element for each thread, in the order block by block, x fastest.
    """

    shape: LaunchShape
    memory: dict[str, Values]
    checked: bool = False
    constants: dict[str, int] = field(default_factory=dict)
    """Values of template arguments."""
    variables: dict[str, Values] = field(default_factory=dict)

    def __post_init__(self) -> None:
        shape = self.shape
        number = np.arange(shape.threads, dtype=np.int32)
        self.thread = number
        self.block = number // shape.block_threads
        in_block = number % shape.block_threads
        self.everyone: Mask = np.ones(shape.threads, dtype=np.bool_)
        self.mask = self.everyone
        self.lane = in_block % WARP
        coordinates = {
            "threadIdx.x": in_block % shape.block[0],
            "threadIdx.y": in_block // shape.block[0],
            "blockIdx.x": self.block % shape.grid[0],
            "blockIdx.y": self.block // shape.grid[0],
            "blockDim.x": shape.block[0],
            "blockDim.y": shape.block[1],
            "gridDim.x": shape.grid[0],
        }
        self.variables.update({name: np.asarray(v, np.int32) for name, v in coordinates.items()})

    def add_arrays(self, places: list[KernelArray]) -> None:
        """Make shared and local arrays, filled with what no program may depend on."""
        owners = {"shared": self.shape.blocks, "local": self.shape.threads}
        for place in places:
            self.memory[place.name] = np.full(
                owners[place.space] * place.size, 77, dtype=place.type.dtype
            )

    def assign(self, name: str, values: Values) -> None:
        """Set a variable in the active threads."""
        if self.mask is self.everyone:
            self.variables[name] = values
        else:
            old = self.variables.get(name, np.zeros((), dtype=values.dtype))
            self.variables[name] = np.where(self.mask, values, old)

    def load(self, place: KernelArray, index: Values) -> Values:
        """``place[index]`` in each thread; 0 in inactive threads that would be out of range."""
        return self.memory[place.name][self._addresses(place, index)]

    def store(self, place: KernelArray, index: Values, values: Values) -> None:
        """Each active thread stores to an element of its own."""
        addresses = np.broadcast_to(self._addresses(place, index), self.mask.shape)[self.mask]
        stored = np.broadcast_to(values, self.mask.shape)[self.mask].astype(place.type.dtype)
        if self.checked:
            self.check(place.bounds, stored, place.name)
            if np.unique(addresses).size != addresses.size:
                raise GeneratorError(f"two threads store to one element of {place.name}")
        self.memory[place.name][addresses] = stored

    def accumulate(
        self, place: KernelArray, function: np.ufunc, index: Values, values: Values
    ) -> None:
        """Every active thread applies the atomic ``function`` to its element."""
        addresses = np.broadcast_to(self._addresses(place, index), self.mask.shape)[self.mask]
        operands = np.broadcast_to(values, self.mask.shape)[self.mask].astype(place.type.dtype)
        function.at(self.memory[place.name], addresses, operands)
        if self.checked:
            self.check(place.bounds, self.memory[place.name], place.name)

    def _addresses(self, place: KernelArray, index: Values) -> Values:
        inside = (index >= 0) & (index < place.size)
        if not inside.all():
            outside = ~inside & self.mask
            if outside.any():
                raise GeneratorError(f"{place.name} has {place.size} elements, index out of range")
            index = np.where(inside, index, 0)
        if place.space == "shared":
            return np.asarray(index + self.block * np.int64(place.size))
        if place.space == "local":
            return np.asarray(index + self.thread * np.int64(place.size))
        return index

    def check(self, bounds: Bounds, values: Values, what: str) -> None:
        """Assert that active ``values`` keep ``bounds``. Raises :class:`GeneratorError`."""
        if values.shape == self.mask.shape:
            values = values[self.mask]
        if not holds(bounds, values):
            raise GeneratorError(f"{what} leaves its bounds {bounds}")

    def check_uniform(self, mask: Mask, width: int, what: str) -> None:
        """Assert that of each ``width`` neighbouring threads all are active, or none.

        Raises :class:`GeneratorError`.
        """
        groups = mask.reshape(-1, width)
        if (groups.any(axis=1) != groups.all(axis=1)).any():
            raise GeneratorError(f"{what} in divergent control flow")

    @contextmanager
    def frame(self, arguments: dict[str, Values]) -> Iterator[None]:
        """Run a device function: variables of its own, the same threads and memory."""
        saved, mask = self.variables, self.mask
        self.variables = {**arguments}
        try:
            yield
        finally:
            self.variables, self.mask = saved, mask
