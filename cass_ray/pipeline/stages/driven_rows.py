"""Rows without ``main``: the program that drives their kernels, the same on both sides.

The driver is made from the CUDA source and appended to both. On the AMD side its host code is
compiled, and the device code is the row's own assembly: that is what the row is about.
"""

from __future__ import annotations

from collections.abc import Callable

from cass_ray.corpus.reading.source_files import Sources, gather
from cass_ray.execute.backends.base import Assembly, Language
from cass_ray.execute.drivers.driver import DrivenKernel, drivable_kernels, with_driver
from cass_ray.execute.programs import has_main
from cass_ray.pipeline.row_units import unit_of
from cass_ray.pipeline.stages.base import Row
from cass_ray.pipeline.workspace import Workspace
from cass_ray.translate.protocol import Translator


def kernels_to_drive(row: Row) -> list[DrivenKernel]:
    """The kernels of ``row`` that a driver can launch; none where it has a ``main`` of its own."""
    if has_main([row["cuda_source"]]):
        return []
    return drivable_kernels(row["cuda_source"])


def cuda_program(row: Row, kernels: list[DrivenKernel], workspace: Workspace) -> Sources:
    """The CUDA side of ``row`` with its driver."""
    return with_driver(gather(unit_of(row, workspace, None)), kernels, Language.CUDA)


def hip_program(
    row: Row,
    kernels: list[DrivenKernel],
    workspace: Workspace,
    translator: Translator,
    compile_hip: Callable[[Sources], Assembly],
) -> Assembly:
    """The AMD side of ``row`` with its driver around the row's own device assembly.

    Raises :class:`~cass_ray.toolchain.unit.CompileFailure`.
    """
    sources = gather(unit_of(row, workspace, translator))
    result = compile_hip(with_driver(sources, kernels, Language.HIP))
    return Assembly(result.host, row["hip_device"])
