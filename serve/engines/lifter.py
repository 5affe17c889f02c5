"""The engine ``lift``: machine code to RDNA3 assembly."""

from __future__ import annotations

import base64
import time
from pathlib import PurePosixPath

import cass_ray.lift as lift
from cass_ray.api.schema import RULES, CountsModel, FindingModel, TranslateRequest
from cass_ray.architectures import DEFAULT_NVIDIA_ARCHITECTURE
from cass_ray.corpus.reading.source_files import Sources
from cass_ray.task import Direction
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.nvidia.disassembly import DisassemblyError
from cass_ray.toolchain.nvidia.elf import Cubin, CubinError
from cass_ray.toolchain.sandbox.isolation import private_folder
from cass_ray.toolchain.unit import CompileFailure
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.project.program import translated
from cass_ray.translate.protocol import TranslatorError
from serve.engines.base import EngineAnswer, file_name

_LIFTED_FROM = DEFAULT_NVIDIA_ARCHITECTURE


class LiftEngine:
    """SASS to RDNA3 assembly: from a cubin, or from CUDA source that is compiled first."""

    def __init__(self) -> None:
        self._nvidia, self._amd = find_nvidia(), find_amd()
        self._rules = make_translator(RULES)
        self.version = lift.fingerprint()

    def translate(self, request: TranslateRequest, seed: int) -> EngineAnswer:
        del seed
        if request.direction is not Direction.CUDA_TO_HIP:
            raise TranslatorError("the engine lift goes from CUDA to HIP only")
        started = time.perf_counter()
        try:
            if request.cubin is not None:
                module, host = self._lift(base64.b64decode(request.cubin), request, {}), ""
            else:
                module, host = self._from_source(request)
        except (lift.LiftError, CubinError, DisassemblyError) as error:
            raise TranslatorError(f"not lifted: {error}") from None
        except CompileFailure as failure:
            raise TranslatorError(
                f"the program does not compile with {failure.tool}: {failure.diagnostic}"
            ) from None
        findings = [
            FindingModel(
                line=0, column=0, name=kernel, severity="error", message=f"not lifted: {why}"
            )
            for kernel, why in module.failures.items()
        ]
        counts = CountsModel(converted=len(module.kernels), unsupported=len(module.failures))
        return EngineAnswer(
            source=module.assembly,
            version=self.version,
            findings=findings,
            counts=counts,
            seconds=time.perf_counter() - started,
            host=host,
        )

    def _lift(
        self, cubin: bytes, request: TranslateRequest, names: dict[str, str]
    ) -> lift.LiftedModule:
        return lift.lift_cubin(
            cubin,
            request.architecture,
            amd=self._amd,
            nvidia=self._nvidia,
            partial=True,
            names=names,
        )

    def _from_source(self, request: TranslateRequest) -> tuple[lift.LiftedModule, str]:
        name = file_name(request)
        sources = Sources(PurePosixPath(name), {name: request.source.encode()})
        with private_folder() as folder:
            output = self._nvidia.compile(sources.write(folder), (_LIFTED_FROM,))
        cubin = output.cubins[_LIFTED_FROM]
        with private_folder() as folder:
            unit = translated(sources, self._rules).write(folder)
            host = self._amd.compile(unit, request.architecture)
        names = lift.names_for_host(Cubin.parse(cubin), host.device_assembly)
        return self._lift(cubin, request, names), host.host_assembly
