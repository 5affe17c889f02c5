"""The kernels of device assembly one by one, and those of two sides beside each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from cass_ray.assembly import rdna3, sass
from cass_ray.assembly.align import align_names
from cass_ray.assembly.demangle import demangle
from cass_ray.public.views import Block, Cells, Listings


class KernelCode(NamedTuple):
    """One kernel's part of a listing, and how many instructions it has."""

    text: str
    instructions: int


def kernels_of(device: str, arch: str) -> dict[str, KernelCode]:
    """By mangled name, in order of appearance; SASS in its canonical form."""
    if arch.startswith("sm_"):
        return {
            function.name: KernelCode(function.render(), len(function.instructions))
            for function in sass.parse(device).functions
            if function.is_kernel
        }
    module = rdna3.parse(device)
    return {
        name: KernelCode(
            "\n".join(module.lines[number].text for number in function.lines),
            sum(1 for _ in module.instructions(function)),
        )
        for name, function in module.functions.items()
        if function.is_kernel
    }


def one_side(kernels: dict[str, KernelCode]) -> Iterator[Block]:
    """A table of the kernels, and the text of each."""
    rows = [(demangle(name), str(code.instructions)) for name, code in kernels.items()]
    if rows:
        yield Cells("Kernels", ("kernel", "instructions"), rows)
    for name, code in kernels.items():
        yield Listings(demangle(name), [("", code.text)])


def both_sides(
    nvidia: dict[str, KernelCode], amd: dict[str, KernelCode], captions: tuple[str, str]
) -> Iterator[Block]:
    """A table of the kernels of both, and those that are on both sides beside each other."""
    alignment = align_names(nvidia, amd)
    rows = [
        (pair.name, str(nvidia[pair.nvidia].instructions), str(amd[pair.amd].instructions))
        for pair in alignment.pairs
    ]
    alone = [*alignment.only_nvidia, *alignment.library_nvidia]
    rows += [(demangle(name), str(nvidia[name].instructions), "—") for name in alone]
    alone = [*alignment.only_amd, *alignment.library_amd]
    rows += [(demangle(name), "—", str(amd[name].instructions)) for name in alone]
    if rows:
        yield Cells("Instructions", ("kernel", *captions), rows)
    for pair in alignment.pairs:
        texts = nvidia[pair.nvidia].text, amd[pair.amd].text
        yield Listings(pair.name, list(zip(captions, texts, strict=True)))
