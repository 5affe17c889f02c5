"""cass-ray ports GPU programs from Nvidia to AMD and proves that the port is right.

The functions named here are the public interface; each is imported when it is first used, so that
``import cass_ray`` costs next to nothing:

- :func:`translate_cuda`: CUDA text or a CUDA file to HIP
- :func:`compile_file`: a CUDA, HIP or OpenCL file to host and device assembly
- :func:`lift_file`: the SASS of a cubin or an executable to RDNA3 assembly
- :func:`run_file`: compile a program and run it in the sandbox
- :func:`verify_port`: run a port and its original on the same inputs and compare
- :func:`build_dataset`: sources of programs to a data set of aligned pairs

The library knows nothing of Ray jobs, Serve or actors and runs without a Ray cluster;
``build_dataset`` alone hands its work to one.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cass_ray.version import __version__

if TYPE_CHECKING:
    from cass_ray.public.building import build_dataset
    from cass_ray.public.compiling import compile_file
    from cass_ray.public.lifting import lift_file
    from cass_ray.public.running import run_file
    from cass_ray.public.translating import translate_cuda
    from cass_ray.public.verifying import verify_port

__all__ = [
    "__version__",
    "build_dataset",
    "compile_file",
    "lift_file",
    "run_file",
    "translate_cuda",
    "verify_port",
]

_HOMES = {
    "build_dataset": "building",
    "compile_file": "compiling",
    "lift_file": "lifting",
    "run_file": "running",
    "translate_cuda": "translating",
    "verify_port": "verifying",
}
"""Public function -> its module in ``cass_ray.public``."""


def __getattr__(name: str) -> Any:
    """Import a public function when it is first asked for (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    function = getattr(import_module(f"cass_ray.public.{_HOMES[name]}"), name)
    globals()[name] = function
    return function


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
