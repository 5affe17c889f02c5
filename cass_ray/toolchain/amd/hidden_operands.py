"""What LLVM's instruction selection gets wrong, made right: it is told nothing of some operands.

**Unsigned divisions.** ``AMDGPUTargetLowering::LowerDIVREM24`` divides numbers of few bits in
single precision, and counts as such what has many copies of its sign, signed or not (196418; before
LLVM 20 everywhere, then at -O0): ``(threadIdx.x - 3) / (n & 7)`` is wrong where the dividend is
negative as a signed number. Those of 16 bits and fewer are extended with zeros and right as they
are.

**Signed divisions** are made likewise, before LLVM 23 with a quotient of as many bits: of
``(int)(short)a / (int)(short)b`` it makes -32768 where 32768 is right, of -32768 and -1; so of 24
and of 8 bits, and of 64 bits where both numbers have no more than 32 (pull requests 203436 and
210348). On hardware, whose reciprocals are not exact, quotients of 23 and 24 bits may be one off
(209711).

**Carries.** Before LLVM 23 ``SITargetLowering::performAddCarrySubCarryCombine`` takes the carry of
``(x + y) + carry`` for that of ``x + y + carry``: one where ``x + y`` alone wraps around (204362),
and so for borrows. Numbers of several words are added so, in C as in lifted code.

**Products of bytes.** ``SITargetLowering::performAddCombine`` makes ``V_DOT4_U32_U8`` of a sum of
products of which one number is signed and the other is not, where their bytes were put together by
hand, as lifted code does: in LLVM 19 to 22.

No option of LLVM leads around these. So device code is made in two steps, with its optimized IR in
between, in which such dividends, sums and products are xored with a zero of which LLVM does not
know that it is one. For lifted code ``lift/llvm/native/hide_sums.h`` does so.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.resident.runs import run
from cass_ray.toolchain.sandbox.isolation import Mount, View, private_folder
from cass_ray.toolchain.sandbox.process import Completed, Limits

PROGRAM = Path(__file__).with_name("clang-hide-operands")
"""An awk program from LLVM IR to LLVM IR."""

_INPUT = "module.ll"

UNOPTIMIZED = ("-Xclang", "-disable-llvm-passes")
"""For optimized IR: what remains is the generation of code, which is the same as in one step."""


def hide(ir: str, limits: Limits) -> Completed:
    """A run that prints ``ir`` with the operands hidden that LLVM would get wrong.

    Raises :class:`~cass_ray.toolchain.errors.ToolMissing`.
    """
    with private_folder() as folder:
        (folder / _INPUT).write_text(ir)
        view = View(read_only=(PROGRAM.parent,), mounts=(Mount(folder, folder),))
        command = (find_awk(), "-f", PROGRAM, _INPUT)
        return run(command, cwd=folder, limits=limits, view=view)


def find_awk() -> Path:
    """Where a sandbox shows it: behind the links of Debian's alternatives.

    Raises :class:`~cass_ray.toolchain.errors.ToolMissing`.
    """
    awk = shutil.which("awk")
    if awk is None:
        raise ToolMissing("awk", "Install mawk or gawk: apt-get install mawk.")
    return Path(awk).resolve()
