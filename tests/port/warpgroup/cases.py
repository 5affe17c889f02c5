"""What the instructions are given: matrices in shared memory, descriptors of them, sums before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from tests.port.warpgroup.forms import BITS, Form, all_forms, sparse_forms
from tests.port.warpgroup.numbers import IDENTITY_LEADING, IDENTITY_PLACE, IDENTITY_STRIDE

IMAGE_BYTES = 48 * 1024
B_PLACE = 16 * 1024
CHUNK = 16
"""Bytes that stay together whatever the swizzle."""

ATOM_CHUNKS = {0: 1, 1: 8, 2: 4, 3: 2}
"""Mode of swizzling -> chunks of a row of the pattern: none, 128, 64 and 32 bytes."""


@dataclass(frozen=True)
class Descriptor:
    """Fields of a matrix descriptor (PTX ISA, "Matrix Descriptor Format"), in bytes."""

    start: int
    leading: int
    stride: int
    mode: int
    base: int = 0
    unused: int = 0
    """Bits that have no meaning."""

    @property
    def bits(self) -> int:
        """The 64 bits, relative to where the kernel's shared memory begins."""
        fields = self.start // 16 | self.leading // 16 << 16 | self.stride // 16 << 32
        return fields | self.base << 49 | self.mode << 62 | self.unused


@dataclass(frozen=True)
class Case:
    """One multiplication. ``keeps``: the result is added to what was there."""

    form: Form
    image: str
    seed: int
    a: str
    sums: str
    keeps: bool
    of_a: Descriptor
    of_b: Descriptor

    @property
    def metadata(self) -> str:
        """What the words of metadata are filled with; a dense matrix has none."""
        if not self.form.sparse:
            return "zero"
        return "one of two" if BITS[self.form.a] == 32 else "two of four"


def canonical(place: int, mode: int, step: int, *, transposed: bool) -> Descriptor:
    """A matrix as cuTe lays it out, its atoms one after the other along K, then along M or N.

    ``step``: which 32 bytes of the pattern's rows, where K is contiguous.
    """
    atom = 8 * CHUNK * ATOM_CHUNKS[mode]
    if mode == 0:
        return Descriptor(place, atom, 2 * atom, mode)
    if transposed:
        return Descriptor(place, 2 * atom, atom, mode)
    return Descriptor(place + 2 * CHUNK * (step % (ATOM_CHUNKS[mode] // 2)), CHUNK, atom, mode)


def _sums(form: Form) -> str:
    if form.is_integer:
        return "limits" if form.saturates else "bits"
    return form.result


def exact(forms: list[Form] | None = None) -> Iterator[Case]:
    """Whole numbers: nothing is rounded. Each form with each mode of swizzling."""
    for number, form in enumerate(all_forms() if forms is None else forms):
        for mode in range(4):
            kind = "bits" if form.is_integer else form.a
            step = number + mode
            of_a = canonical(0, (mode + number) % 4, step // 2, transposed=form.transposes_a)
            of_b = canonical(B_PLACE, mode, step, transposed=form.transposes_b)
            keeps = (number + mode) % 3 != 0
            if form.a != form.b and not form.is_integer:
                kind = "e4m3"  # any byte is a number of both; these are few
            yield Case(form, kind, step, kind, _sums(form), keeps, of_a, of_b)


_PROBE_B = Form(32, "f32", "f16", "f16", a_in_registers=True)
_PROBE_A = Form(16, "f32", "f16", "f16")
_IDENTITY = Descriptor(IDENTITY_PLACE, IDENTITY_LEADING, IDENTITY_STRIDE, 0)


def probes() -> Iterator[Case]:
    """Products with the identity: the elements that a descriptor names, one by one."""
    modes, turns = range(4), (False, True)
    for turn, mode in product(turns, modes):
        form = replace(_PROBE_B, transposes_b=turn)
        offsets = product((16, 128, 256, 1024, 2048), (128, 256, 512, 1024, 2048))
        for (leading, stride), start in product(offsets, (0, 16, 32, 128, 1024)):
            yield _probe_of_b(form, Descriptor(B_PLACE + start, leading, stride, mode))
        starts = (0, 16, 32, 64, 96, 128, 256, 384, 512, 640, 896, 1024)
        for base, start in product(range(1, 8), starts):
            yield _probe_of_b(form, Descriptor(B_PLACE + start, 2048, 1024, mode, base))
    for turn, mode in product(turns, modes):
        form = replace(_PROBE_A, transposes_a=turn)
        offsets = product((16, 128, 1024), (128, 512, 1024))
        for (leading, stride), start in product(offsets, (0, 32, 384)):
            yield _probe_of_a(form, Descriptor(start, leading, stride, mode))
        for base, start in product(range(1, 8), (0, 128, 640)):
            yield _probe_of_a(form, Descriptor(start, 2048, 1024, mode, base))


def _probe_of_b(form: Form, descriptor: Descriptor) -> Case:
    return Case(form, "unique", 0, "identity", "zero", False, _IDENTITY, descriptor)


def _probe_of_a(form: Form, descriptor: Descriptor) -> Case:
    return Case(form, "unique with identity", 0, "zero", "zero", False, descriptor, _IDENTITY)


def rounded() -> Iterator[Case]:
    """Numbers of which sums are rounded, denormal ones, infinities: what the hardware makes."""
    bytes_of_numbers = product(("f32", "f16"), ("e4m3", "e5m2"))
    pairs = [("f32", "f16"), ("f16", "f16"), ("f32", "bf16"), ("f32", "tf32"), *bytes_of_numbers]
    for result, kind in pairs:
        form = Form(16, result, kind, kind)
        for which in ("near 1", "all", "special", "denormal"):
            name = f"{kind} {which}"
            if (kind, which) == ("tf32", "special") or (which == "denormal" and kind != "bf16"):
                continue
            for keeps in (False, True):
                sums = "f32 near 1" if result == "f32" else "f16 near 1"
                for seed in range(2):
                    step = 2 * CHUNK
                    of_a = Descriptor(step * seed, CHUNK, 1024, 1)
                    of_b = Descriptor(B_PLACE + step * seed, CHUNK, 1024, 1)
                    yield Case(form, name, seed, name, sums, keeps, of_a, of_b)


def unusual() -> Iterator[Case]:
    """Descriptors with bits that have no meaning; one may end the program."""
    for bit in (14, 15, 30, 31, 46, 47, 48, *range(52, 62)):
        for mode in (0, 1):
            known = Descriptor(B_PLACE, 1024, 1024, mode, unused=1 << bit)
            yield _probe_of_b(_PROBE_B, known)
    for bit in (46, 52):
        known = Descriptor(0, 1024, 1024, 1, unused=1 << bit)
        yield _probe_of_a(_PROBE_A, known)


_APART = 4096
"""Bytes from the first 32 of a column of B to the others, where its pattern has 32."""


def sparse() -> Iterator[Case]:
    """Whole numbers, of sparse matrices. A column of B has 64 bytes."""
    for case in exact(list(sparse_forms())):
        yield case if case.form.transposes_b else replace(case, of_b=_twice(case.of_b, case.seed))


def _twice(of_b: Descriptor, step: int) -> Descriptor:
    """With all of a column in rows of the pattern, or half of it where they have 32 bytes."""
    if of_b.mode == 3:
        return replace(of_b, leading=_APART)
    if of_b.mode == 0:
        return replace(of_b, stride=4 * of_b.leading)
    return replace(of_b, start=B_PLACE + 4 * CHUNK * (step % (ATOM_CHUNKS[of_b.mode] // 4)))


def sparse_rounded() -> Iterator[Case]:
    """As :func:`rounded`, of sparse matrices; an infinity of B may be multiplied by nothing."""
    for number, case in enumerate(rounded()):
        selector = number % 2 if BITS[case.form.a] > 8 else 0
        yield replace(case, form=replace(case.form, sparse=True, selector=selector))


SECTIONS = {
    "exact": exact,
    "probes": probes,
    "rounded": rounded,
    "unusual": unusual,
    "sparse": sparse,
    "sparse rounded": sparse_rounded,
}
