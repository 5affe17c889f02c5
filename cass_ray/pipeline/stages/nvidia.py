"""The Nvidia side: CUDA to host assembly, cubins and SASS."""

from __future__ import annotations

import base64
import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from cass_ray.assembly import sass
from cass_ray.cache import ContentCache, digest
from cass_ray.corpus.dialect import OPENCL, dialect_of
from cass_ray.dataset.row import Reason, Stage, Toolchain
from cass_ray.pipeline.provided import with_unopened_header
from cass_ray.pipeline.row_units import unit_key, unit_of
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.pipeline.stages.base import (
    CUBINS_COLUMN,
    CachedResults,
    Remedy,
    Row,
    compiler_limits,
    guarded,
    located,
    token_count,
)
from cass_ray.pipeline.workspace import Workspace
from cass_ray.toolchain.given_headers import asks_for_newer_standard
from cass_ray.toolchain.nvidia.host import recipe_of_projects
from cass_ray.toolchain.nvidia.older_cccl import lacks_cccl, older_cccl
from cass_ray.toolchain.nvidia.removed_names import removed_headers
from cass_ray.toolchain.nvidia.toolchain import (
    NvidiaOutput,
    NvidiaToolchain,
    calls_other_units,
)
from cass_ray.toolchain.opencl.locate import find_opencl_nvidia
from cass_ray.toolchain.opencl.toolchain import OpenclNvidia
from cass_ray.toolchain.unit import CompileFailure

_MAY_NEED = re.compile(
    r"texture|cudaDeviceProp|(?:cuda|cu)Mem(?:Prefetch|Advise)|cuCtxCreate|thrust::|cudaGraph"
    r"|__(?:shfl|any|all|ballot)\b"
)
_OF_PROJECTS = (
    *("tree", "include_directories", "header_packages", "configured", "definitions"),
    *("forced", "standard"),
)
"""Columns that say how a project compiles a row."""


@dataclass
class NvidiaStage:
    """Compiles the CUDA side of rows; one disassembler run serves a whole batch."""

    toolchain: NvidiaToolchain
    workspace: Workspace
    settings: BuildSettings
    cache: ContentCache | None = None
    cached_only: bool = False
    opencl: OpenclNvidia | None = None
    """The compiler of OpenCL rows; found when the first of them comes."""
    _results: CachedResults = field(init=False)

    def __post_init__(self) -> None:
        remedy = Remedy(f"{older_cccl().key}, relocatable, C++20", _has_remedy)
        self._results = CachedResults(self.cache, self.cached_only, remedy)

    def key(self, row: Row) -> str:
        """Everything the Nvidia side of ``row`` depends on."""
        if dialect_of(row) is OPENCL:
            names = self.settings.nvidia_architectures
            kind = "opencl with cubins" if self.settings.keeps_cubins else "opencl"
            return digest([kind, self._opencl().fingerprint, *names, *unit_key(row)])
        return digest(
            [
                "nvidia with cubins" if self.settings.keeps_cubins else "nvidia",
                self.toolchain.fingerprint,
                self.settings.optimization,
                *self.settings.nvidia_architectures,
                *_removed(row),
                *unit_key(row),
            ]
        )

    def run(self, rows: Sequence[Row]) -> list[Row]:
        """Rows with ``cuda_host``, ``cuda_device`` and the toolchain filled in, or rejected."""
        fresh: dict[int, NvidiaOutput] = {}
        done: list[Row] = []
        for index, row in enumerate(rows):
            work = functools.partial(self._one, index=index, fresh=fresh)
            done.append(guarded(Stage.COMPILE_NVIDIA, row, work))
        if fresh:
            self._disassemble(done, fresh)
        return done

    def _one(self, row: Row, index: int, fresh: dict[int, NvidiaOutput]) -> Row:
        key = self.key(row)
        try:
            value = self._results.get(key)
            if value is not None:
                return self._filled(row, value)
            fresh[index] = self._compiled(row, key)
        except CompileFailure as failure:
            wider = self._wider(row, failure)
            if wider is None:
                raise _of_part(row, failure) from None
        else:
            return row
        return self._one(wider, index, fresh)

    def _wider(self, row: Row, failure: CompileFailure) -> Row | None:
        return with_unopened_header(row, failure) if self.settings.headers == "auto" else None

    def _compiled(self, row: Row, key: str) -> NvidiaOutput:
        try:
            return self._output(row)
        except CompileFailure as failure:
            self._results.put_failure(key, failure)
            raise

    def _output(self, row: Row) -> NvidiaOutput:
        unit, limits = unit_of(row, self.workspace, None), compiler_limits(self.settings, row)
        names = self.settings.nvidia_architectures
        if dialect_of(row) is OPENCL:
            return self._opencl().compile(unit, names, limits=limits)
        return self.toolchain.compile(
            unit,
            names,
            optimization=self.settings.optimization,
            limits=limits,
            fetch_headers=self.settings.headers == "auto",
            hip_headers=_is_of_project(row),
        )

    def _opencl(self) -> OpenclNvidia:
        """Raises ``CompileFailure`` where this node has no OpenCL compiler."""
        if self.opencl is None:
            self.opencl = located(lambda: find_opencl_nvidia(self.toolchain), self.cached_only)
        return self.opencl

    def _record(self, row: Row, output: NvidiaOutput) -> Toolchain:
        compiler = self._opencl() if dialect_of(row) is OPENCL else self.toolchain
        return compiler.record(output)

    def _disassemble(self, rows: list[Row], fresh: dict[int, NvidiaOutput]) -> None:
        """One disassembler run for all of ``fresh``; one a row where a cubin spoils the batch."""
        try:
            listings = self._listings(list(fresh.values()))
        except Exception:
            listings = [None] * len(fresh)
        for (index, output), listing in zip(fresh.items(), listings, strict=True):
            work = functools.partial(self._finish, output=output, listing=listing)
            rows[index] = guarded(Stage.COMPILE_NVIDIA, rows[index], work)

    def _listings(self, outputs: Sequence[NvidiaOutput]) -> list[dict[str, str] | None]:
        """SASS by architecture, for each output."""
        architectures = self.settings.nvidia_architectures
        cubins = [output.cubins[name] for output in outputs for name in architectures]
        texts = iter(self.toolchain.disassemble(cubins))
        return [{name: next(texts) for name in architectures} for _ in outputs]

    def _finish(self, row: Row, output: NvidiaOutput, listing: dict[str, str] | None) -> Row:
        texts = listing or self._listings([output])[0] or {}
        value: dict[str, Any] = {
            "host": output.host_assembly,
            "device": {name: sass.normalize(text) for name, text in texts.items()},
            "toolchain": self._record(row, output).model_dump(),
        }
        if self.settings.keeps_cubins:
            value["cubins"] = [
                {"arch": name, "cubin": _to_text(output.cubins[name]), "listing": text}
                for name, text in texts.items()
            ]
        self._results.put(self.key(row), value)
        return self._filled(row, value)

    def _filled(self, row: Row, value: dict[str, Any]) -> Row:
        device = value["device"]
        first = device[self.settings.nvidia_architectures[0]]
        if not sass.functions(first):
            raise CompileFailure(
                reason=Reason.NO_DEVICE_CODE,
                diagnostic="compiled to no device function (kernels never instantiated?)",
                tool="nvcc",
            )
        return {
            **row,
            "cuda_host": value["host"],
            "cuda_device": first,
            "cuda_device_by_arch": [{"arch": a, "sass": text} for a, text in device.items()],
            "cuda_arch": list(self.settings.nvidia_architectures),
            "nvidia_toolchain": value["toolchain"],
            "cuda_device_tokens": token_count(first),
            CUBINS_COLUMN: [
                {**each, "cubin": base64.b64decode(each["cubin"])}
                for each in value.get("cubins", ())
            ],
        }


def _of_part(row: Row, failure: CompileFailure) -> CompileFailure:
    """``failure``, or that of a file that another one includes and that is no program alone."""
    if failure.reason is not Reason.COMPILE_ERROR or not row.get("part_of"):
        return failure
    said = f"a part of {row['part_of']}, which includes it; alone it does not compile\n"
    return CompileFailure(Reason.FRAGMENT, said + failure.diagnostic, failure.tool)


def _has_remedy(failure: CompileFailure) -> bool:
    newer = asks_for_newer_standard(failure.diagnostic)
    return newer or lacks_cccl(failure) or calls_other_units(failure)


def _is_of_project(row: Row) -> bool:
    return any(row.get(name) for name in _OF_PROJECTS)


def _removed(row: Row) -> list[str | bytes]:
    """Further parts of a row's key, where its Nvidia side may be given headers of ours."""
    may = _is_of_project(row) or _MAY_NEED.search(row["cuda_source"])
    return [*removed_headers(), *recipe_of_projects()] if may else []


def _to_text(content: bytes) -> str:
    return base64.b64encode(content).decode()
