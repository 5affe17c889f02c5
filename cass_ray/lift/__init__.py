"""Lifting: SASS in a cubin, through per-thread LLVM IR, to RDNA3 assembly
(docs/lift/what_is_lifted.md).

The names here are imported when they are first used: ``cass_ray.lift.errors`` is wanted where
nothing is lifted, and the lifter takes half a second to import.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cass_ray.lift.errors import CompilerFailure, LifterBug, LiftError, UnknownForm, Unsupported
    from cass_ray.lift.frontend.host_names import kernels_lacking, names_for_host
    from cass_ray.lift.lifting import LiftedModule, lift_cubin, lift_listing, lift_text
    from cass_ray.lift.own_files import fingerprint

__all__ = [
    "CompilerFailure",
    "LiftError",
    "LiftedModule",
    "LifterBug",
    "UnknownForm",
    "Unsupported",
    "fingerprint",
    "kernels_lacking",
    "lift_cubin",
    "lift_listing",
    "lift_text",
    "names_for_host",
]

_HOMES = {
    **dict.fromkeys(
        ("CompilerFailure", "LiftError", "LifterBug", "UnknownForm", "Unsupported"), "errors"
    ),
    "fingerprint": "own_files",
    **dict.fromkeys(("kernels_lacking", "names_for_host"), "frontend.host_names"),
}
"""A name -> its module, where that is not ``lifting``."""


def __getattr__(name: str) -> Any:
    """Import a name when it is first asked for (PEP 562)."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES.get(name, 'lifting')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
