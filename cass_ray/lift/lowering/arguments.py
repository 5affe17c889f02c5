"""A kernel's parameters as arguments of an AMD kernel: their types, and where they lie.

Both vendors put each parameter at the next multiple of its alignment. Nvidia counts from the start
of constant bank 0, AMD from the first parameter: what is aligned to more than 16 bytes, as tensor
maps are, and what follows it, lies elsewhere here.
"""

from __future__ import annotations

from dataclasses import dataclass

from cass_ray.lift.errors import LiftError
from cass_ray.lift.frontend.cubin import Parameter

_SIMPLE = {1: "i8", 2: "i16", 4: "i32", 8: "ptr addrspace(1)"}
_ALIGNMENTS = (16, 8, 4, 2, 1)
_MOST = _ALIGNMENTS[0]
COPY = "%parameters"
"""A thread's copy of the parameters where CUDA has them."""


@dataclass(frozen=True)
class ArgumentLayout:
    """LLVM types of a kernel's arguments, and what is added to each parameter's offset."""

    parameters: tuple[Parameter, ...]
    types: tuple[str, ...]
    shifts: tuple[int, ...]

    def shift_at(self, offset: int) -> int:
        """What is added to ``offset``, which is CUDA's."""
        pairs = zip(self.parameters, self.shifts, strict=True)
        return next((s for p, s in reversed(list(pairs)) if p.offset <= offset), 0)

    @property
    def size(self) -> int:
        """Bytes of the arguments."""
        ends = (p.offset + s + p.size for p, s in zip(self.parameters, self.shifts, strict=True))
        return max(ends, default=0)

    @property
    def common_shift(self) -> int | None:
        """What is added to all offsets; None where they differ."""
        return next(iter(self.shifts), 0) if len(set(self.shifts)) < 2 else None

    def copying(self) -> list[str]:
        """Lines that make :data:`COPY`."""
        size = max((p.offset + p.size for p in self.parameters), default=0)
        lines = [
            f"  {COPY} = alloca [{-(-size // 4)} x i32], align 16, addrspace(5)",
            "  %arguments = call ptr addrspace(4) @llvm.amdgcn.kernarg.segment.ptr()",
        ]
        for number, (p, shift) in enumerate(zip(self.parameters, self.shifts, strict=True)):
            to, source, place = f"%parameter{number}", f"%argument{number}", p.offset + shift
            lines += [
                f"  {to} = getelementptr i8, ptr addrspace(5) {COPY}, i32 {p.offset}",
                f"  {source} = getelementptr i8, ptr addrspace(4) %arguments, i64 {place}",
                f"  call void @llvm.memcpy.p5.p4.i64(ptr addrspace(5) {to}, "
                f"ptr addrspace(4) {source}, i64 {p.size}, i1 false)",
            ]
        return lines


def argument_layout(parameters: tuple[Parameter, ...]) -> ArgumentLayout:
    """Raises :class:`LiftError` for a parameter that no alignment puts where it is."""
    types: list[str] = []
    shifts: list[int] = []
    end = shift = 0
    for parameter in parameters:
        size, place = parameter.size, parameter.offset + shift
        if size in _SIMPLE and -(-end // size) * size == place:
            types.append(_SIMPLE[size])
        else:
            fitting = [a for a in _ALIGNMENTS if -(-end // a) * a == place]
            if not fitting:
                if size % (2 * _MOST):
                    before = f"after one that ends at {end - shift:#x}"
                    raise LiftError(f"a parameter at {parameter.offset:#x} {before}")
                place, fitting = -(-end // _MOST) * _MOST, [_MOST]
                shift = place - parameter.offset
            # The largest alignment that the size allows too: what a C++ type has.
            align = next((a for a in fitting if size % a == 0), fitting[-1])
            types.append(f"ptr addrspace(4) byref([{size} x i8]) align {align}")
        shifts.append(shift)
        end = place + size
    return ArgumentLayout(parameters, tuple(types), tuple(shifts))
