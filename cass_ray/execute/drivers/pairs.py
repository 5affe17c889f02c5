"""The same driver on both sides of a port, for files without ``main``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cass_ray.corpus.reading.source_files import CUDA_SUFFIXES, Sources
from cass_ray.execute.backends.base import Language
from cass_ray.execute.drivers.driver import DrivenKernel, drivable_kernels, with_driver
from cass_ray.execute.programs import has_main


@dataclass(frozen=True)
class DrivenPair:
    """Both sides with a ``main`` that launches ``kernels`` on the same generated arguments."""

    original: Sources
    port: Sources
    kernels: tuple[str, ...]


def driven_pair(original: Sources, port: Sources) -> DrivenPair | None:
    """Both sides with a driver; None where one of them is a program already.

    Raises ``ValueError`` where they have no kernel in common that a driver can launch: one with the
    same name and parameters that take the same, all of them plain numbers or pointers to such.
    """
    if any(has_main(_texts(side)) for side in (original, port)):
        return None
    kernels = common_kernels(original, port)
    if not kernels:
        raise ValueError(
            f"{original.main} has no main, and no kernel that a generated driver can launch on both"
            " sides: give a program that calls it"
        )
    names = tuple(kernel.name for kernel in kernels)
    # What a launch needs is read on one side, so that both sides get the same one.
    return DrivenPair(driven(original, kernels), driven(port, kernels), names)


def common_kernels(original: Sources, port: Sources) -> list[DrivenKernel]:
    """Return the kernels in both main files that a driver can launch on the same arguments."""
    theirs = {kernel.name: kernel for kernel in drivable_kernels(_main(original))}
    ours = drivable_kernels(_main(port))
    # The numbers are the original's: a port could leave its own out.
    return [theirs[kernel.name] for kernel in ours if _same(kernel, theirs.get(kernel.name))]


def _same(ours: DrivenKernel, theirs: DrivenKernel | None) -> bool:
    if theirs is None or len(ours.parameters) != len(theirs.parameters):
        return False
    return all(a.takes(b) for a, b in zip(ours.parameters, theirs.parameters, strict=True))


def driven(sources: Sources, kernels: Sequence[DrivenKernel]) -> Sources:
    """``sources`` with a driver in their own language."""
    cuda = sources.main.suffix in CUDA_SUFFIXES
    return with_driver(sources, kernels, Language.CUDA if cuda else Language.HIP)


def _main(sources: Sources) -> str:
    return sources.files[str(sources.main)].decode("utf-8", "replace")


def _texts(sources: Sources) -> list[str]:
    return [text.decode("utf-8", "replace") for text in sources.files.values()]
