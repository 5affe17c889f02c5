"""``cass_ray.lift_file``."""

from __future__ import annotations

from pathlib import Path

from cass_ray.lift import LiftedModule, lift_cubin, lift_text
from cass_ray.lift.frontend.container import best_cubins, cubins_in
from cass_ray.lift.frontend.listing import is_listing
from cass_ray.toolchain.amd.toolchain import DEFAULT_ARCHITECTURE
from cass_ray.toolchain.locate import find_amd, find_nvidia


def lift_file(
    path: Path | str, arch: str = DEFAULT_ARCHITECTURE, *, partial: bool = False
) -> list[LiftedModule]:
    """Lift the SASS in a file to RDNA3: one module for each cubin of the newest architecture.

    The file is a cubin, a fat binary, an executable that holds them, or a listing of ``nvdisasm``
    or ``cuobjdump``. With ``partial``, kernels that cannot be lifted are left out and named in
    ``failures`` of their module, as long as one can.

    Raises:
        LiftError: there is no cubin in it, or a kernel that cannot be lifted; ``UnknownForm``
            names the instruction's form, kernel and address.
        ToolMissing: there is no nvdisasm or no clang for AMDGPU.
        OSError: the file cannot be read.
    """
    path = Path(path)
    amd = find_amd()
    if is_listing(data := path.read_bytes()):
        text = data.decode("utf-8", "replace")
        return [lift_text(text, arch, amd=amd, partial=partial)]
    nvidia = find_nvidia()
    return [
        lift_cubin(found.data, arch, amd=amd, nvidia=nvidia, partial=partial)
        for found in best_cubins(cubins_in(path, nvidia))
    ]
