"""Rows whose source has no port: their AMD side is lifted from the Nvidia side's machine code.

Where the settings ask for such rows (``lifted_rows``), a row that would be rejected because its
source has no counterpart in HIP is set aside (:func:`set_aside`) and goes on to the Nvidia
compiler. What cannot be lifted either is rejected with the reason that it was set aside for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import cass_ray.lift as lift
from cass_ray.assembly.align import align_kernels
from cass_ray.dataset.row import (
    AMD,
    Reason,
    Stage,
    Toolchain,
    Verified,
    clip_diagnostic,
    is_rejected,
    rejected,
)
from cass_ray.pipeline.row_units import unit_of
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.pipeline.stages.base import (
    CUBINS_COLUMN,
    NO_PORT_COLUMN,
    Row,
    compiler_limits,
    guarded,
    token_count,
)
from cass_ray.pipeline.stages.lift import CubinLifter
from cass_ray.pipeline.workspace import Workspace
from cass_ray.port.replacement import OriginalProgram, read_original
from cass_ray.task import Level
from cass_ray.toolchain.locate import find_nvidia
from cass_ray.toolchain.sandbox.isolation import private_folder

LIFTER = "cass-ray lifter"
"""The ``amd_toolchain`` of rows whose AMD side is lifted."""

NO_COUNTERPART = frozenset(
    {
        Reason.UNTRANSLATABLE,
        Reason.MISSING_HEADER,
        Reason.COMPILE_ERROR,
        Reason.NO_DEVICE_CODE,
        Reason.NO_COMMON_KERNEL,
        Reason.LIBRARY_KERNELS_ONLY,
        Reason.KERNELS_DIFFER,
    }
)
"""Failures of the AMD side that say something of the source; the others (limits, a missing tool, a
compiler that crashed) say nothing of whether it has a port."""


def set_aside(row: Row, stage: Stage, reason: Reason, diagnostic: str) -> Row:
    """``row`` without an AMD side, to be lifted."""
    facts = {"stage": stage.value, "reason": reason.value}
    no_port = {**facts, "diagnostic": clip_diagnostic(diagnostic)}
    return {**row, "hip_source": "", "hip_host": "", "hip_device": "", NO_PORT_COLUMN: no_port}


def is_set_aside(row: Mapping[str, Any]) -> bool:
    """Whether the AMD side of ``row`` is the lifter's, or to be."""
    return bool(row.get(NO_PORT_COLUMN))


@dataclass
class LiftedSideStage:
    """Gives rows that were set aside their AMD side, for every AMD architecture of the settings."""

    lifter: CubinLifter

    def run(self, rows: Sequence[Row]) -> list[Row]:
        """``rows`` with the columns of the AMD side, or rejected; others as they are."""
        return [guarded(Stage.COMPILE_AMD, row, self._one) for row in rows]

    def _one(self, row: Row) -> Row:
        if not is_set_aside(row):
            return row
        cubin = next(iter(row[CUBINS_COLUMN] or ()), None)
        first, *others = self.lifter.settings.amd_architectures
        if cubin is None:
            return _not_lifted(row, "there is no machine code")
        module = self.lifter.lifted(cubin, first, {})
        if not module["rdna3"]:
            return _not_lifted(row, module["diagnostic"])
        alignment = align_kernels(row["cuda_device"], module["rdna3"])
        if not alignment.common or alignment.kernels_differ:
            return _not_lifted(row, f"other kernels came out: {alignment}")
        devices = [self._device(cubin, name) for name in others]
        return {
            **row,
            "hip_device": module["rdna3"],
            "hip_arch": first,
            "amd_toolchain": self._toolchain(cubin["arch"], first),
            "hip_device_tokens": token_count(module["rdna3"]),
            "devices": devices or None,
            "kernels": list(alignment.common),
            "verified": Verified.COMPILED.value,
            "level": Level.ASSEMBLY.value,
            "lifted_side": {
                "arch": cubin["arch"],
                **row[NO_PORT_COLUMN],
                "only_lifted": module["only_lifted"],
            },
        }

    def _device(self, cubin: Mapping[str, Any], architecture: str) -> dict[str, Any]:
        """An element of ``devices``."""
        module = self.lifter.lifted(cubin, architecture, {})
        verified = Verified.COMPILED if module["rdna3"] else Verified.NONE
        toolchain = self._toolchain(cubin["arch"], architecture) if module["rdna3"] else None
        return {
            "vendor": AMD,
            "arch": architecture,
            "device": module["rdna3"],
            "toolchain": toolchain,
            "verified": verified.value,
            "evidence": None,
            "diagnostic": module["diagnostic"],
        }

    def _toolchain(self, nvidia: str, amd: str) -> dict[str, str]:
        flags = f"{nvidia} to {amd}; {self.lifter.toolchain.compilers}"
        return Toolchain(name=LIFTER, version=lift.fingerprint(), flags=flags).model_dump()


@dataclass(frozen=True)
class OriginalPrograms:
    """The CUDA programs of rows whose AMD side is lifted, as nvcc links them."""

    workspace: Workspace
    settings: BuildSettings

    def __call__(self, row: Row) -> OriginalProgram:
        """Raises ``CompileFailure``, ``ToolMissing``, and
        :class:`~cass_ray.port.errors.PortError` for what the CUDA runtime over HIP cannot run."""
        cubin = row[CUBINS_COLUMN][0]
        toolchain = find_nvidia(architectures=[cubin["arch"]])
        unit, limits = unit_of(row, self.workspace, None), compiler_limits(self.settings, row)
        with private_folder() as folder:
            path = folder / "program"
            toolchain.build_executable(
                unit,
                path,
                [cubin["arch"]],
                optimization=self.settings.optimization,
                limits=limits,
                shared_runtime=True,
            )
            return read_original(path, cubin["cubin"], toolchain)


def _not_lifted(row: Row, why: str) -> Row:
    """Rejected as it would have been, for it was set aside once its Nvidia side had compiled."""
    assert not is_rejected(row)
    no_port = row[NO_PORT_COLUMN]
    diagnostic = f"{no_port['diagnostic']}\nnot lifted either: {why}"
    return rejected(row, Stage(no_port["stage"]), Reason(no_port["reason"]), diagnostic)
