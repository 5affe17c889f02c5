"""Device code that a program links while it runs (``cuLinkComplete``): by ptxas and nvlink.

``driver/linking.cpp`` sends a request in place of an image: a word that says what is wanted, and
for each input its kind (CUjitInputType), the lengths of its name and of its content, and both.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

from cass_ray.lift.errors import LiftError
from cass_ray.lift.frontend.cubin import architecture
from cass_ray.port.errors import PortError
from cass_ray.port.fatbin import ptx_target, relocatable
from cass_ray.toolchain.nvidia.elf import Cubin, CubinError
from cass_ray.toolchain.nvidia.toolchain import NvidiaToolchain
from cass_ray.toolchain.sandbox.isolation import View, private_folder
from cass_ray.toolchain.sandbox.outputs import read_written
from cass_ray.toolchain.sandbox.process import COMPILE_LIMITS, run

LINK, CHECK = b"CASSLINK", b"CASSPTXC"
_HEADER = struct.Struct("<IIQ")
_CUBIN, _PTX = 0, 1


class NoLinker(PortError):
    """There is no nvlink beside nvcc."""


@dataclass(frozen=True)
class Input:
    """One piece of device code."""

    kind: int
    name: str
    data: bytes


def inputs_of(request: bytes) -> list[Input]:
    """What a request brings. Raises :class:`PortError` for one that is not whole."""
    result: list[Input] = []
    at = len(LINK)
    while at < len(request):
        if at + _HEADER.size > len(request):
            raise PortError("a damaged request to link")
        kind, name_size, size = _HEADER.unpack_from(request, at)
        at += _HEADER.size
        end = at + name_size + size
        if end > len(request) or kind not in (_CUBIN, _PTX):
            raise PortError("a damaged request to link")
        name = request[at : at + name_size].decode("utf-8", "replace")
        result.append(
            Input(kind, name or f"input {len(result) + 1}", request[at + name_size : end])
        )
        at = end
    return result


def check_ptx(request: bytes, toolchain: NvidiaToolchain) -> None:
    """Raises :class:`PortError` with ptxas' message for PTX that it refuses."""
    for each in inputs_of(request):
        relocatable(each.data, toolchain, each.name)


def linked(request: bytes, toolchain: NvidiaToolchain) -> bytes:
    """The cubin of all that a request brings, for the newest architecture among it.

    Raises :class:`PortError` with the message of the tool that refused it.
    """
    inputs = inputs_of(request)
    nvlink = toolchain.nvcc.with_name("nvlink")
    if not nvlink.exists():
        raise NoLinker(
            f"device code is linked by nvlink, which is not beside {toolchain.nvcc}: link it with "
            "`nvlink` elsewhere and load the cubin"
        )
    if not inputs:
        raise PortError("nothing to link")
    target = f"sm_{max(_architecture(each, toolchain) for each in inputs)}"
    with private_folder() as folder:
        names = [f"{number}.cubin" for number in range(len(inputs))]
        for name, each in zip(names, inputs, strict=True):
            is_ptx = each.kind == _PTX
            data = relocatable(each.data, toolchain, each.name, target) if is_ptx else each.data
            (folder / name).write_bytes(data)
        view = View(read_only=toolchain.visible(), writable=(folder,))
        command: list[str | Path] = [nvlink, f"-arch={target}", *names, "-o", "linked.cubin"]
        done = run(command, cwd=folder, limits=COMPILE_LIMITS, view=view)
        cubin = (
            read_written(folder / "linked.cubin", COMPILE_LIMITS.file_bytes) if done.ok else None
        )
        if cubin is None:
            said = done.stderr_text.strip() or done.stdout_text.strip() or done.outcome.value
            raise PortError(f"nvlink: {said}")
        return cubin


def _architecture(given: Input, toolchain: NvidiaToolchain) -> int:
    if given.kind == _PTX:
        return ptx_target(given.data, toolchain, given.name)[0]
    try:
        return architecture(Cubin.parse(given.data))
    except (CubinError, LiftError) as error:
        raise PortError(f"{given.name} is no cubin: {error}") from error
