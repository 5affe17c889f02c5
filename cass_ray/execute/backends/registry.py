"""The backends by name."""

from __future__ import annotations

from collections.abc import Callable

from cass_ray.execute.backends.amd import AmdBackend
from cass_ray.execute.backends.base import Backend
from cass_ray.execute.backends.nvidia import HipOnNvidiaBackend, NvidiaBackend
from cass_ray.execute.backends.rdna3 import HipBackend, Rdna3Backend

BACKENDS: dict[str, Callable[[], Backend]] = {
    "nvidia": NvidiaBackend,
    "amd": AmdBackend,
    "rdna3": Rdna3Backend,
    "hip-on-nvidia": HipOnNvidiaBackend,
}


def make_backend(name: str) -> Backend:
    """The backend called ``name``. Raises :class:`ValueError` naming those there are."""
    if name not in BACKENDS:
        raise ValueError(f"no backend {name!r}: choose from {', '.join(BACKENDS)}")
    return BACKENDS[name]()


def candidate_backend() -> HipBackend:
    """Where HIP programs run on this machine: an AMD GPU if there is one, else the CPU."""
    amd = AmdBackend()
    return amd if amd.available() else Rdna3Backend()
