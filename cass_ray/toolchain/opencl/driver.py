"""PTX by the vendor's own OpenCL compiler (``clBuildProgram``), where its driver is installed.

The driver's compiler runs in the sandbox, in a Python process of its own. It compiles for the GPU
that is there, so its PTX serves this architecture and newer ones only.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from cass_ray.dataset.row import Reason
from cass_ray.toolchain.nvidia.steps import SOURCE_TREE
from cass_ray.toolchain.sandbox.isolation import Mount, View
from cass_ray.toolchain.sandbox.process import Limits, run
from cass_ray.toolchain.unit import CompileFailure, Unit, classify

DRIVER_VARIABLE = "CASS_OPENCL_DRIVER"
"""Environment variable; ``1`` takes the driver's compiler instead of clang and libclc."""

VENDOR_FILES = Path("/etc/OpenCL")
"""Where the drivers of a machine are registered (Khronos, cl_khr_icd)."""

_SCRIPT = Path(__file__).parent / "child" / "build_program.py"
_NO_DEVICE_STATUS = 3
_SYSTEM_FILES = (Path("/sys/devices"), Path("/sys/bus/pci"))
_NVIDIA_NODES = ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia-modeset")


@dataclass(frozen=True)
class OpenclDriver:
    """The first device of ``vendor``."""

    vendor: str = "NVIDIA"

    def ptx(self, unit: Unit, standard: str, limits: Limits) -> str:
        """PTX of ``unit``. Raises :class:`~cass_ray.toolchain.unit.CompileFailure`."""
        python = Path(sys.executable).resolve()
        options = " ".join([standard, *unit.preprocessor_arguments()])
        command = [str(python), "-I", str(_SCRIPT), str(unit.main), options, self.vendor]
        # Drivers reserve address space far beyond the memory that they use.
        limits = replace(limits, address_space_bytes=None)
        done = run(command, cwd=unit.root, limits=limits, view=self._view(unit, python))
        if done.returncode == _NO_DEVICE_STATUS:
            raise CompileFailure(Reason.TOOL_MISSING, done.stderr_text.strip(), "clBuildProgram")
        if not done.ok:
            raise classify(done, unit, "clBuildProgram")
        text = done.stdout.rstrip(b"\0").decode("utf-8", "replace")
        if ".target" not in text:
            message = f"the driver of {self.vendor} gives no PTX ({text[:16]!r}…)"
            raise CompileFailure(Reason.NO_DEVICE_CODE, message, "clBuildProgram")
        return text

    @staticmethod
    def _view(unit: Unit, python: Path) -> View:
        nodes = [Path("/dev") / name for name in _NVIDIA_NODES]
        nodes += sorted(Path("/dev").glob("nvidia[0-9]*"))
        paths = (python.parent.parent, _SCRIPT.parent, VENDOR_FILES, *_SYSTEM_FILES)
        return View(
            read_only=tuple(path for path in paths if path.exists()),
            mounts=(Mount(unit.root, SOURCE_TREE),),
            devices=tuple(path for path in nodes if path.exists()),
            process_filesystem=True,
            device_access=True,
        )


def wanted_driver() -> OpenclDriver | None:
    """The driver, if the environment asks for it."""
    return OpenclDriver() if os.environ.get(DRIVER_VARIABLE) == "1" else None
