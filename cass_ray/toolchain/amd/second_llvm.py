"""A second compiler for device code: our clang reads the source, another LLVM makes the code.

What clang makes of a program before any optimization is LLVM IR with the device libraries linked
in. A newer LLVM reads the IR of an older one (LLVM's developer policy: upgraded where it changed),
so no HIP headers are needed for it, and what differs afterwards is the optimizer and the code
generator: where miscompilations are. A port that is right by one and wrong by the other is not
proved, and the fault may be the compiler's.

It is also how gfx950 is compiled for where the only clang with HIP's headers does not know it: read
as gfx942 (``AmdTarget.read_as``) with gfx950's macros. The device libraries are then gfx942's.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, fields
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

from cass_ray.architectures import AmdTarget, amd_target
from cass_ray.cache import default_directory, digest
from cass_ray.dataset.row import Reason
from cass_ray.toolchain.amd import hidden_operands, link
from cass_ray.toolchain.amd.code_generation import generate
from cass_ray.toolchain.amd.precompiled import CompilationSide
from cass_ray.toolchain.amd.toolchain import (
    AmdOutput,
    AmdToolchain,
)
from cass_ray.toolchain.amd.workarounds import code_workarounds, selects_wrong
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.probe import remembered, tool_version
from cass_ray.toolchain.sandbox.process import Completed, Limits
from cass_ray.toolchain.search_paths import CLANG_MAJORS, SearchPaths
from cass_ray.toolchain.unit import CompileFailure, Unit, classify

SECOND_CLANG_VARIABLE = "CASS_SECOND_CLANG"
SECOND_CLANG_REMEDY = (
    "pip install ziglang==0.17.1 (it holds clang 22), or name a clang that is newer than the first"
    f" in {SECOND_CLANG_VARIABLE}."
)

_UNOPTIMIZED = ("-emit-llvm", "-Xclang", "-disable-llvm-passes")
_OFFLOAD = "--offload-arch="
_LIKE_GFX942 = ("-D__HIP_NO_IMAGE_SUPPORT=1", "-D__gfx9_4_generic__=1")
"""For targets that are read as gfx942: no texture units, and what rocPRIM 6.4, which names gfx942,
calls the whole kind."""
_OF_TARGET = re.compile(r' "target-(?:cpu|features)"="[^"]*"')
"""What IR says of the processor; without it that of the command line counts."""


@dataclass(frozen=True)
class CodegenClang:
    """A clang that makes device code of LLVM IR: the command, its version, its folder."""

    command: tuple[str, ...]
    version: str
    folder: Path

    @property
    def major(self) -> int:
        return int(self.version.split(".")[0])


@dataclass(frozen=True)
class SecondToolchain(AmdToolchain):
    """An :class:`AmdToolchain` whose device code another LLVM makes; the host's stays as it is."""

    codegen: CodegenClang = CodegenClang((), "0", Path())

    @cached_property
    def fingerprint(self) -> str:
        return digest([super().fingerprint, "code by 3", self.codegen.version, *_LIKE_GFX942])

    @property
    def compilers(self) -> str:
        return f"{self.version}, device code by LLVM {self.codegen.version}"

    def _device_side(
        self,
        unit: Unit,
        architecture: str,
        optimization: str,
        flags: tuple[str, ...],
        limits: Limits,
    ) -> AmdOutput:
        read = self._assembly(unit, CompilationSide.DEVICE, (*flags, *_UNOPTIMIZED), limits)
        completed = self._generated(unit, read.stdout_text, architecture, optimization, limits)
        if ".amdhsa_kernel" not in completed.stdout_text:
            raise CompileFailure(Reason.NO_DEVICE_CODE, "no kernel in the device code", "clang")
        return AmdOutput(
            host_assembly="",
            device_assembly=completed.stdout_text,
            architecture=architecture,
            flags=" ".join(flags),
            cpu_seconds_by_tool={
                "clang device": read.cpu_seconds,
                "second clang": completed.cpu_seconds,
            },
        )

    def visible(self) -> tuple[Path, ...]:
        return (*super().visible(), self.codegen.folder)

    def _assembly(
        self, unit: Unit, side: CompilationSide, flags: tuple[str, ...], limits: Limits
    ) -> Completed:
        """The base's; a target that the first clang does not know is read as one that it does."""
        readable = [flag for each in flags for flag in self._readable(each, side)]
        return super()._assembly(unit, side, tuple(readable), limits)

    def _readable(self, flag: str, side: CompilationSide) -> list[str]:
        target = amd_target(flag.removeprefix(_OFFLOAD)) if flag.startswith(_OFFLOAD) else None
        if target is None or not target.read_as or self._knows(target):
            return [flag]
        macros = [f"-U__{target.read_as}__", f"-D__{target.name}__=1", *_LIKE_GFX942]
        # rocPRIM chooses what its kernels do by this, and its host code by the device's name.
        macros += ["-U__amdgcn_processor__", f'-D__amdgcn_processor__="{target.name}"']
        return [f"{_OFFLOAD}{target.read_as}", *(macros if side is CompilationSide.DEVICE else [])]

    def _knows(self, target: AmdTarget) -> bool:
        return int(self.version.split(".")[0]) >= target.oldest_clang

    def _generated(
        self, unit: Unit, ir: str, architecture: str, optimization: str, limits: Limits
    ) -> Completed:
        flags = [f"-mcpu={architecture}", optimization]
        flags += code_workarounds(self.codegen.version)
        command, ir = self.codegen.command, _OF_TARGET.sub("", ir)
        if selects_wrong(self.codegen.version):
            read = generate(command, unit, ir, [*flags, "-emit-llvm"], self.visible(), limits)
            hidden = hidden_operands.hide(read.stdout_text, limits)
            if not hidden.ok:
                raise classify(hidden, unit, "awk (operands)")
            ir, flags = hidden.stdout_text, [*flags, *hidden_operands.UNOPTIMIZED]
        return generate(command, unit, ir, flags, self.visible(), limits)

    def _link_tools(self) -> link.LinkTools:
        tools = super()._link_tools()
        return link.LinkTools(
            tools.clang, tools.linker, tools.visible, tools.limits, self.codegen.command
        )


def with_second_compiler(
    first: AmdToolchain, search_paths: SearchPaths | None = None
) -> SecondToolchain:
    """``first`` with the device code of the second compiler of this machine.

    Raises :class:`ToolMissing` where there is no clang that is newer than the first.
    """
    codegen = find_codegen_clang(int(first.version.split(".")[0]), search_paths or SearchPaths())
    settings = {each.name: getattr(first, each.name) for each in fields(AmdToolchain)}
    return SecondToolchain(**settings, codegen=codegen)


def find_codegen_clang(oldest: int, search_paths: SearchPaths) -> CodegenClang:
    """The first clang for AMD GPUs that is newer than LLVM ``oldest``, whose IR it must read.

    Tried are ``$CASS_SECOND_CLANG``, those on the ``PATH``, the Python package ``ziglang``.
    Raises :class:`ToolMissing`.
    """
    answers = []
    for program in _candidates(search_paths):
        try:
            codegen = _codegen_clang_at(program, default_directory())
        except ToolMissing as error:
            answers.append(f"{program}: {error}")
            continue
        if codegen.major > oldest:
            return codegen
        answers.append(f"{program}: clang {codegen.version} is not newer than the first")
    raise ToolMissing("A second compiler for AMD GPUs", SECOND_CLANG_REMEDY, "\n".join(answers))


def _codegen_clang_at(program: Path, cache: Path) -> CodegenClang:
    command = ("clang",) if program.name == "zig" else ()
    version = remembered(
        cache,
        "second clang version",
        [program],
        lambda: tool_version(program, r"clang version ([\d.]+)", *command),
    )
    folder = program.parent if command else program.parent.parent
    return CodegenClang((str(program), *command), version, folder)


def _candidates(search_paths: SearchPaths) -> list[Path]:
    programs: list[Path | None] = []
    if named := search_paths.environment.get(SECOND_CLANG_VARIABLE):
        programs.append(Path(named))
    programs += [
        search_paths.which(f"clang-{major}") for major in sorted(CLANG_MAJORS, reverse=True)
    ]
    package = find_spec("ziglang")
    if package is not None and package.origin is not None:
        programs.append(Path(package.origin).parent / "zig")
    return [path.resolve() for path in programs if path is not None and os.access(path, os.X_OK)]
