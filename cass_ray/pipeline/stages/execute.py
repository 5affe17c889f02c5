"""Execution as a stage of the pipeline: run both sides of a row, compare, fill in the evidence.

The AMD side, where its code runs. What it is compared with is measured before, by
:class:`~cass_ray.pipeline.stages.reference.ReferenceStage`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any

from cass_ray.architectures import emulated_architectures, wavefronts_of
from cass_ray.cache import ContentCache, digest
from cass_ray.corpus.reading.source_files import Sources, gather
from cass_ray.dataset.row import (
    Evidence,
    EvidenceRun,
    Reason,
    Stage,
    Verified,
    is_rejected,
    rejected,
)
from cass_ray.execute.backends.base import Assembly, BuiltProgram
from cass_ray.execute.backends.original_host import OriginalHostBackend
from cass_ray.execute.backends.rdna3 import HipBackend
from cass_ray.execute.checks_version import checks_version
from cass_ray.execute.comparison.tolerances import tolerance_for
from cass_ray.execute.evidence.exploits import wait_findings
from cass_ray.execute.grades import Grade
from cass_ray.execute.port_verdict import JudgedPort, judge_port
from cass_ray.execute.programs import has_main, rdna3_instructions, sass_instructions
from cass_ray.execute.targets import translated_port
from cass_ray.execute.verification import PortVerification, RunRecord
from cass_ray.execute.verify import Policy
from cass_ray.pipeline.row_units import unit_of
from cass_ray.pipeline.stages.base import Row, guarded
from cass_ray.pipeline.stages.driven_rows import hip_program, kernels_to_drive
from cass_ray.pipeline.stages.lifted_side import is_set_aside
from cass_ray.pipeline.stages.reference import REFERENCE_COLUMN, reference_of
from cass_ray.pipeline.workspace import Workspace
from cass_ray.port.errors import PortError
from cass_ray.port.replacement import OriginalProgram
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.sandbox.executable import Bounds
from cass_ray.toolchain.unit import CompileFailure
from cass_ray.translate.protocol import Translator

_LAUNCHES_KEPT = 32


@dataclass
class ExecuteStage:
    """Runs the AMD side of rows and compares it with the reference.

    A row is ``executed`` when its AMD side ran to its end on every input, and ``verified =
    executed`` when the output was also compared with the CUDA side's and agreed. Where there is no
    reference it stays ``compiled``, also if it cannot be linked. A row whose output differs is
    rejected.

    Kernels without ``main`` run under a generated driver, given ``workspace`` and ``translator``
    and a reference that was made with the same driver. Made-up arguments may be ones that the
    kernels were not written for: where such a run does not agree, the row stays ``compiled``.

    What was lifted because the source has no port runs under the CUDA program's own host code.
    """

    backend: HipBackend
    workspace: Workspace | None = None
    translator: Translator | None = None
    bounds: Bounds = field(default_factory=Bounds)
    cache: ContentCache | None = None
    original_programs: Callable[[Row], OriginalProgram] | None = None
    """The CUDA programs of rows whose AMD side is lifted; None: such rows are not run."""
    _backends: dict[str, HipBackend] = field(init=False, default_factory=dict)

    def key(self, row: Row, backend: HipBackend | None = None) -> str:
        """Everything that the verification of ``row`` on ``backend`` depends on."""
        backend = backend or self.backend
        return digest(
            [
                "execute",
                checks_version(),
                backend.name,
                backend.identity(),
                repr(self.bounds),
                row["hip_host"],
                row["hip_device"],
                row["hip_source"],
                row["cuda_source"],
                row["cuda_device"] or "",
                row.get(REFERENCE_COLUMN) or "",
            ]
        )

    def run(self, rows: Sequence[Row]) -> list[Row]:
        """Rows with ``executed``, ``verified`` and ``evidence``, or rejected."""
        return [guarded(Stage.EXECUTE, row, self._one) for row in rows]

    def _one(self, row: Row) -> Row:
        if row["verified"] != Verified.COMPILED.value:
            return row
        if is_set_aside(row):
            return self._hosted(row)
        driven = not has_main([row["hip_source"]])
        if driven and not (row.get(REFERENCE_COLUMN) and self._may_drive):
            return row
        try:
            result = self._result(row, self.backend, driven)
        except CompileFailure:
            if driven or reference_of(row) is None:
                return row  # where the original is not linked either, a library is missing
            raise
        except ToolMissing:
            return row  # of AMD's libraries that the port calls, on this machine
        if driven and not result.passed:
            return row
        verified = with_verification(row, result)
        if not driven:
            verified = self._with_lifted(verified)
        return self._on_devices(verified, driven)

    def _hosted(self, row: Row) -> Row:
        """``row``, whose AMD side is lifted, run under the CUDA program's own host code.

        Left as it is where that cannot be: it has no ``main``, or needs more than the CUDA runtime
        over HIP has.
        """
        if self.original_programs is None or not has_main([row["cuda_source"] or ""]):
            return row
        hosted = OriginalHostBackend(self.backend)
        key = digest(["hosted", self.key(row), row["cuda_host"]])
        entry = self.cache.get(key) if self.cache is not None else None
        if entry is not None:
            return with_verification(row, PortVerification.model_validate_json(entry))
        try:
            built = hosted.join(self.original_programs(row), row["hip_device"])
        except (CompileFailure, PortError, ToolMissing):
            return row
        subject = JudgedPort(built, {}, {}, another=lambda: None)
        result = judge_port(subject, reference_of(row), hosted, self._policy(row))
        if self.cache is not None:
            self.cache.put(key, result.model_dump_json().encode())
        return with_verification(row, result)

    def _result(self, row: Row, backend: HipBackend, driven: bool) -> PortVerification:
        """The verification of the row's device code on ``backend``, from the cache if it is there.

        Raises :class:`~cass_ray.toolchain.unit.CompileFailure`.
        """
        key = self.key(row, backend)
        entry = self.cache.get(key) if self.cache is not None else None
        if entry is not None:
            return PortVerification.model_validate_json(entry)
        program = self._driven(row, backend) if driven else _program(row)
        result = self._verify(row, program, backend)
        if self.cache is not None:
            self.cache.put(key, result.model_dump_json().encode())
        return result

    def _on_devices(self, row: Row, driven: bool) -> Row:
        """What was compiled for further architectures runs as those, against the same outputs."""
        if row["verified"] != Verified.EXECUTED.value or is_rejected(row):
            return row
        devices = [self._device(row, each, driven) for each in row.get("devices") or ()]
        if not devices:
            return row
        executed = [row["hip_arch"]]
        executed += [each["arch"] for each in devices if each["evidence"] is not None]
        agreed = all(
            each["verified"] == Verified.EXECUTED.value
            for each in devices
            if each["evidence"] is not None
        )
        both = len(wavefronts_of(executed)) == 2
        return {**row, "devices": devices, "portable": agreed if both else None}

    def _device(self, row: Row, device: dict[str, Any], driven: bool) -> dict[str, Any]:
        if not device["device"] or device["arch"] not in self._runnable:
            return device
        backend = self._backend_as(device["arch"])
        candidate = {**row, "hip_device": device["device"]}
        try:
            result = self._result(candidate, backend, driven)
        except CompileFailure as failure:
            return {**device, "diagnostic": failure.diagnostic}
        except ToolMissing as missing:
            return {**device, "diagnostic": str(missing)}
        verified = Verified.EXECUTED if result.passed else Verified.COMPILED
        evidence = evidence_of(result).model_dump()
        return {
            **device,
            "verified": verified.value,
            "evidence": evidence,
            "diagnostic": result.reason,
        }

    def _backend_as(self, architecture: str) -> HipBackend:
        """Made once: a backend finds its tools when it is first used."""
        if architecture not in self._backends:
            self._backends[architecture] = replace(self.backend, architecture=architecture)
        return self._backends[architecture]

    @property
    def _runnable(self) -> tuple[str, ...]:
        """Architectures that the backend can be: a card is the one that it is."""
        if self.backend.real_gpu:
            return (self.backend.architecture,)
        return emulated_architectures()

    def _with_lifted(self, row: Row) -> Row:
        """What was lifted of an executed row runs under the same host, against the same outputs."""
        if row["verified"] != Verified.EXECUTED.value or is_rejected(row):
            return row
        lifted = [
            self._lifted(row, each) if each["rdna3"] else each for each in row.get("lifted") or ()
        ]
        return {**row, "lifted": lifted or row.get("lifted")}

    def _lifted(self, row: Row, lifted: dict[str, Any]) -> dict[str, Any]:
        candidate = {**row, "hip_device": lifted["rdna3"]}
        try:
            result = self._result(candidate, self.backend, driven=False)
        except CompileFailure as failure:
            return {**lifted, "diagnostic": failure.diagnostic}
        verified = Verified.EXECUTED if result.passed else Verified.COMPILED
        return {**lifted, "verified": verified.value, "diagnostic": result.reason}

    @property
    def _may_drive(self) -> bool:
        return self.workspace is not None and self.translator is not None

    def _driven(self, row: Row, backend: HipBackend) -> Assembly:
        assert self.workspace is not None
        assert self.translator is not None
        kernels = kernels_to_drive(row)
        return hip_program(row, kernels, self.workspace, self.translator, backend.compile)

    def _verify(self, row: Row, program: Assembly, backend: HipBackend) -> PortVerification:
        original, port = _single(row, "cuda_source"), _single(row, "hip_source")
        subject = JudgedPort(
            backend.build(program),
            original.files,
            port.files,
            another=lambda: self._another(row, original, port, backend),
            findings=wait_findings(row["hip_device"]),
        )
        return judge_port(subject, reference_of(row), backend, self._policy(row))

    def _another(
        self, row: Row, original: Sources, port: Sources, backend: HipBackend
    ) -> BuiltProgram | None:
        """The rules' port of a program, with the files of its tree where they are at hand."""
        if not has_main([row["hip_source"]]):
            return None  # a driver of ours launches its kernels
        if self.workspace is not None:
            original = gather(unit_of(row, self.workspace, None))
        return translated_port(original, port, backend)()

    def _policy(self, row: Row) -> Policy:
        sizes = rdna3_instructions(row["hip_device"]), sass_instructions(row["cuda_device"])
        return Policy(
            tolerance=tolerance_for([row["cuda_source"]]),
            bounds=self.bounds,
            device_instructions=sizes,
            counters=not self.backend.real_gpu,
        )


def _single(row: Row, column: str) -> Sources:
    path = PurePosixPath(row["path"])
    return Sources(path, {str(path): row[column].encode("utf-8", "surrogateescape")})


def _program(row: Row) -> Assembly:
    return Assembly(row["hip_host"], row["hip_device"])


def with_verification(row: Row, result: PortVerification) -> Row:
    """``row`` with what ``result`` says; rejected where the outputs differ."""
    if is_rejected(row):
        return row
    evidence = evidence_of(result).model_dump()
    if result.problem:
        return {**row, "executed": result.ran, "evidence": evidence}
    if result.passed:
        verified = Verified.EXECUTED.value
        return {**row, "executed": True, "verified": verified, "evidence": evidence}
    if result.grade is not Grade.DIFFERS:
        return {**row, "executed": result.ran, "evidence": evidence}
    reason = Reason.OUTPUT_DIFFERS if result.ran else Reason.RUN_FAILED
    return rejected({**row, "evidence": evidence}, Stage.EXECUTE, reason, result.reason)


def evidence_of(result: PortVerification) -> Evidence:
    """The evidence column; ``EvidenceRun.detail`` is JSON of what has no column of its own."""
    launches = list(dict.fromkeys(launch for run in result.runs for launch in run.launches))
    return Evidence(
        runs=[_run(run) for run in result.runs],
        reference=result.reference_kind,
        nvidia_backend=result.reference,
        amd_backend=result.candidate,
        launches=launches[:_LAUNCHES_KEPT],
        tolerance=result.tolerance,
        max_error=result.max_error,
        coverage=result.coverage.share,
        counters=result.coverage.model_dump_json() if result.coverage.kernels else "",
        grade=result.grade.value,
        perturbations=result.perturbations,
    )


def _run(record: RunRecord) -> EvidenceRun:
    kept = {"verdict", "status", "mean_error", "floats", "rounded", "freed", "varying"}
    details = record.model_dump(include=kept | {"difference"}, mode="json", exclude_defaults=True)
    return EvidenceRun(
        arguments=record.arguments,
        exact=record.exact,
        numeric=record.numeric,
        max_error=record.max_error,
        detail=json.dumps(details),
    )
