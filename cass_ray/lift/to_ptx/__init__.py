"""The other way: RDNA3 assembly to PTX, and by ptxas to SASS.

A wave of 32 becomes a warp (``wave``). The kernel's name and explicit arguments stay as they are,
so that a CUDA host launches it. The table is strict: what is not in it is an error that names the
instruction.
"""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from cass_ray.assembly import rdna3
from cass_ray.lift.errors import CompilerFailure
from cass_ray.lift.to_ptx.data import variables
from cass_ray.lift.to_ptx.errors import UnknownInstruction
from cass_ray.lift.to_ptx.kernel import KernelWriter
from cass_ray.toolchain.nvidia import NvidiaToolchain

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
    """A cubin, by ptxas. Raises :class:`CompilerFailure` with its message."""
    with tempfile.TemporaryDirectory() as name:
        source, target = Path(name, "module.ptx"), Path(name, "module.cubin")
        source.write_text(ptx)
        ptxas = nvidia.nvcc.with_name("ptxas")
        command = [str(ptxas), f"-arch={architecture}", str(source), "-o", str(target)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise CompilerFailure(f"ptxas refused the PTX: {done.stderr.strip()[-2000:]}")
        return target.read_bytes()
