"""The AMD side: HIP to host assembly and device assembly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from cass_ray.cache import ContentCache, digest
from cass_ray.corpus.dialect import OPENCL, dialect_of
from cass_ray.dataset.row import (
    AMD,
    Reason,
    Stage,
    Toolchain,
    Verified,
    clip_diagnostic,
)
from cass_ray.pipeline.row_units import unit_key, unit_of
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.pipeline.stages.base import (
    CachedResults,
    Remedy,
    Row,
    compiler_limits,
    guarded,
    located,
    token_count,
)
from cass_ray.pipeline.stages.lifted_side import NO_COUNTERPART, is_set_aside, set_aside
from cass_ray.pipeline.stages.repaired import compile_repaired, repair_fingerprint
from cass_ray.pipeline.workspace import Workspace
from cass_ray.toolchain.amd.precompiled import WITHOUT_MODULES
from cass_ray.toolchain.amd.remedies import has_remedy
from cass_ray.toolchain.amd.toolchain import AmdOutput, AmdToolchain
from cass_ray.toolchain.opencl.locate import find_opencl_amd
from cass_ray.toolchain.opencl.toolchain import OpenclAmd
from cass_ray.toolchain.unit import CompileFailure, Unit
from cass_ray.translate.project.refusals import errors_said
from cass_ray.translate.protocol import Translator

_HEADERS = "what has no translation in headers is refused"
"""Part of the keys of rows with headers."""


@dataclass
class AmdStage:
    """Compiles the HIP side of rows from their translated trees."""

    toolchain: AmdToolchain
    workspace: Workspace
    translator: Translator
    settings: BuildSettings
    cache: ContentCache | None = None
    cached_only: bool = False
    opencl: OpenclAmd | None = None
    """The compiler of OpenCL rows; found when the first of them comes."""
    _results: CachedResults = field(init=False)

    def __post_init__(self) -> None:
        remedy = Remedy("host functions callable, overloads, C++20", has_remedy)
        self._results = CachedResults(self.cache, self.cached_only, remedy)

    def key(self, row: Row, architecture: str) -> str:
        """Everything the AMD side of ``row`` for ``architecture`` depends on."""
        if dialect_of(row) is OPENCL:
            parts = [self.settings.optimization, architecture]
            return digest(["opencl", self._opencl().fingerprint, *parts, *unit_key(row)])
        return digest(
            [
                "amd",
                self.toolchain.fingerprint,
                self.translator.name,
                self.translator.version,
                self.settings.optimization,
                architecture,
                *([_HEADERS] if row["tree"] or row.get("header_packages") else []),
                *(WITHOUT_MODULES if row.get("standard") else ()),
                *([repair_fingerprint()] if row.get("configured") else []),
                *unit_key(row),
            ]
        )

    def run(self, rows: Sequence[Row]) -> list[Row]:
        """Rows with ``hip_host``, ``hip_device`` and the toolchain filled in, or rejected.

        Further architectures are in ``devices``. One that the row does not compile for is no
        reason to reject it.
        """
        return [guarded(Stage.COMPILE_AMD, row, self._one) for row in rows]

    def _one(self, row: Row) -> Row:
        if is_set_aside(row):
            return row
        try:
            return self._compiled(row)
        except CompileFailure as failure:
            if not self.settings.lifted_rows or failure.reason not in NO_COUNTERPART:
                raise
            said = f"{failure.tool}: {failure.diagnostic}"
            return set_aside(row, Stage.COMPILE_AMD, failure.reason, said)

    def _compiled(self, row: Row) -> Row:
        first, *others = self.settings.amd_architectures
        key = self.key(row, first)
        value = self._results.get(key)
        if value is None:
            value = self._compile(row, key, first)
        devices = [self._device(row, architecture) for architecture in others]
        return {
            **row,
            "hip_source": value.get("hip_source", row["hip_source"]),
            "hip_host": value["host"],
            "hip_device": value["device"],
            "hip_arch": first,
            "amd_toolchain": value["toolchain"],
            "hip_device_tokens": token_count(value["device"]),
            "devices": devices or None,
        }

    def _device(self, row: Row, architecture: str) -> dict[str, Any]:
        """An element of ``devices``."""
        key = digest(["device", self.key(row, architecture)])
        result = {"vendor": AMD, "arch": architecture, "evidence": None, "diagnostic": ""}
        try:
            value = self._results.get(key)
            if value is None:
                value = self._compile(row, key, architecture, device_only=True)
        except CompileFailure as failure:
            nothing = {"device": "", "toolchain": None, "verified": Verified.NONE.value}
            return {**result, **nothing, "diagnostic": clip_diagnostic(failure.diagnostic)}
        compiled = {"device": value["device"], "toolchain": value["toolchain"]}
        return {**result, **compiled, "verified": Verified.COMPILED.value}

    def _output(
        self, row: Row, architecture: str, device_only: bool
    ) -> tuple[AmdOutput, Toolchain, str]:
        """What the compiler of the row's language made, the record of that compiler, and the HIP
        source where it was mended."""
        limits, optimization = compiler_limits(self.settings, row), self.settings.optimization
        if dialect_of(row) is OPENCL:
            compiler = self._opencl()
            unit = unit_of(row, self.workspace, None)
            result = compiler.compile(unit, architecture, optimization=optimization, limits=limits)
            return result, compiler.record(result), ""
        unit = unit_of(row, self.workspace, self.translator)
        compile_hip = self.toolchain.compile_device if device_only else self.toolchain.compile

        def compiled(unit: Unit) -> AmdOutput:
            return compile_hip(unit, architecture, optimization=optimization, limits=limits)

        if not row.get("configured"):
            result = compiled(unit)
            return result, self.toolchain.record(result), ""
        result, mended = compile_repaired(unit, compiled)
        return result, self.toolchain.record(result), mended

    def _opencl(self) -> OpenclAmd:
        """Raises ``CompileFailure`` where this node has no OpenCL compiler."""
        if self.opencl is None:
            self.opencl = located(lambda: find_opencl_amd(self.toolchain), self.cached_only)
        return self.opencl

    def _compile(
        self, row: Row, key: str, architecture: str, *, device_only: bool = False
    ) -> dict[str, Any]:
        try:
            output, record, mended = self._output(row, architecture, device_only)
        except CompileFailure as failed:
            failure = _of_headers(failed)
            self._results.put_failure(key, failure)
            raise failure from None
        value = {
            "host": output.host_assembly,
            "device": output.device_assembly,
            "toolchain": record.model_dump(),
            **({"hip_source": mended} if mended else {}),
        }
        self._results.put(key, value)
        return value


def _of_headers(failure: CompileFailure) -> CompileFailure:
    """``failure``, or what the translator said about a header that the unit compiles."""
    said = errors_said(failure.diagnostic)
    return CompileFailure(Reason.UNTRANSLATABLE, said, "cass-ray") if said else failure
