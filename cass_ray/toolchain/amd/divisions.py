"""Unsigned divisions that LLVM 19 gets wrong, made right: it is told nothing of their dividends.

Instruction selection (``AMDGPUTargetLowering::LowerDIVREM24``) divides numbers of few bits in
single precision, and before LLVM 20 counts as such what has many copies of its sign, signed or not:
``(threadIdx.x - 3) / (n & 7)`` is wrong where the dividend is negative as a signed number. No
option of LLVM leads around it. So device code in which such a division is found is made in two
steps, with its optimized IR in between, in which each dividend is xored with a zero of which LLVM
does not know that it is one. The division then takes LLVM's way for 32 bits, which is right for
all. Divisions of 16 bits and fewer are extended with zeros and right as they are.
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
_WHOLE = re.compile(r"\b0x4f7ffffe\b")
"""The factor of a division of 32 bits."""
_CORRECTION = re.compile(r"^\s*v_cmpx?_n?(?:ge|lt)_f32\S* .*\|v\d+\|, \|v\d+\|", re.MULTILINE)
"""Whether the remainder is as large as the divisor, in single precision."""


def divides_in_single_precision(assembly: str) -> bool:
    """Whether a division in device code may be one of few bits; it need not be a wrong one."""
    reciprocals = len(_RECIPROCAL.findall(assembly))
    if reciprocals == 0:
        return False
    whole = len(_WHOLE.findall(assembly))
    return whole < reciprocals or _CORRECTION.search(assembly) is not None


def hide_dividends(ir: str, limits: Limits) -> Completed:
    """A run that prints ``ir`` with its unsigned dividends of more than 16 bits hidden from LLVM.

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
