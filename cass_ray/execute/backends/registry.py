"""The backends by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from cass_ray.architectures import (
    AMD_ARCHITECTURES,
    emulated_architectures,
    known_architecture,
)
from cass_ray.execute.backends.amd import AmdBackend
from cass_ray.execute.backends.base import Backend
from cass_ray.execute.backends.nvidia import HipOnNvidiaBackend, NvidiaBackend
from cass_ray.execute.backends.rdna3 import HipBackend, Rdna3Backend


def _lifted() -> Backend:
    """Imported when it is asked for: the lifter is half of what there is to import."""
    from cass_ray.execute.backends.lifted import LiftedBackend

    return LiftedBackend()


_BOUNDED = ("rdna3", "lifted")
"""Names of backends that emulate, and take a number of threads."""

BACKENDS: dict[str, Callable[[], Backend]] = {
    "nvidia": NvidiaBackend,
    "amd": AmdBackend,
    "rdna3": Rdna3Backend,
    "hip-on-nvidia": HipOnNvidiaBackend,
    "lifted": _lifted,
}


def make_backend(name: str, architecture: str | None = None, *, threads: int = 0) -> Backend:
    """The backend called ``name``, of AMD code for ``architecture``; ``threads`` bounds those of
    the emulator (0: one for each core).

    Raises :class:`ValueError` naming the backends that there are, or the processors.
    """
    if name not in BACKENDS:
        raise ValueError(f"no backend {name!r}: choose from {', '.join(BACKENDS)}")
    backend = BACKENDS[name]()
    if name in _BOUNDED:
        backend = replace(backend, threads=threads)  # type: ignore[type-var]
    if architecture is None:
        return backend
    if not isinstance(backend, HipBackend):
        raise ValueError(f"the backend {name} is not one of AMD code")
    targets = AMD_ARCHITECTURES if backend.real_gpu else emulated_architectures()
    return replace(backend, architecture=known_architecture(architecture, targets))


def candidate_backend() -> HipBackend:
    """Where HIP programs run on this machine: an AMD GPU if there is one, else the CPU."""
    amd = AmdBackend()
    return amd if amd.available() else Rdna3Backend()
