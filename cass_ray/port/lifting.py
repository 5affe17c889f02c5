"""CUDA fat binaries to HIP fat binaries: pick a cubin, lift it, bundle it; cached by content."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import cass_ray.lift as lift
from cass_ray.cache import ContentCache, default_directory, digest
from cass_ray.lift.cluster_kernel import ClusterKernel
from cass_ray.lift.errors import LiftError
from cass_ray.lift.frontend.cubin import PREFERRED, SUPPORTED, architecture
from cass_ray.port.errors import PortError
from cass_ray.port.fatbin import MAGIC, FatBinaryContainer, assembled, assembled_ptx, cubins
from cass_ray.toolchain.amd.bundle import bundle
from cass_ray.toolchain.amd.toolchain import DEFAULT_ARCHITECTURE, AmdToolchain
from cass_ray.toolchain.elf import MAGIC as ELF_MAGIC
from cass_ray.toolchain.nvidia.elf import Cubin, CubinError
from cass_ray.toolchain.nvidia.toolchain import NvidiaToolchain


@dataclass(frozen=True)
class LiftedContainer:
    """A container's device code on AMD.

    ``fat_binary`` is empty where the container holds no kernel that could be lifted. ``failures``
    tells by kernel why it could not.
    """

    key: str
    capability: int
    fat_binary: bytes
    kernels: tuple[str, ...]
    failures: dict[str, str]
    native_matrices: tuple[str, ...] = ()
    """Kernels that multiply floating-point matrices by AMD's instructions."""
    clusters: tuple[ClusterKernel, ...] = ()
    """How kernels are launched whose workgroups are clusters."""


_FORM = "managed variables as HIP's; native matrices; clusters"
"""Of what is kept: part of its key."""


class ContainerLifter:
    """Lifts containers for ``architecture``; remembers what it has lifted on disk."""

    def __init__(
        self,
        nvidia: NvidiaToolchain,
        amd: AmdToolchain,
        architecture: str = DEFAULT_ARCHITECTURE,
        cache: Path | None = None,
        *,
        native_matrices: bool = False,
    ) -> None:
        """``native_matrices``: floating-point ones, too, are multiplied by AMD's instructions."""
        self.nvidia = nvidia
        self.amd = amd
        self.architecture = architecture
        self.cache = ContentCache((cache or default_directory()) / "port")
        self.native_matrices = native_matrices

    def lift(self, container: FatBinaryContainer) -> LiftedContainer:
        """Lift ``container``. Raises :class:`PortError` if it holds nothing that can be read."""
        key = digest([container.data, *self._depends_on()])
        if (kept := self.cache.get(key)) is not None:
            return _unpacked(container.key, kept)
        result = self._lift(container)
        self.cache.put(key, _packed(result))
        return result

    def lift_image(self, image: bytes) -> LiftedContainer:
        """Lift what a program loads by itself: a cubin, a fat binary, or PTX.

        Raises :class:`PortError` for anything else, with the message of the tool that refused it.
        """
        if image[:4] == MAGIC.to_bytes(4, "little"):
            return self.lift(FatBinaryContainer(image))
        key = digest(["image", image, *self._depends_on()])
        if (kept := self.cache.get(key)) is not None:
            return _unpacked("", kept)
        number, cubin = self._cubin_of(image)
        result = self._lift_cubins("", number, [cubin])
        self.cache.put(key, _packed(result))
        return result

    def _depends_on(self) -> tuple[str, ...]:
        """What the same device code is lifted differently by."""
        tools = (self.nvidia.fingerprint, self.amd.fingerprint, lift.fingerprint())
        return (*tools, self.architecture, _FORM, str(self.native_matrices))

    def _cubin_of(self, image: bytes) -> tuple[int, bytes]:
        if not image.startswith(ELF_MAGIC):
            return assembled_ptx(image, self.nvidia)
        try:
            return architecture(Cubin.parse(image)), image
        except (CubinError, LiftError) as error:
            raise PortError(f"a module that is no cubin: {error}") from error

    def _lift(self, container: FatBinaryContainer) -> LiftedContainer:
        if container.is_empty:
            return LiftedContainer(container.key, 0, b"", (), {})
        by_architecture = cubins(container, self.nvidia)
        usable = [number for number in PREFERRED if number in by_architecture]
        if not usable:
            by_architecture.update(assembled(container, self.nvidia))
            usable = [number for number in PREFERRED if number in by_architecture]
        if not usable:
            architectures = (
                ", ".join(f"sm_{number}" for number in sorted(by_architecture)) or "none"
            )
            wanted = ", ".join(f"sm_{number}" for number in SUPPORTED)
            raise PortError(
                f"no machine code that can be lifted, and no PTX that ptxas takes: the program has "
                f"{architectures}, needed is one of "
                f"{wanted} (nvcc -gencode arch=compute_80,code=sm_80)"
            )
        attempts = [self._lift_cubins(container.key, n, by_architecture[n]) for n in usable[:1]]
        for number in usable[1:]:
            if not attempts[-1].failures:
                break
            attempts.append(self._lift_cubins(container.key, number, by_architecture[number]))
        return min(attempts, key=lambda made: len(made.failures))

    def _lift_cubins(self, key: str, number: int, cubins: list[bytes]) -> LiftedContainer:
        if len(cubins) > 1:
            raise PortError(f"a fat binary with {len(cubins)} cubins for sm_{number}")
        try:
            result = lift.lift_cubin(
                cubins[0],
                self.architecture,
                amd=self.amd,
                nvidia=self.nvidia,
                partial=True,
                native_matrices=self.native_matrices,
                clusters=True,
            )
        except LiftError as error:
            return LiftedContainer(key, number, b"", (), {"*": str(error)})
        failures = {name: str(error) for name, error in result.failures.items()}
        fat_binary = bundle({self.architecture: result.code_object})
        return LiftedContainer(
            key,
            number,
            fat_binary,
            result.kernels,
            failures,
            result.native_matrices,
            result.clusters,
        )


def _packed(lifted: LiftedContainer) -> bytes:
    header = {
        "capability": lifted.capability,
        "kernels": lifted.kernels,
        "failures": lifted.failures,
        "native_matrices": lifted.native_matrices,
        "clusters": [asdict(each) for each in lifted.clusters],
    }
    return json.dumps(header).encode() + b"\n" + lifted.fat_binary


def _unpacked(key: str, kept: bytes) -> LiftedContainer:
    header, _, fat_binary = kept.partition(b"\n")
    fields = json.loads(header)
    return LiftedContainer(
        key,
        fields["capability"],
        fat_binary,
        tuple(fields["kernels"]),
        fields["failures"],
        tuple(fields["native_matrices"]),
        tuple(_cluster_kernel(each) for each in fields["clusters"]),
    )


def _cluster_kernel(fields: dict[str, Any]) -> ClusterKernel:
    shape = fields.pop("shape")
    return ClusterKernel(**fields, shape=None if shape is None else tuple(shape))


def cluster_lines(clusters: Iterable[ClusterKernel]) -> str:
    """What the program's libraries have to know of kernels of clusters: a line for each.

    ``common/clusters.cpp`` reads them.
    """
    lines = []
    for each in clusters:
        numbers = each.parameters, each.words_offset, each.shared_bytes, *(each.shape or (0, 0, 0))
        words = each.name, each.symbol or "-", *map(str, numbers), *each.failure.split()
        lines.append(" ".join(words) + "\n")
    return "".join(lines)


def write_fat_binaries(lifted: Iterable[LiftedContainer], folder: Path) -> None:
    """Write fat binaries where ``libcudart.so`` looks for them, and what they were lifted from."""
    for image in lifted:
        lines = [f"{name} {' '.join(why.split())}\n" for name, why in image.failures.items()]
        (folder / f"{image.key}.left_out").write_text("".join(lines))
        if image.fat_binary:
            (folder / f"{image.key}.hipfb").write_bytes(image.fat_binary)
            (folder / f"{image.key}.capability").write_text(f"{image.capability}\n")
            (folder / f"{image.key}.clusters").write_text(cluster_lines(image.clusters))
