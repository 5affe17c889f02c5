"""The stages a row passes between corpus and data set: translate, compile on both sides, align.

Each stage takes rows (dictionaries of ``cass_ray.pairs`` columns plus the working columns of
``WORK_SCHEMA``) and returns them, finished a step further or marked as rejected. Stages know
nothing of Ray; actors hold them.
"""

from __future__ import annotations

import base64
import functools
import json
import re
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any, TypeVar

import pyarrow as pa

from cass_ray.assembly import sass
from cass_ray.assembly.align import align_kernels
from cass_ray.cache import ContentCache, digest
from cass_ray.corpus.dialect import OPENCL, dialect_of, source_of
from cass_ray.pairs import (
    REJECT_SCHEMA,
    Reason,
    Stage,
    Toolchain,
    Verified,
    is_rejected,
    rejected,
)
from cass_ray.settings import BuildSettings
from cass_ray.toolchain.amd import AmdOutput, AmdToolchain
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.nvidia import NvidiaOutput, NvidiaToolchain
from cass_ray.toolchain.opencl import OpenclAmd, OpenclNvidia
from cass_ray.toolchain.opencl_locate import find_opencl_amd, find_opencl_nvidia
from cass_ray.toolchain.process import COMPILE_LIMITS, Limits
from cass_ray.toolchain.unit import CompileFailure, Unit
from cass_ray.translate.protocol import Context, Translator, TranslatorError
from cass_ray.unpacked import UnpackedTrees

Row = dict[str, Any]

CUBINS_COLUMN = "cubins"

_CUBIN = pa.struct(
    [("arch", pa.string()), ("cubin", pa.large_binary()), ("listing", pa.large_string())]
)
WORK_SCHEMA = pa.schema(
    [
        *REJECT_SCHEMA,
        ("sequence", pa.int64()),
        ("tree", pa.string()),
        ("include_directories", pa.list_(pa.string())),
        (CUBINS_COLUMN, pa.list_(_CUBIN)),
    ]
)
"""``sequence``: position in the input. ``tree``: digest of the archive that holds the program.
``include_directories``: relative to the tree. ``cubins``: for the lifter, with their listings."""

_TOKEN = re.compile(r"\w+|[^\w\s]")

_TRANSIENT = frozenset(
    {Reason.TIME_LIMIT, Reason.MEMORY_LIMIT, Reason.INTERNAL_ERROR, Reason.TOOL_MISSING}
)
"""Failures that depend on the machine or its load and are not remembered in the cache."""


def compiler_limits(settings: BuildSettings) -> Limits:
    """Limits of one compiler process as the settings give them."""
    limits = settings.limits
    return replace(
        COMPILE_LIMITS,
        cpu_seconds=limits.cpu_seconds,
        wall_seconds=limits.wall_seconds,
        memory_bytes=limits.memory_mib << 20,
        output_bytes=limits.output_mib << 20,
    )


def token_count(assembly: str) -> int:
    """Words and punctuation marks of ``assembly``; a model's tokenizer counts differently."""
    return len(_TOKEN.findall(assembly))


class NotCached(LookupError):
    """The row needs a compiler, and only cached results were asked for."""


T = TypeVar("T")


def guarded(stage: Stage, row: Row, work: Callable[[Row], Row]) -> Row:
    """``work(row)``; a bug of ours costs this row, not the job. Rejected rows pass through."""
    if is_rejected(row):
        return row
    try:
        return work(row)
    except NotCached:
        raise
    except CompileFailure as failure:
        return rejected(row, stage, failure.reason, f"{failure.tool}: {failure.diagnostic}")
    except Exception:
        return rejected(row, stage, Reason.INTERNAL_ERROR, traceback.format_exc())


def unit_of(row: Row, trees: UnpackedTrees, translator: Translator | None) -> Unit:
    """The compilation unit of ``row``; with a translator, in its translated tree."""
    root = trees.original(row) if translator is None else trees.translated(row, translator)
    return Unit(
        root=root,
        main=PurePosixPath(row["path"]),
        include_directories=tuple(map(PurePosixPath, row["include_directories"] or ())),
    )


def translate(row: Row, translator: Translator, trees: UnpackedTrees) -> Row:
    """CUDA to HIP. A construct with no translation rejects the row with every finding.

    OpenCL compiles for both sides as it is and passes through.
    """

    def work(row: Row) -> Row:
        if dialect_of(row) is OPENCL:
            return {**row, "hip_source": ""}
        try:
            context = Context(files=trees.files(row))
            translation = translator.translate(
                row["cuda_source"], filename=row["path"], context=context
            )
        except TranslatorError as error:
            return rejected(row, Stage.TRANSLATE, Reason.TRANSLATOR_FAILED, str(error))
        if translation.errors:
            listing = "\n".join(finding.format(row["path"]) for finding in translation.errors)
            return rejected(row, Stage.TRANSLATE, Reason.UNTRANSLATABLE, listing)
        return {**row, "hip_source": translation.source}

    return guarded(Stage.TRANSLATE, row, work)


@dataclass
class _Cached:
    """Compiler results through a content cache; ``only`` forbids running the compiler."""

    cache: ContentCache | None
    only: bool = False

    def get(self, key: str) -> dict[str, Any] | None:
        found = self.cache.get(key) if self.cache is not None else None
        if found is None:
            if self.only:
                raise NotCached(key)
            return None
        value: dict[str, Any] = json.loads(found)
        if "reason" in value:
            raise CompileFailure(
                reason=Reason(value["reason"]), diagnostic=value["diagnostic"], tool=value["tool"]
            )
        return value

    def put(self, key: str, value: dict[str, Any]) -> None:
        if self.cache is not None:
            self.cache.put(key, json.dumps(value, sort_keys=True).encode())

    def put_failure(self, key: str, failure: CompileFailure) -> None:
        if failure.reason not in _TRANSIENT:
            self.put(
                key,
                {
                    "reason": failure.reason.value,
                    "diagnostic": failure.diagnostic,
                    "tool": failure.tool,
                },
            )


def _to_text(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _unit_key(row: Row) -> list[str]:
    return [row["tree"], row["path"], source_of(row), *(row["include_directories"] or ())]


@dataclass
class NvidiaStage:
    """Compiles the CUDA side of rows; one disassembler run serves a whole batch."""

    toolchain: NvidiaToolchain
    trees: UnpackedTrees
    settings: BuildSettings
    cache: ContentCache | None = None
    cached_only: bool = False
    opencl: OpenclNvidia | None = None
    """For OpenCL rows; found when the first of them comes."""
    _results: _Cached = field(init=False)

    def __post_init__(self) -> None:
        self._results = _Cached(self.cache, self.cached_only)

    def key(self, row: Row) -> str:
        """Everything the Nvidia side of ``row`` depends on."""
        if dialect_of(row) is OPENCL:
            names = self.settings.nvidia_architectures
            kind = "opencl with cubins" if self.settings.lift else "opencl"
            return digest([kind, self._opencl().fingerprint, *names, *_unit_key(row)])
        return digest(
            [
                "nvidia with cubins" if self.settings.lift else "nvidia",
                self.toolchain.fingerprint,
                self.settings.optimisation,
                *self.settings.nvidia_architectures,
                *_unit_key(row),
            ]
        )

    def compile(self, rows: Sequence[Row]) -> list[Row]:
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
        value = self._results.get(key)
        if value is not None:
            return self._filled(row, value)
        try:
            output = self._output(row)
        except CompileFailure as failure:
            self._results.put_failure(key, failure)
            raise
        fresh[index] = output
        return row

    def _output(self, row: Row) -> NvidiaOutput:
        unit, limits = unit_of(row, self.trees, None), compiler_limits(self.settings)
        names = self.settings.nvidia_architectures
        if dialect_of(row) is OPENCL:
            return self._opencl().compile(unit, names, limits=limits)
        return self.toolchain.compile(
            unit, names, optimisation=self.settings.optimisation, limits=limits
        )

    def _opencl(self) -> OpenclNvidia:
        """Raises ``CompileFailure`` where this node has no OpenCL compiler."""
        if self.opencl is None:
            self.opencl = _located(lambda: find_opencl_nvidia(self.toolchain), self.cached_only)
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
            "device": {name: sass.normalise(text) for name, text in texts.items()},
            "toolchain": self._record(row, output).model_dump(),
        }
        if self.settings.lift:
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


@dataclass
class AmdStage:
    """Compiles the HIP side of rows from their translated trees."""

    toolchain: AmdToolchain
    trees: UnpackedTrees
    translator: Translator
    settings: BuildSettings
    cache: ContentCache | None = None
    cached_only: bool = False
    opencl: OpenclAmd | None = None
    """For OpenCL rows; found when the first of them comes."""
    _results: _Cached = field(init=False)

    def __post_init__(self) -> None:
        self._results = _Cached(self.cache, self.cached_only)

    def key(self, row: Row) -> str:
        """Everything the AMD side of ``row`` depends on."""
        if dialect_of(row) is OPENCL:
            parts = [self.settings.optimisation, self.settings.amd_architecture]
            return digest(["opencl", self._opencl().fingerprint, *parts, *_unit_key(row)])
        return digest(
            [
                "amd",
                self.toolchain.fingerprint,
                self.translator.name,
                self.translator.version,
                self.settings.optimisation,
                self.settings.amd_architecture,
                *_unit_key(row),
            ]
        )

    def compile(self, rows: Sequence[Row]) -> list[Row]:
        """Rows with ``hip_host``, ``hip_device`` and the toolchain filled in, or rejected."""
        return [guarded(Stage.COMPILE_AMD, row, self._one) for row in rows]

    def _one(self, row: Row) -> Row:
        key = self.key(row)
        value = self._results.get(key)
        if value is None:
            value = self._compile(row, key)
        return {
            **row,
            "hip_host": value["host"],
            "hip_device": value["device"],
            "hip_arch": self.settings.amd_architecture,
            "amd_toolchain": value["toolchain"],
            "hip_device_tokens": token_count(value["device"]),
        }

    def _output(self, row: Row) -> tuple[AmdOutput, Toolchain]:
        """What the compiler of the row's language made, and the record of that compiler."""
        limits, optimisation = compiler_limits(self.settings), self.settings.optimisation
        architecture = self.settings.amd_architecture
        if dialect_of(row) is OPENCL:
            compiler = self._opencl()
            unit = unit_of(row, self.trees, None)
            made = compiler.compile(unit, architecture, optimisation=optimisation, limits=limits)
            return made, compiler.record(made)
        unit = unit_of(row, self.trees, self.translator)
        made = self.toolchain.compile(unit, architecture, optimisation=optimisation, limits=limits)
        return made, self.toolchain.record(made)

    def _opencl(self) -> OpenclAmd:
        """Raises ``CompileFailure`` where this node has no OpenCL compiler."""
        if self.opencl is None:
            self.opencl = _located(lambda: find_opencl_amd(self.toolchain), self.cached_only)
        return self.opencl

    def _compile(self, row: Row, key: str) -> dict[str, Any]:
        try:
            output, record = self._output(row)
        except CompileFailure as failure:
            self._results.put_failure(key, failure)
            raise
        value = {
            "host": output.host_assembly,
            "device": output.device_assembly,
            "toolchain": record.model_dump(),
        }
        self._results.put(key, value)
        return value


def _located(find: Callable[[], T], cached_only: bool) -> T:
    """``find()``; a missing tool is this row's failure, for other rows may not need the tool.

    Where nothing may be compiled anyway, another node may have it.
    """
    try:
        return find()
    except ToolMissing as error:
        if cached_only:
            raise NotCached(str(error)) from None
        raise CompileFailure(Reason.TOOL_MISSING, str(error), "OpenCL") from None


def align(row: Row) -> Row:
    """Match kernels of both sides; a row whose kernels differ is rejected."""

    def work(row: Row) -> Row:
        alignment = align_kernels(row["cuda_device"], row["hip_device"])
        if not alignment.common:
            return rejected(
                row, Stage.ALIGN, Reason.NO_COMMON_KERNEL, f"no kernel on both sides: {alignment}"
            )
        if alignment.kernels_differ:
            return rejected(
                row,
                Stage.ALIGN,
                Reason.KERNELS_DIFFER,
                f"only in SASS: {', '.join(alignment.only_nvidia) or '-'}; "
                f"only in RDNA3: {', '.join(alignment.only_amd) or '-'}",
            )
        return {**row, "kernels": list(alignment.common), "verified": Verified.COMPILED.value}

    return guarded(Stage.ALIGN, row, work)
