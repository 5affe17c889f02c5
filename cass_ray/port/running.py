"""Run an unmodified Nvidia executable with lifted device code, in the sandbox."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cass_ray.emulator import execution
from cass_ray.emulator.execution import RunOptions, environment, observed
from cass_ray.port.executable import Executable
from cass_ray.port.lifting import ContainerLifter, LiftedContainer, write_fat_binaries
from cass_ray.port.shim import shim_library
from cass_ray.toolchain.sandbox.executable import Exposure, working_folder
from cass_ray.toolchain.sandbox.isolation import Mount, View, private_folder
from cass_ray.toolchain.sandbox.process import Completed, run

_PROGRAM_FOLDER = Path("/cass/program")
_LIFTED_FOLDER = Path("/cass/lifted")


@dataclass(frozen=True)
class PortedExecutable:
    """An executable, and its device code for AMD."""

    executable: Executable
    lifted: tuple[LiftedContainer, ...]

    @property
    def kernels(self) -> int:
        return sum(len(made.kernels) for made in self.lifted)

    @property
    def failures(self) -> dict[str, str]:
        """Why kernels could not be lifted, by name."""
        return {name: text for made in self.lifted for name, text in made.failures.items()}


def port(executable: Executable, lifter: ContainerLifter) -> PortedExecutable:
    """Lift all device code of ``executable``. Raises :class:`~.errors.PortError`."""
    return PortedExecutable(executable, tuple(lifter.lift(item) for item in executable.containers))


@contextmanager
def exposed(ported: PortedExecutable, hip_runtime: Path) -> Iterator[Exposure]:
    """What the program must see for one run: both runtimes and its lifted device code."""
    library = shim_library(ported.executable.runtime, hip_runtime)
    capability = max((made.capability for made in ported.lifted), default=0)
    with private_folder() as lifted:
        write_fat_binaries(ported.lifted, lifted)
        yield Exposure(
            read_only=(library.parent, hip_runtime.resolve().parent),
            mounts=(Mount(lifted, _LIFTED_FOLDER),),
            environment={
                "LD_LIBRARY_PATH": str(library.parent),
                "CASS_PORT_DIRECTORY": str(_LIFTED_FOLDER),
                "CASS_PORT_CAPABILITY": str(capability),
            },
        )


def execute(
    ported: PortedExecutable,
    arguments: Sequence[str],
    hip_runtime: Path,
    options: RunOptions | None = None,
) -> Completed:
    """Run the program; never raises for what it does."""
    options = options or RunOptions()
    program = ported.executable
    with (
        working_folder(execution.FOLDER_BYTES, options.inputs) as place,
        exposed(ported, hip_runtime) as seen,
        observed(hip_runtime, options) as device,
    ):
        inside = _PROGRAM_FOLDER / program.path.name
        view = View(
            read_only=seen.read_only,
            mounts=(place.mount, *seen.mounts, Mount(program.path.resolve(), inside)),
            process_filesystem=True,
            arguments=place.arguments,
        )
        return run(
            [inside, *arguments],
            cwd=place.start,
            limits=options.limits,
            view=view,
            env={**environment(options), **seen.environment},
            stdin=options.stdin,
            companion=device.companion,
        )
