"""HIP's headers with their Nvidia platform: what lets nvcc compile a HIP program for a CUDA GPU.

They are no part of the HIP root (its package leaves ``nvidia_detail`` out). They come from
``CASS_HIP_NVIDIA_INCLUDE``, a ROCm installation, or Debian's ``libamdhip64-dev``, which is unpacked
into the user's cache and not installed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from cass_ray.cache import default_directory, digest
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.hip.packages import unpack_once

INCLUDE_VARIABLE = "CASS_HIP_NVIDIA_INCLUDE"
DEBIAN_PACKAGE = "libamdhip64-dev"

FORCED_HEADER = Path(__file__).with_name("hip_on_cuda13.h")
"""Included first in every unit: what CUDA 13 took out and the headers still use."""

DEFINITIONS = ("-D__HIP_PLATFORM_NVIDIA__=1", "-D__HIP_PLATFORM_NVCC__=1")
"""HIP before 6.0 reads the second spelling."""

_PLATFORM_HEADER = Path("hip/nvidia_detail/nvidia_hip_runtime.h")
_REMEDY = (
    f"Install {DEBIAN_PACKAGE} or ROCm's HIP headers for Nvidia, or set {INCLUDE_VARIABLE} to the"
    " folder that holds hip/nvidia_detail."
)


def hip_nvidia_include() -> Path:
    """The folder for ``-isystem``.

    Raises :class:`~cass_ray.toolchain.errors.ToolMissing` where there is none and none can be
    fetched.
    """
    named = os.environ.get(INCLUDE_VARIABLE)
    prefixes = [Path("/opt/rocm"), *sorted(Path("/opt").glob("rocm-*")), Path("/usr")]
    candidates = [Path(named)] if named else [prefix / "include" for prefix in prefixes]
    for include in candidates:
        if (include / _PLATFORM_HEADER).exists():
            return include
    if named:
        raise ToolMissing("HIP's headers for Nvidia", _REMEDY, f"nothing in {named}")
    return _debian_include(default_directory())


def is_fetched() -> bool:
    """Whether :func:`hip_nvidia_include` needs no network."""
    named = [os.environ[INCLUDE_VARIABLE]] if os.environ.get(INCLUDE_VARIABLE) else []
    places = [Path(each) for each in (*named, "/opt/rocm/include", "/usr/include")]
    places += [each.parent for each in (default_directory() / "hip-nvidia").glob("*/hip")]
    return any((place / _PLATFORM_HEADER).exists() for place in places)


def _debian_include(cache: Path) -> Path:
    folder = cache / "hip-nvidia"
    folders = sorted(folder.glob("*/hip"))
    if folders:
        return folders[-1].parent
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        raise ToolMissing("HIP's headers for Nvidia", _REMEDY)

    def fill(target: Path) -> None:
        with tempfile.TemporaryDirectory(dir=target.parent) as name:
            work = Path(name)
            _checked(["apt-get", "download", "-qq", DEBIAN_PACKAGE], work)
            package = next(work.glob("*.deb"))
            _checked(["dpkg-deb", "-x", str(package), "unpacked"], work)
            shutil.move(work / "unpacked/usr/include/hip", target / "hip")

    return unpack_once(folder / digest([DEBIAN_PACKAGE, _candidate()])[:16], fill)


def _candidate() -> str:
    policy = _checked(["apt-cache", "policy", DEBIAN_PACKAGE], Path("/"))
    match = re.search(r"^\s+Candidate: (?!\(none\))(\S+)", policy, re.MULTILINE)
    if match is None:
        raise ToolMissing("HIP's headers for Nvidia", _REMEDY, f"apt knows no {DEBIAN_PACKAGE}")
    return match[1]


def _checked(command: list[str], folder: Path) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "LC_ALL": "C"},
    )
    if done.returncode != 0:
        message = f"{' '.join(command)}: {done.stderr.strip()[-800:]}"
        raise ToolMissing("HIP's headers for Nvidia", _REMEDY, message)
    return done.stdout
