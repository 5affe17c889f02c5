"""Run an unmodified Nvidia executable with lifted device code, in the sandbox."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from cass_ray.emulator.execution import RunOptions, environment, observed
from cass_ray.port.executable import Executable
from cass_ray.port.lifting import ContainerLifter, LiftedContainer, write_fat_binaries
from cass_ray.port.service import SOCKET_NAME, lifting_service
from cass_ray.port.shim import driver_library, shim_library
from cass_ray.toolchain.nvidia.toolchain import NvidiaToolchain
from cass_ray.toolchain.sandbox.executable import Exposure, complete
from cass_ray.toolchain.sandbox.isolation import Mount, private_folder
from cass_ray.toolchain.sandbox.process import Completed
from cass_ray.toolchain.search_paths import SearchPaths

_LIFTED_FOLDER = Path("/cass/lifted")
_SERVICE_FOLDER = Path("/cass/lifting")
_NVRTC_FOLDER = Path("/cass/nvrtc")
_NVRTC = "libnvrtc.so."
_LIBRARIES_SAY = b"cass CUDA runtime: "
_CAPABILITY = "CASS_PORT_CAPABILITY"
_VARIED_MINOR = 8
"""What lines of our libraries of CUDA begin with (``common/report.cpp``)."""


@dataclass(frozen=True)
class PortedExecutable:
    """An executable, and its device code for AMD."""

    executable: Executable
    lifted: tuple[LiftedContainer, ...]
    lifter: ContainerLifter | None = None
    """Lifts what the program loads while it runs; None: then it cannot load any."""

    @property
    def kernels(self) -> int:
        return sum(len(image.kernels) for image in self.lifted)

    @property
    def failures(self) -> dict[str, str]:
        """Why kernels could not be lifted, by name."""
        return {name: text for image in self.lifted for name, text in image.failures.items()}


def port(executable: Executable, lifter: ContainerLifter) -> PortedExecutable:
    """Lift all device code of ``executable``. Raises :class:`~.errors.PortError`."""
    lifted = tuple(lifter.lift(item) for item in executable.containers)
    return PortedExecutable(executable, lifted, lifter if executable.loads_code else None)


def not_provided(executable: Executable, nvidia: NvidiaToolchain) -> list[str]:
    """Nvidia's libraries that the program needs and does not find when it runs."""
    provided = {path.name for path in nvrtc_files(executable, nvidia)}
    return [name for name in executable.libraries if name not in provided]


def said_by_libraries(stderr: bytes) -> str:
    """What our libraries of CUDA wrote to standard error: what they lack, or a kernel left out."""
    said = [line for line in stderr.splitlines() if line.startswith(_LIBRARIES_SAY)]
    lines = [line.removeprefix(_LIBRARIES_SAY).decode("utf-8", "replace") for line in said]
    return "; ".join(dict.fromkeys(lines))


@contextmanager
def exposed(ported: PortedExecutable, hip_runtime: Path) -> Iterator[Exposure]:
    """What the program must see for one run: both runtimes and its lifted device code."""
    capability = max((image.capability for image in ported.lifted), default=0)
    folders = list(_library_folders(ported, hip_runtime))
    mounts: list[Mount] = []
    if ported.lifter is not None:
        # These files alone: beside them lie libraries that would want Nvidia's own driver.
        files = nvrtc_files(ported.executable, ported.lifter.nvidia)
        mounts += [Mount(file.resolve(), _NVRTC_FOLDER / file.name) for file in files]
    variables = {
        "LD_LIBRARY_PATH": ":".join(map(str, (*folders, *([_NVRTC_FOLDER] if mounts else [])))),
        "CASS_PORT_DIRECTORY": str(_LIFTED_FOLDER),
        _CAPABILITY: str(capability),
    }
    with private_folder() as lifted, ExitStack() as until_the_end:
        write_fat_binaries(ported.lifted, lifted)
        mounts.append(Mount(lifted, _LIFTED_FOLDER))
        if ported.lifter is not None:
            service = until_the_end.enter_context(lifting_service(ported.lifter))
            mounts.append(Mount(service, _SERVICE_FOLDER))
            variables["CASS_PORT_LIFTER"] = str(_SERVICE_FOLDER / SOCKET_NAME)
        yield Exposure(
            read_only=(*folders, hip_runtime.resolve().parent),
            mounts=tuple(mounts),
            environment=variables,
        )


def varied_capability(environment: Mapping[str, str]) -> dict[str, str]:
    """The variable that makes the device's compute capability another one of the same major."""
    capability = int(environment.get(_CAPABILITY, 0)) or 90
    return {_CAPABILITY: str(capability // 10 * 10 + _VARIED_MINOR)}


def _library_folders(ported: PortedExecutable, hip_runtime: Path) -> Iterator[Path]:
    """Where the program finds our libraries of CUDA."""
    if ported.executable.runtime is not None:
        yield shim_library(ported.executable.runtime, hip_runtime).parent
    if ported.lifter is not None:
        yield driver_library(hip_runtime).parent


def nvrtc_files(executable: Executable, nvidia: NvidiaToolchain) -> list[Path]:
    """Nvidia's compiler as a library, where ``executable`` needs it and a toolkit here has it.

    It needs no GPU; what it makes is lifted when it is loaded.
    """
    wanted = [name for name in executable.libraries if name.startswith(_NVRTC)]
    if not (wanted and executable.loads_code):
        return []
    homes = [home.path / name for home in SearchPaths().cuda_homes() for name in ("lib64", "lib")]
    for folder in (*nvidia.library_directories, *homes):
        if all((folder / name).exists() for name in wanted):
            return sorted(folder.glob("libnvrtc*.so.*"))
    return []


def execute(
    ported: PortedExecutable,
    arguments: Sequence[str],
    hip_runtime: Path,
    options: RunOptions | None = None,
) -> Completed:
    """Run the program; never raises for what it does."""
    options = options or RunOptions()
    with exposed(ported, hip_runtime) as seen, observed(hip_runtime, options) as device:
        variables = {**environment(options.devices, options.compiler), **seen.environment}
        completed, _ = complete(
            ported.executable.path,
            arguments,
            bounds=options.bounds,
            exposure=replace(seen, environment=variables),
            stdin=options.stdin,
            inputs=options.inputs,
            companion=device.companion,
        )
        return completed
