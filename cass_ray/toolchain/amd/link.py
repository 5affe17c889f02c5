"""From assembly text to code object, fat binary and executable.

Steps as hipcc takes them: assemble and link the device code into a shared ELF object, bundle it,
place the bundle in section ``.hip_fatbin`` of the host program, link with the HIP runtime library.
Assembly may be edited by people or models, so every step runs in the sandbox.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from cass_ray.toolchain.amd.bundle import bundle
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.resident.runs import run
from cass_ray.toolchain.sandbox.isolation import View, private_folder
from cass_ray.toolchain.sandbox.process import COMPILE_LIMITS, Completed, Limits
from cass_ray.toolchain.unit import Unit, classify, result_of
from cass_ray.whole_file import write_whole

RUNTIME_REMEDY = (
    "Install ROCm's HIP runtime (hip-runtime-amd) or pass a libamdhip64.so: set CASS_HIP_RUNTIME."
)

AMDGPU_TARGET = "amdgcn-amd-amdhsa"
_BUNDLE_REFERENCE = re.compile(r"\b__hip_fatbin_\w*?(?=\s|$)", re.MULTILINE)
_HANDLE = re.compile(r"\b__hip_gpubin_handle_\w*")
_WRAPPER = "__hip_fatbin_wrapper"
# A section directive, then comments and blank lines only, up to the next change of section.
_EMPTY_NOTE_SECTION = re.compile(
    r'^[ \t]*\.section[ \t]+"?\.AMDGPU\.\w+"?,.*\n'
    r"(?P<comments>(?:[ \t]*(?:;.*)?\n)*)"
    r"(?=[ \t]*\.(?:section|text|data|bss)\b|\Z)",
    re.MULTILINE,
)


@dataclass(frozen=True)
class LinkTools:
    """What assembles and links; ``visible`` are the paths that both need in the sandbox.

    ``device_assembler`` is the command of a clang for device code, by default ``clang``.
    """

    clang: Path
    linker: Path
    visible: tuple[Path, ...]
    limits: Limits = COMPILE_LIMITS
    device_assembler: tuple[str, ...] = ()


def assemble(tools: LinkTools, device_assembly: str, architecture: str) -> bytes:
    """The code object of ``device_assembly``; see :meth:`AmdToolchain.assemble`."""
    with private_folder() as folder:
        return _code_object(tools, device_assembly, architecture, folder)


def recombine(
    tools: LinkTools,
    host_assembly: str,
    device_assembly: Mapping[str, str],
    output: Path,
    runtime_library: Path | None,
    libraries: Sequence[str] = (),
) -> Path:
    """Link the host's text and the device's, by architecture, with the flags ``libraries``.

    See :meth:`AmdToolchain.recombine`.
    """
    with private_folder() as folder:
        code_objects = {
            architecture: _code_object(tools, assembly, architecture, folder)
            for architecture, assembly in device_assembly.items()
        }
        (folder / "device.hipfb").write_bytes(bundle(code_objects))
        whole = f"{host_assembly}\n{embedding(host_assembly, 'device.hipfb')}"
        (folder / "host.s").write_text(whole)
        _step(tools, folder, [tools.clang, "-c", "host.s", "-o", "host.o"])
        if runtime_library is None:
            object_file = output.with_name(output.name + ".o")
            object_file.write_bytes(result_of("clang", folder / "host.o"))
            raise ToolMissing(
                "The HIP runtime library (libamdhip64.so)",
                f"{RUNTIME_REMEDY} The object file is {object_file}: link it there with"
                f" c++ {object_file.name} -lamdhip64.",
            )
        library = runtime_library.resolve()
        link = _link_command(tools, folder, library, tuple(libraries))
        _step(tools, folder, link, visible=(library.parent,))
        write_whole(output, result_of("lld", folder / "program"), mode=0o755)
    return output


_COMMANDS: dict[tuple[object, ...], list[str]] = {}


def _link_command(
    tools: LinkTools, folder: Path, library: Path, libraries: tuple[str, ...]
) -> list[str]:
    """How clang calls the linker for ``host.o`` of ``folder``: it is asked once.

    Without clang between them there is one process less, and the linker may be a resident one.
    """
    key = (tools.clang, tools.linker, library, libraries)
    if (command := _COMMANDS.get(key)) is None:
        ask: list[str | Path] = [
            tools.clang,
            "-###",
            f"--ld-path={tools.linker}",
            "host.o",
            library,
        ]
        ask += [*libraries, f"-Wl,-rpath,{library.parent}", "-pthread", "-lm", "-o", "program"]
        said = _step(tools, folder, ask, visible=(library.parent,)).stderr_text
        command = _COMMANDS[key] = shlex.split(said.strip().splitlines()[-1])
    return command


def embedding(host_assembly: str, bundle_file: str) -> str:
    """Assembly that defines the symbols that ``host_assembly`` leaves open.

    These are the fat binary (``__hip_fatbin_…``, read from ``bundle_file``) and the handle that
    the registration code keeps (``__hip_gpubin_handle_…``).
    """
    symbols = set(_BUNDLE_REFERENCE.findall(host_assembly)) - {_WRAPPER}
    lines = ['\t.section\t.hip_fatbin,"a",@progbits', "\t.p2align\t12"]
    for symbol in sorted(symbols):
        lines += [f"\t.globl\t{symbol}", f"\t.hidden\t{symbol}", f"{symbol}:"]
    lines += [f'\t.incbin\t"{bundle_file}"', "\t.bss", "\t.p2align\t3"]
    for symbol in sorted(set(_HANDLE.findall(host_assembly))):
        lines += [f"\t.globl\t{symbol}", f"\t.hidden\t{symbol}", f"{symbol}:", "\t.quad\t0"]
    lines.append('\t.section\t".note.GNU-stack","",@progbits\n')
    return "\n".join(lines)


def without_empty_note_sections(assembly: str) -> str:
    """``assembly`` without ``.AMDGPU.*`` sections that hold comments only.

    The compiler prints resource usage there as comments. The assembler would make an empty section
    of each, which the compiler's own object does not have.
    """
    return _EMPTY_NOTE_SECTION.sub(r"\g<comments>", assembly)


def _code_object(tools: LinkTools, assembly: str, architecture: str, folder: Path) -> bytes:
    """The code object, made in ``folder``."""
    (folder / "device.s").write_text(without_empty_note_sections(assembly))
    target = ["-target", AMDGPU_TARGET, f"-mcpu={architecture}"]
    assembler = tools.device_assembler or (str(tools.clang),)
    _step(tools, folder, [*assembler, *target, "-c", "device.s", "-o", "device.o"])
    link: list[str | Path] = [tools.linker, "-m", "elf64_amdgpu", "--no-undefined", "-shared"]
    _step(tools, folder, [*link, "device.o", "-o", "device.co"])
    return result_of("lld", folder / "device.co")


def _step(
    tools: LinkTools,
    folder: Path,
    command: Sequence[str | Path],
    visible: tuple[Path, ...] = (),
) -> Completed:
    """Run one tool in ``folder``; raises :class:`CompileFailure` with its message."""
    view = View(read_only=(*tools.visible, *visible), writable=(folder,))
    done = run(command, cwd=folder, view=view, limits=tools.limits)
    if not done.ok:
        source = next((str(part) for part in command if str(part).endswith(".s")), "host.s")
        raise classify(done, Unit(folder, PurePosixPath(source)), Path(command[0]).name)
    return done
