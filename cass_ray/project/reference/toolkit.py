"""A CUDA toolkit for builds of strangers' projects, whose programs can be lifted.

Its ``nvcc`` compiles for one architecture whatever it is told, and its linker takes the shared CUDA
runtime where the static one is asked for. Everything else is the installed toolkit's.
"""

from __future__ import annotations

import re
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

from cass_ray.toolchain.nvidia.toolchain import NvidiaToolchain

_NVCC = (Path(__file__).parent / "nvcc.sh").read_text(encoding="utf-8")
_LINKER = (Path(__file__).parent / "linker.sh").read_text(encoding="utf-8")
_PLACE = re.compile(r"@(?:nvcc|architecture|runtime|folders|root)@")
_RUNTIME_NAME = "libcudart.so"


class ToolkitError(RuntimeError):
    """The installed toolkit lacks what builds of projects need."""


@dataclass(frozen=True)
class Toolkit:
    """A folder laid out as a CUDA toolkit, for ``architecture``."""

    folder: Path
    toolchain: NvidiaToolchain
    architecture: str

    def visible(self) -> tuple[Path, ...]:
        """Paths that a build needs beside the system's."""
        return (*self.toolchain.visible(), self.folder)

    def variables(self, path: str) -> dict[str, str]:
        """As a shell is set up for CUDA; ``path`` is its ``PATH`` before."""
        root = str(self.folder)
        added = [
            str(folder)
            for folder in self.toolchain.include_directories
            if not folder.is_relative_to(self.toolchain.home)
        ]
        variables = {
            "PATH": f"{root}/bin:{path}",
            "COMPILER_PATH": f"{root}/host",
            "CUDA_HOME": root,
            "CUDA_PATH": root,
            "CUDA_ROOT": root,
            "CUDA_TOOLKIT_ROOT_DIR": root,
            "CUDACXX": f"{root}/bin/nvcc",
            "CUDAARCHS": self.architecture.removeprefix("sm_"),
            "NVCC": f"{root}/bin/nvcc",
            "CUDAHOSTCXX": str(self.toolchain.host_compiler),
            # The packages of the Python registry have lib where compilers look for lib64.
            "LIBRARY_PATH": ":".join(map(str, self.toolchain.library_directories)),
        }
        return {**variables, "CPLUS_INCLUDE_PATH": ":".join(added)} if added else variables


def write_toolkit(folder: Path, toolchain: NvidiaToolchain, architecture: str) -> Toolkit:
    """Lay out ``folder``. Raises :class:`ToolkitError`."""
    runtime = next(
        (
            (directory / _RUNTIME_NAME).resolve()
            for directory in toolchain.library_directories
            if (directory / _RUNTIME_NAME).exists()
        ),
        None,
    )
    if runtime is None:
        raise ToolkitError(f"the CUDA toolkit at {toolchain.home} has no {_RUNTIME_NAME}")
    shutil.rmtree(folder, ignore_errors=True)
    folder = folder.resolve()
    programs = folder / "bin"
    programs.mkdir(parents=True)
    for tools in dict.fromkeys((toolchain.home / "bin", toolchain.cuobjdump.parent)):
        for tool in tools.iterdir():
            if tool.is_file() and tool.name != "nvcc" and not (programs / tool.name).exists():
                (programs / tool.name).symlink_to(tool)
    for part in toolchain.home.iterdir():
        if part.name not in {"bin", "host", "lib64"}:
            (folder / part.name).symlink_to(part)
    (folder / "lib64").symlink_to(runtime.parent)
    values = {
        "@nvcc@": shlex.quote(str(toolchain.nvcc)),
        "@architecture@": architecture,
        "@root@": str(folder),
        "@runtime@": shlex.quote(str(runtime)),
        "@folders@": shlex.join(f"-L{path}" for path in toolchain.library_directories),
    }
    (folder / "host").mkdir()
    for path, template in ((programs / "nvcc", _NVCC), (folder / "host" / "ld", _LINKER)):
        text = _PLACE.sub(lambda found: values[found[0]], template)
        path.write_text(text)
        path.chmod(0o755)
    return Toolkit(folder, toolchain, architecture)
