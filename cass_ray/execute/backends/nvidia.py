"""Nvidia GPUs: CUDA programs, and HIP programs through HIP's headers for Nvidia."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

from cass_ray.execute.backends.base import (
    Assembly,
    Backend,
    BuiltProgram,
    Language,
    Program,
    RunMode,
    program_key,
    unit_on_disk,
)
from cass_ray.execute.backends.device_lease import leased_device
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.executables import cached_executable
from cass_ray.toolchain.hip.nvidia_platform import DEFINITIONS, FORCED_HEADER, hip_nvidia_include
from cass_ray.toolchain.locate import find_nvidia
from cass_ray.toolchain.nvidia.older_cccl import with_what_was_removed
from cass_ray.toolchain.nvidia.steps import SOURCE_TREE, NvccError
from cass_ray.toolchain.nvidia.toolchain import WORK_FOLDER, NvidiaToolchain
from cass_ray.toolchain.sandbox import executable
from cass_ray.toolchain.sandbox.executable import Exposure
from cass_ray.toolchain.sandbox.isolation import Mount, View, private_folder
from cass_ray.toolchain.sandbox.process import COMPILE_LIMITS, Limits, run
from cass_ray.toolchain.unit import Unit, classify, result_of

_DEVICE_NODES = ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia-modeset", "nvidia-caps")
_DRIVER_FOLDERS = (Path("/usr/local/nvidia"), Path("/run/nvidia"))
"""Where container runtimes mount the driver's libraries, when not in the system's folders."""
_BUILD_LIMITS = replace(COMPILE_LIMITS, cpu_seconds=180.0, wall_seconds=360.0)
_LIST = ["nvidia-smi", "--query-gpu=index,name,driver_version,compute_cap", "--format=csv,noheader"]


@dataclass(frozen=True)
class Gpu:
    """One device as nvidia-smi lists it; ``capability`` is such as ``9.0``."""

    index: int
    name: str
    driver: str
    capability: str

    @property
    def architecture(self) -> str:
        """``sm_90`` for 9.0."""
        return f"sm_{self.capability.replace('.', '')}"


def gpus() -> list[Gpu]:
    """The Nvidia GPUs of this machine; empty without a driver."""
    try:
        done = subprocess.run(_LIST, capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return []
    devices = []
    for line in done.stdout.splitlines() if done.returncode == 0 else []:
        index, name, driver, capability = (part.strip() for part in line.split(","))
        devices.append(Gpu(int(index), name, driver, capability))
    return devices


@dataclass(frozen=True, eq=False)
class NvidiaBackend(Backend):
    """Runs CUDA programs. ``architecture`` is the first GPU's unless given."""

    optimization: str = "-Os"
    limits: Limits = _BUILD_LIMITS
    given_architecture: str = ""

    name = "nvidia"
    language = Language.CUDA

    @cached_property
    def toolchain(self) -> NvidiaToolchain:
        """The compiler. Raises :class:`ToolMissing`."""
        return find_nvidia()

    @cached_property
    def gpus(self) -> list[Gpu]:
        return gpus()

    @property
    def architecture(self) -> str:
        return self.given_architecture or self.gpus[0].architecture

    def problem(self) -> str:
        """No GPU, no compiler, no sandbox."""
        if not self.gpus:
            return "no Nvidia GPU: nvidia-smi lists none (install the driver)"
        try:
            _ = self.toolchain
        except (ToolMissing, NvccError) as error:
            return str(error)
        return executable.problem()

    def identity(self) -> str:
        gpu = self.gpus[0]
        return f"{gpu.name}, driver {gpu.driver}, CUDA {self.toolchain.version}"

    def build(self, program: Program) -> BuiltProgram:
        """nvcc, with the shared CUDA runtime, which the launch recorder needs."""
        if isinstance(program, Assembly):
            raise TypeError(f"{self.name} builds from source")
        tools = (self.toolchain.fingerprint, self.optimization, self.architecture)
        key = program_key(program, *tools, *self.language_options())
        with cached_executable(self.name, key) as (place, target):
            if target is not None:
                with unit_on_disk(program) as unit:
                    compiled = partial(self._compile, output=target)
                    with_what_was_removed(compiled, unit, self.toolchain.cache, fetch=True)
        return BuiltProgram(place, self.name, key)

    def language_options(self) -> list[str]:
        """nvcc's options for the language, beside the toolchain's own."""
        return []

    def visible(self) -> tuple[Path, ...]:
        """Paths that a compilation needs beside the toolchain's."""
        return ()

    def _compile(self, unit: Unit, output: Path) -> None:
        toolchain = self.toolchain
        command = [str(toolchain.nvcc), *toolchain.flags(self.optimization, unit.standard)]
        command += [*self.language_options(), *unit.nvcc_arguments()]
        # nvcc 13 adds compute_90's PTX to -arch=sm_90a, which code that needs the variant has not.
        number = self.architecture.removeprefix("sm_")
        codes = f"[sm_{number},compute_{number}]"
        command += ["-gencode", f"arch=compute_{number},code={codes}", "-cudart", "shared"]
        command += [f"-L{directory}" for directory in toolchain.library_directories]
        with private_folder() as folder:
            view = View(
                read_only=(*toolchain.visible(), *self.visible(), *unit.outside_directories),
                mounts=(Mount(unit.root, SOURCE_TREE), Mount(folder, WORK_FOLDER, writable=True)),
            )
            program = folder / "program"
            command += [str(unit.main), "-o", str(view.inside(program))]
            completed = run(command, cwd=unit.root, view=view, limits=self.limits)
            if not completed.ok:
                raise classify(completed, unit, "nvcc")
            output.write_bytes(result_of("nvcc", program))

    def exposure(self, mode: RunMode) -> Exposure:
        """Device nodes, the driver and the CUDA runtime."""
        del mode
        nodes = [Path("/dev") / name for name in _DEVICE_NODES]
        nodes += [Path(f"/dev/nvidia{gpu.index}") for gpu in self.gpus]
        libraries = [*self.toolchain.library_directories, *_driver_libraries()]
        folders = [*libraries, *_DRIVER_FOLDERS, Path("/sys/devices"), Path("/sys/bus/pci")]
        shown = [path for path in folders if path.exists() and not path.is_relative_to("/usr/lib")]
        resolved = [path.resolve() for path in shown]
        return Exposure(
            read_only=tuple(dict.fromkeys([*shown, *resolved])),
            devices=tuple(path for path in nodes if path.exists()),
            environment={
                "LD_LIBRARY_PATH": ":".join(map(str, libraries)),
                "CUDA_CACHE_DISABLE": "1",
            },
            device_access=True,
        )

    @contextmanager
    def leased(self) -> Iterator[Mapping[str, str]]:
        """One program a GPU."""
        matching = [gpu.index for gpu in self.gpus if gpu.architecture == self.architecture]
        with leased_device("nvidia", matching) as index:
            yield {"CUDA_VISIBLE_DEVICES": str(index)}


@dataclass(frozen=True, eq=False)
class HipOnNvidiaBackend(NvidiaBackend):
    """Runs HIP programs on an Nvidia GPU: checks the translated source at full speed."""

    name = "hip-on-nvidia"
    language = Language.HIP

    @cached_property
    def include(self) -> Path:
        """HIP's headers. Raises :class:`ToolMissing`."""
        return hip_nvidia_include()

    def problem(self) -> str:
        """As for CUDA programs, or no headers."""
        try:
            return super().problem() or (str(self.include) and "")
        except ToolMissing as error:
            return str(error)

    def identity(self) -> str:
        """The version of HIP's headers too."""
        header = (self.include / "hip/hip_version.h").read_text()
        numbers = re.findall(r"#define HIP_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header)
        return f"{super().identity()}, HIP headers {'.'.join(numbers)}"

    def language_options(self) -> list[str]:
        """The file is CUDA to nvcc; HIP's headers map its names."""
        forced = ["-include", str(FORCED_HEADER)]
        return ["-x", "cu", *DEFINITIONS, "-isystem", str(self.include), *forced]

    def visible(self) -> tuple[Path, ...]:
        return (self.include, FORCED_HEADER.parent)


def _driver_libraries() -> list[Path]:
    """Folders of ``libcuda.so.1`` outside the dynamic linker's cache."""
    places = [folder / name for folder in _DRIVER_FOLDERS for name in ("lib64", "lib", "driver")]
    return [place for place in places if (place / "libcuda.so.1").exists()]
