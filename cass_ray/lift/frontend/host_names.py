"""Names of kernels and device variables as a HIP host knows them.

The host finds kernels and variables by mangled name, and some names are not mangled alike: vector
types, anonymous namespaces, ``static`` variables. Clang's own device assembly of the translated
program has the names that the host asks for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cass_ray.assembly import rdna3
from cass_ray.assembly.align import align_names
from cass_ray.lift.frontend import cubin as reading
from cass_ray.lift.llvm.globals import MANAGED_SUFFIX
from cass_ray.toolchain.nvidia.elf import Cubin


def names_for_host(cubin: Cubin, device_assembly: str) -> dict[str, str]:
    """Symbol of ``cubin`` -> symbol of clang's ``device_assembly`` for the same kernel or variable.

    Symbols that are named alike, or that one side does not have, are not in it. A managed variable
    ``v`` gets the name of its first value, ``v.managed``: ``v`` itself is its address in HIP.
    """
    module = rdna3.parse(device_assembly)
    kernels = _matched(reading.kernel_names(cubin), module.kernels)
    variable_names = reading.variable_names(cubin)
    plain = [name for name in module.variables if not name.endswith(MANAGED_SUFFIX)]
    variables = _matched(variable_names, plain)
    present = set(module.variables)
    for name in variable_names:
        first_value = variables.get(name, name) + MANAGED_SUFFIX
        if first_value in present:
            variables[name] = first_value
    return kernels | variables


def kernels_lacking(cubin: Cubin, device_assembly: str, names: Mapping[str, str]) -> list[str]:
    """Kernels of clang's ``device_assembly`` that ``cubin`` does not have, under no name.

    ``names`` are those of :func:`names_for_host`. A host that launches such kernels (hipCUB's where
    the machine code has CUB's) cannot run with what the cubin holds.
    """
    kernels = {names.get(name, name) for name in reading.kernel_names(cubin)}
    return sorted(set(rdna3.parse(device_assembly).kernels) - kernels)


def _matched(nvidia: Iterable[str], amd: Iterable[str]) -> dict[str, str]:
    first, second = set(nvidia), set(amd)
    alignment = align_names(sorted(first - second), sorted(second - first))
    return {pair.nvidia: pair.amd for pair in alignment.pairs}
