"""Divisions that LLVM gets wrong, made right: it is told nothing of their dividends.

Instruction selection (``AMDGPUTargetLowering::LowerDIVREM24``) divides numbers of few bits in
single precision, and before LLVM 20 counts as such what has many copies of its sign, signed or not:
``(threadIdx.x - 3) / (n & 7)`` is wrong where the dividend is negative as a signed number. No
option of LLVM leads around it. So device code in which such a division is found is made in two
steps, with its optimized IR in between, in which each dividend is xored with a zero of which LLVM
does not know that it is one. The division then takes LLVM's way for 32 bits, which is right for
all. Unsigned divisions of 16 bits and fewer are extended with zeros and right as they are.

Signed numbers of few bits are divided likewise, before LLVM 23 with a quotient of as many bits: of
``(int)(short)a / (int)(short)b`` it makes -32768 where 32768 is right, of -32768 and -1; so of 24
and of 8 bits, and of 64 bits where both numbers have no more than 32 (pull request 203436).
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.sandbox.isolation import View
from cass_ray.toolchain.sandbox.process import Completed, Limits, run

PROGRAM = Path(__file__).with_name("clang-hide-dividends")
"""An awk program from LLVM IR to LLVM IR."""

UNOPTIMIZED = ("-Xclang", "-disable-llvm-passes")
"""For optimized IR: what remains is the generation of code, which is the same as in one step."""

_RECIPROCAL = re.compile(r"^\s*v_rcp_iflag_f32", re.MULTILINE)
"""Made of integer divisions alone."""


def divides(assembly: str) -> bool:
    """Whether numbers of up to 32 bits are divided in device code; it need not be wrong.

    That of 64 bits which LLVM has shortened cannot be told from one of 32.
    """
    return _RECIPROCAL.search(assembly) is not None


def hide_dividends(ir: str, limits: Limits) -> Completed:
    """A run that prints ``ir`` with the dividends hidden from LLVM that it would get wrong.

    Raises :class:`~cass_ray.toolchain.errors.ToolMissing`.
    """
    command: list[str | Path] = [find_awk(), "-f", PROGRAM]
    view = View(read_only=(PROGRAM.parent,))
    return run(command, cwd=PROGRAM.parent, limits=limits, view=view, stdin=ir.encode())


def find_awk() -> Path:
    """Where a sandbox shows it: behind the links of Debian's alternatives.

    Raises :class:`~cass_ray.toolchain.errors.ToolMissing`.
    """
    awk = shutil.which("awk")
    if awk is None:
        raise ToolMissing("awk", "Install mawk or gawk: apt-get install mawk.")
    return Path(awk).resolve()
