"""Forms of ``wgmma.mma_async``: shapes, kinds of numbers, signs, where A is, and transpositions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

WARPGROUP = 128
ROWS = 64
ROW_BYTES = 32
"""Of a row of A and a column of B that one instruction reads, whatever the kind."""

BITS = {"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8, "b1": 1}
WIDTHS = tuple(range(8, 257, 8))
INTEGER_WIDTHS = (8, 16, 24, *range(32, 257, 16))
"""PTX ISA, "wgmma.mma_async": N for integers and bits."""


@dataclass(frozen=True)
class Form:
    """One instruction."""

    width: int
    result: str
    a: str
    b: str
    a_in_registers: bool = False
    negates_a: bool = False
    negates_b: bool = False
    transposes_a: bool = False
    transposes_b: bool = False
    saturates: bool = False
    sparse: bool = False
    selector: int = 0
    """Which lanes have the metadata of a sparse matrix."""

    @property
    def depth(self) -> int:
        """Columns of A, and rows of B."""
        return self.products * (2 if self.sparse else 1)

    @property
    def products(self) -> int:
        """How many products are summed."""
        return 8 * ROW_BYTES // BITS[self.a]

    @property
    def words(self) -> int:
        """Registers of a thread for the result."""
        return self.width // (4 if self.result == "f16" else 2)

    @property
    def is_integer(self) -> bool:
        return self.result == "s32"

    @property
    def opcode(self) -> str:
        """PTX's name."""
        name = f"wgmma.mma_async{'.sp' if self.sparse else ''}.sync.aligned"
        name += f".m64n{self.width}k{self.depth}"
        name += f".{self.result}.{self.a}.{self.b}"
        if self.a == "b1":
            return f"{name}.and.popc"
        return f"{name}.satfinite" if self.saturates else name

    @property
    def flags(self) -> str:
        """The immediate operands: scales, and transpositions where the kind has them."""
        if self.is_integer:
            return ""
        scales = ["-1" if negates else "1" for negates in (self.negates_a, self.negates_b)]
        if BITS[self.a] != 16:
            return "".join(f", {scale}" for scale in scales)
        turns = (
            [self.transposes_b] if self.a_in_registers else [self.transposes_a, self.transposes_b]
        )
        return "".join(f", {flag}" for flag in [*scales, *(str(int(turn)) for turn in turns)])


_PLAIN = (
    Form(8, "f32", "f16", "f16"),
    Form(8, "f16", "f16", "f16"),
    Form(8, "f32", "bf16", "bf16"),
    Form(8, "f32", "tf32", "tf32"),
    Form(8, "f32", "e4m3", "e4m3"),
    Form(8, "s32", "s8", "s8"),
    Form(8, "s32", "b1", "b1"),
)


def shapes() -> Iterator[Form]:
    """Each width of each kind; A in registers for some of them."""
    for plain in _PLAIN:
        widths = INTEGER_WIDTHS if plain.is_integer else WIDTHS
        yield from (replace(plain, width=width) for width in widths)
        yield from (replace(plain, width=width, a_in_registers=True) for width in (8, 64, 256))


def variants() -> Iterator[Form]:
    """Each sign, transposition, place of A and pair of kinds, in one width."""
    flags = (False, True)
    for result, kind in (("f32", "f16"), ("f16", "f16"), ("f32", "bf16")):
        for negates_a, negates_b, turns_a, turns_b in product(flags, repeat=4):
            yield Form(16, result, kind, kind, False, negates_a, negates_b, turns_a, turns_b)
        for negates_a, negates_b, turns_b in product(flags, repeat=3):
            yield Form(16, result, kind, kind, True, negates_a, negates_b, False, turns_b)
    bytes_of_numbers = product(("f32", "f16"), ("e4m3", "e5m2"), ("e4m3", "e5m2"))
    for result, a, b in (("f32", "tf32", "tf32"), *bytes_of_numbers):
        for in_registers, negates_a, negates_b in product(flags, repeat=3):
            yield Form(16, result, a, b, in_registers, negates_a, negates_b)
    for a, b, in_registers, saturates in product(("s8", "u8"), ("s8", "u8"), flags, flags):
        yield Form(16, "s32", a, b, in_registers, saturates=saturates)
    for in_registers in flags:
        yield Form(16, "s32", "b1", "b1", in_registers)


def sparse_forms() -> Iterator[Form]:
    """Widths, and in one width all others, of which A is sparse; bits are never."""
    dense = [form for form in all_forms() if form.a != "b1" and form.width in (8, 16, 64, 256)]
    for number, form in enumerate(dense):
        yield replace(form, sparse=True, selector=number % 2 if BITS[form.a] > 8 else 0)


def all_forms() -> list[Form]:
    """All of them whose matrices are dense, each once."""
    return list(dict.fromkeys([*shapes(), *variants()]))
