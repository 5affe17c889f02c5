"""AMD GPUs through ROCm."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from cass_ray.execute.backends.base import RunMode
from cass_ray.execute.backends.device_lease import leased_device
from cass_ray.execute.backends.rdna3 import HipBackend
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.sandbox import executable
from cass_ray.toolchain.sandbox.executable import Exposure

_TOPOLOGY = Path("/sys/class/kfd/kfd/topology/nodes")
_COMPUTE_DEVICE = Path("/dev/kfd")
_RENDER_NODES = Path("/dev/dri")
_TARGET_VERSION = re.compile(r"^gfx_target_version (\d+)$", re.MULTILINE)


@dataclass(frozen=True, eq=False)
class AmdBackend(HipBackend):
    """Runs on an AMD GPU of the architecture that programs are compiled for."""

    name = "amd"

    @property
    def presents(self) -> str:  # type: ignore[override]
        return self.architecture

    @cached_property
    def runtime(self) -> Path:
        """ROCm's ``libamdhip64.so``."""
        library = self.toolchain.runtime_library
        if library is None:
            raise ToolMissing("ROCm's HIP runtime", "Install ROCm (hip-runtime-amd).")
        return library

    def problem(self) -> str:
        """No GPU of the architecture, no ROCm, no sandbox."""
        if not _COMPUTE_DEVICE.exists():
            return "no AMD GPU: /dev/kfd is missing (install the amdgpu driver)"
        if not self.devices():
            return f"no AMD GPU of architecture {self.architecture} among {_TOPOLOGY}"
        try:
            _ = self.runtime
        except ToolMissing as error:
            return str(error)
        return executable.problem()

    def devices(self) -> list[int]:
        """Indices, as ROCR_VISIBLE_DEVICES counts, of the GPUs of the architecture."""
        versions = []
        for node in sorted(_TOPOLOGY.glob("*"), key=lambda path: int(path.name)):
            match = _TARGET_VERSION.search((node / "properties").read_text())
            if match and match[1] != "0":  # 0 is a CPU
                versions.append(_architecture(int(match[1])))
        return [index for index, name in enumerate(versions) if name == self.architecture]

    def identity(self) -> str:
        return f"AMD GPU {self.architecture}, {self.toolchain.compilers}"

    def exposure(self, mode: RunMode) -> Exposure:
        """The GPU's device nodes, ROCm's libraries and what they read in /sys."""
        del mode
        return Exposure(
            read_only=(self.runtime.resolve().parent, Path("/sys")),
            devices=(_COMPUTE_DEVICE, _RENDER_NODES),
            environment={"LD_LIBRARY_PATH": str(self.runtime.parent)},
            device_access=True,
        )

    @contextmanager
    def leased(self) -> Iterator[Mapping[str, str]]:
        """One program a GPU."""
        with leased_device("amd", self.devices()) as index:
            yield {"ROCR_VISIBLE_DEVICES": str(index)}


def _architecture(target_version: int) -> str:
    """``gfx_target_version`` 110000 is gfx1100, 90010 is gfx90a."""
    major, minor, stepping = (
        target_version // 10000,
        target_version // 100 % 100,
        target_version % 100,
    )
    return f"gfx{major}{minor:x}{stepping:x}"
