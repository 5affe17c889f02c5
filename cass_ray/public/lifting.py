"""``cass_ray.lift``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import overload

from cass_ray.architectures import architecture_named
from cass_ray.lift import LiftedModule, LiftError, lift_listing, lift_text
from cass_ray.lift.frontend.container import best_cubins, cubins_in
from cass_ray.lift.frontend.listing import is_listing
from cass_ray.public.kernels import both_sides, kernels_of
from cass_ray.public.renderable import Renderable
from cass_ray.public.views import Block, Cells, Mark, View
from cass_ray.toolchain.amd.toolchain import DEFAULT_ARCHITECTURE
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.nvidia.elf import CubinError


@dataclass(frozen=True, repr=False)
class LiftResult(Renderable, Sequence[LiftedModule]):
    """The modules that the machine code of a file became: one for each cubin.

    ``listings`` are the SASS texts that they were lifted from, in the same order.
    """

    modules: tuple[LiftedModule, ...]
    listings: tuple[str, ...]
    filename: str
    arch: str

    @overload
    def __getitem__(self, index: int) -> LiftedModule: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[LiftedModule, ...]: ...
    def __getitem__(self, index: int | slice) -> LiftedModule | tuple[LiftedModule, ...]:
        return self.modules[index]

    def __len__(self) -> int:
        return len(self.modules)

    @property
    def kernels(self) -> tuple[str, ...]:
        """Mangled names of all kernels that were lifted."""
        return tuple(name for module in self.modules for name in module.kernels)

    @property
    def failures(self) -> dict[str, LiftError]:
        """The kernels that were not, each with the reason."""
        return {name: why for module in self.modules for name, why in module.failures.items()}

    def view(self) -> View:
        """SASS beside what it became, kernel by kernel; what could not be lifted."""
        failures = self.failures
        said = f"{self.filename} for {self.arch}: {len(self.kernels)} kernel(s) lifted"
        said += f", {len(failures)} not" if failures else ""
        return View(said, Mark.WARNING if failures else Mark.GOOD, list(self._blocks()))

    def _blocks(self) -> Iterator[Block]:
        if failures := [(name, str(why)) for name, why in self.failures.items()]:
            marks = [Mark.BAD] * len(failures)
            yield Cells("Not lifted", ("kernel", "why"), failures, marks)
        for module, listing in zip(self.modules, self.listings, strict=True):
            ours, theirs = kernels_of(listing, "sm_"), kernels_of(module.assembly, self.arch)
            yield from both_sides(ours, theirs, ("SASS", self.arch))


def lift(
    path: Path | str, arch: str = DEFAULT_ARCHITECTURE, *, partial: bool = False
) -> LiftResult:
    """Lift the SASS in a file to AMD assembly: a module for each cubin of the newest architecture.

    The file is a cubin, a fat binary, an executable that holds them, or a listing of ``nvdisasm``
    or ``cuobjdump``. With ``partial``, kernels that cannot be lifted are left out and named in
    ``failures`` of their module, as long as one can.

    Raises:
        LiftError: there is no cubin in it, or a kernel that cannot be lifted; ``UnknownForm``
            names the instruction's form, kernel and address.
        ToolMissing: there is no nvdisasm or no clang for AMDGPU.
        OSError: the file cannot be read.
    """
    path, arch = Path(path), architecture_named(arch)
    amd = find_amd()
    if is_listing(data := path.read_bytes()):
        text = data.decode("utf-8", "replace")
        return LiftResult(
            (lift_text(text, arch, amd=amd, partial=partial),), (text,), path.name, arch
        )
    nvidia = find_nvidia()
    cubins = [each.data for each in best_cubins(cubins_in(path, nvidia))]
    try:
        listings = nvidia.disassemble(cubins)
    except CubinError as error:
        raise LiftError(f"not a cubin: {error}") from error
    modules = [
        lift_listing(cubin, listing, amd, arch, partial=partial)
        for cubin, listing in zip(cubins, listings, strict=True)
    ]
    return LiftResult(tuple(modules), tuple(listings), path.name, arch)
