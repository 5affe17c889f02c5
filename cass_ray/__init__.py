"""cass-ray ports GPU programs from Nvidia to AMD and proves that the port is right.

The functions named here are the public interface (``import cass_ray as cass``); each is imported
when it is first used, so that ``import cass_ray`` costs next to nothing:

- :func:`translate`: CUDA text or a CUDA file to HIP
- :func:`compile`: a CUDA, HIP or OpenCL file to host and device assembly
- :func:`lift`: the SASS of a cubin or an executable to AMD assembly
- :func:`run`: compile a program and run it in the sandbox
- :func:`verify`: run a port and its original on the same inputs and compare
- :func:`build`: sources of programs to a data set of aligned pairs

Their results are typed, and show themselves in a terminal (rich) and in a notebook (HTML).

The library knows nothing of Ray jobs, Serve or actors and runs without a Ray cluster; ``build``
alone hands its work to one.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from cass_ray.version import __version__

if TYPE_CHECKING:
    from inspect import Signature

    from cass_ray.public.building import build
    from cass_ray.public.compiling import compile
    from cass_ray.public.lifting import lift
    from cass_ray.public.running import run
    from cass_ray.public.translating import translate
    from cass_ray.public.verifying import verify

__all__ = ["__version__", "build", "compile", "lift", "run", "translate", "verify"]

_HOMES = {
    "build": "building",
    "compile": "compiling",
    "lift": "lifting",
    "run": "running",
    "translate": "translating",
    "verify": "verifying",
}
"""Public function -> its module in ``cass_ray.public``."""

_ALSO_PACKAGES = ("lift", "translate")


def _function(name: str) -> Any:
    return getattr(import_module(f"cass_ray.public.{_HOMES[name]}"), name)


class _CallablePackage(ModuleType):
    """A package that has the name of a public function: called, it is that function."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return _function(self.__name__.rpartition(".")[2])(*arguments, **options)

    @property
    def __signature__(self) -> Signature:
        """What :func:`inspect.signature`, and with it a notebook's help, finds."""
        import inspect

        return inspect.signature(_function(self.__name__.rpartition(".")[2]))


class _Library(ModuleType):
    """This package. Importing a package in it sets an attribute here, over a function of the same
    name: such a package is made callable in that moment (docs/decisions/0011)."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _ALSO_PACKAGES and type(value) is ModuleType:
            value.__class__ = _CallablePackage
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Library


def __getattr__(name: str) -> Any:
    """Import a public function when it is first asked for (PEP 562)."""
    if name in _ALSO_PACKAGES:
        return import_module(f"cass_ray.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    function = _function(name)
    globals()[name] = function
    return function


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
