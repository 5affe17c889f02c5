"""The other way: RDNA3 assembly to PTX, and by ptxas to SASS.

A wave of 32 becomes a warp (``wave``). The kernel's name and explicit arguments stay as they are,
so that a CUDA host launches it. The table is strict: what is not in it is an error that names the
instruction.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from cass_ray.assembly import rdna3
from cass_ray.lift.errors import CompilerFailure
from cass_ray.rdna3_to_ptx.data import variables
from cass_ray.rdna3_to_ptx.errors import UnknownInstruction
from cass_ray.rdna3_to_ptx.kernel import KernelWriter
from cass_ray.toolchain.nvidia.toolchain import NvidiaToolchain
from cass_ray.toolchain.sandbox.isolation import View, private_folder
from cass_ray.toolchain.sandbox.process import COMPILE_LIMITS, run

__all__ = ["PtxModule", "UnknownInstruction", "assemble", "to_ptx"]

_HEAD = ".version 9.0\n.target {architecture}\n.address_size 64\n"


@dataclass(frozen=True)
class PtxModule:
    """PTX of all kernels that could be translated; ``failures`` tells why others could not."""

    text: str
    kernels: tuple[str, ...]
    failures: dict[str, UnknownInstruction] = field(default_factory=dict)


def to_ptx(assembly: str, architecture: str = "sm_90", *, partial: bool = False) -> PtxModule:
    """Translate RDNA3 assembly text as LLVM writes it.

    Raises:
        UnknownInstruction: a kernel has an instruction that is not in the table; with ``partial``
            only if all have.
    """
    module = rdna3.parse(assembly)
    definitions = variables(module)
    texts, failures = {}, {}
    for name in module.kernels:
        try:
            written = KernelWriter(module, name).write()
        except UnknownInstruction as error:
            failures[name] = error
            continue
        if unknown := sorted(written.symbols - definitions.keys()):
            reason = "not a variable that the file defines"
            failures[name] = UnknownInstruction(unknown[0], reason, name)
            continue
        texts[name] = written.text
    if failures and not (partial and texts):
        raise next(iter(failures.values()))
    shared = ".extern .shared .align 16 .b8 lds_dynamic[];\n"
    head = "\n".join([_HEAD.format(architecture=architecture) + shared, *definitions.values(), ""])
    return PtxModule(head + "\n\n".join(texts.values()) + "\n", tuple(texts), failures)


def assemble(ptx: str, nvidia: NvidiaToolchain, architecture: str = "sm_90") -> bytes:
    """A cubin, by ptxas in the sandbox. Raises :class:`CompilerFailure` with its message."""
    with private_folder() as folder:
        (folder / "module.ptx").write_text(ptx)
        command: list[str | Path] = [nvidia.nvcc.with_name("ptxas"), f"-arch={architecture}"]
        command += ["module.ptx", "-o", "module.cubin"]
        view = View(read_only=nvidia.visible(), writable=(folder,))
        done = run(command, cwd=folder, limits=COMPILE_LIMITS, view=view)
        if not done.ok:
            message = done.stderr_text.strip()[-2000:] or done.outcome.value
            raise CompilerFailure(f"ptxas refused the PTX: {message}")
        return (folder / "module.cubin").read_bytes()
