"""Lifting as a stage of the pipeline: RDNA3 assembly made from each row's machine code.

A lifted pair needs no translation of the source: what nvcc compiled for one GPU becomes a program
for the other, and a model learns from it what the lifter does. It stands beside what clang made
of the HIP source, in the column ``lifted``, and is executed like it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import cass_ray.lift as lift
from cass_ray.cache import ContentCache, digest
from cass_ray.dataset.row import Stage, Verified, clip_diagnostic
from cass_ray.lift.form_evidence import only_lifted
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.pipeline.stages.base import CUBINS_COLUMN, NotCached, Row, guarded
from cass_ray.toolchain.amd.toolchain import AmdToolchain
from cass_ray.toolchain.nvidia.elf import Cubin, CubinError


@dataclass
class CubinLifter:
    """Lifts the cubins of rows through the cache.

    What could not be lifted because of the time limit is tried again by the next run.
    """

    toolchain: AmdToolchain
    settings: BuildSettings
    cache: ContentCache | None = None
    cached_only: bool = False

    def __post_init__(self) -> None:
        self._version = lift.fingerprint()

    def lifted(
        self, cubin: Mapping[str, Any], architecture: str, names: Mapping[str, str]
    ) -> dict[str, Any]:
        """An element of the column ``lifted``; ``cubin`` is one of the column ``cubins``.

        ``names`` as of :func:`cass_ray.lift.lift_listing`.
        """
        renamed = json.dumps(names, sort_keys=True)
        key = digest(
            [
                "lift",
                self._version,
                self.toolchain.fingerprint,
                architecture,
                renamed,
                cubin["cubin"],
            ]
        )
        entry = self.cache.get(key) if self.cache is not None else None
        if entry is not None:
            return _finished(cubin, json.loads(entry))
        if self.cached_only:
            raise NotCached(key)
        value = {"rdna3": "", "verified": Verified.NONE.value, "diagnostic": ""}
        try:
            parsed = Cubin.parse(cubin["cubin"])
            module = lift.lift_listing(
                parsed, cubin["listing"], self.toolchain, architecture, names=names
            )
            value |= {"rdna3": module.assembly, "verified": Verified.COMPILED.value}
        except (lift.LiftError, CubinError) as error:
            value["diagnostic"] = clip_diagnostic(str(error))
        if self.cache is not None:
            self.cache.put(key, json.dumps(value, sort_keys=True).encode())
        return _finished(cubin, value)


@dataclass
class LiftStage:
    """Fills ``lifted``: RDNA3 assembly of every Nvidia architecture's cubin, or why there is none.

    Beside it, the forms of its instructions that are neither proven nor tested
    (docs/lift/evidence.md). A program that cannot be lifted is still a pair.
    """

    lifter: CubinLifter

    def run(self, rows: Sequence[Row]) -> list[Row]:
        """``rows`` with the column filled in; needs their cubins and ``hip_device``."""
        return [guarded(Stage.COMPILE_AMD, row, self._one) for row in rows]

    def _one(self, row: Row) -> Row:
        architecture = self.lifter.settings.amd_architectures[0]
        result = [
            self.lifter.lifted(
                cubin,
                architecture,
                lift.names_for_host(Cubin.parse(cubin["cubin"]), row["hip_device"]),
            )
            for cubin in row[CUBINS_COLUMN] or ()
        ]
        return {**row, "lifted": result}


def _finished(cubin: Mapping[str, Any], value: Mapping[str, str]) -> dict[str, Any]:
    """What is not kept in the cache beside what is: the lifter's evidence may grow."""
    unproven = only_lifted(cubin["listing"]) if value["rdna3"] else []
    return {"arch": cubin["arch"], **value, "only_lifted": unproven}
