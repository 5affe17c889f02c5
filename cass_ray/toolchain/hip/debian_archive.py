"""AMD's header-only libraries of one ROCm release, from Debian's archive.

Debian's unstable suite carries ROCm 6.4, whatever the release of this machine; its packages of
headers are unpacked into the user's cache and nothing is installed. Two ways, both apt's own:

1. the pinned versions, each by its path in the archive and its digest (1.4 MB);
2. where the archive has moved on, what its signed package lists name today, by a private apt
   configuration beside the system's own (11 MB of lists). Another major.minor than the pinned one
   is refused: the repairs and the HIP headers belong to this one.

For machines whose apt reads a Debian mirror; elsewhere :mod:`cass_ray.toolchain.hip.libraries`
fetches the libraries' repositories.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cass_ray.cache import default_directory, digest
from cass_ray.toolchain.hip.packages import unpack_once
from cass_ray.toolchain.hip.repairs import repair_radix_sort

SUITE = "sid"
_RECIPE = "1"
_SECONDS = 300
_APT_HELPER = Path("/usr/lib/apt/apt-helper")
_SOURCES = (Path("/etc/apt/sources.list"), Path("/etc/apt/sources.list.d"))
_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_MIRROR = re.compile(r"^\s*(?:URIs:\s*|deb\s+(?:\[[^]]*\]\s+)?)(\S+/debian)/?\s*", re.MULTILINE)
_VERSION = re.compile(r"_(\d+\.\d+)\.[^_]*_\w+\.deb$")


@dataclass(frozen=True)
class Package:
    """One ``.deb``: its path in the archive's pool and its SHA-256; ``folder`` below include/."""

    name: str
    folder: str
    path: str
    sha256: str

    @property
    def release(self) -> str:
        """Major and minor version, such as ``6.4``."""
        found = _VERSION.search(self.path)
        return found[1] if found else ""


PACKAGES = (
    Package(
        "librocprim-dev",
        "rocprim",
        "pool/main/r/rocprim/librocprim-dev_6.4.3-2_all.deb",
        "d8af1b39b28dbb812441f17aef456722534f4837c996415fa160c2434629522c",
    ),
    Package(
        "libhipcub-dev",
        "hipcub",
        "pool/main/h/hipcub/libhipcub-dev_6.4.3-2_all.deb",
        "e450e4c090a519e6de81fad726d91c8429a24dc5d7cdca3568d092182a328cee",
    ),
    Package(
        "librocthrust-dev",
        "thrust",
        "pool/main/r/rocthrust/librocthrust-dev_6.4.4-1_all.deb",
        "2f5ea09ac67ab71fce706e7c6480dcd2866a5d7495b5b4ba12b30dd78950ee00",
    ),
    Package(
        "librocrand-dev",
        "rocrand",
        "pool/main/r/rocrand/librocrand-dev_6.4.3-1_amd64.deb",
        "73ca24c9c9bdcf2bbf16b07cf3bacbab185ee46ebe862d80369fe5de864e5489",
    ),
    Package(
        "libhiprand-dev",
        "hiprand",
        "pool/main/h/hiprand/libhiprand-dev_6.4.3-1_amd64.deb",
        "17fe5f043cfecb5a8ee4f0509e3b2b0d2c8a90a34c5d2ba0dc6791d782ce745c",
    ),
)


class ArchiveError(RuntimeError):
    """The archive cannot be reached, or does not hold what is wanted."""


def archive_headers(cache: Path) -> Path | None:
    """Folder with ``include/`` if :func:`fetch_headers` has made it; never downloads."""
    path = _folder(cache)
    return path if path.exists() else None


def fetch_headers(cache: Path) -> Path:
    """Folder with ``include/`` of all :data:`PACKAGES`, fetched on first use.

    Raises :class:`ArchiveError`; nothing is left behind then.
    """
    return unpack_once(_folder(cache), _fill)


def debian_mirror() -> str:
    """The address of the Debian archive that this machine's apt reads.

    Raises :class:`ArchiveError` where it reads none (Ubuntu, or no apt at all).
    """
    for source in _SOURCES:
        files = sorted(source.glob("*")) if source.is_dir() else [source]
        for file in files:
            if file.is_file() and (found := _MIRROR.search(file.read_text(errors="replace"))):
                return found[1]
    raise ArchiveError("this machine's apt reads no Debian archive")


def _folder(cache: Path) -> Path:
    key = digest([_RECIPE, *(package.sha256 for package in PACKAGES)])[:16]
    return cache / "hip-libraries" / f"debian-{key}"


def _fill(target: Path) -> None:
    mirror = debian_mirror()
    with tempfile.TemporaryDirectory(dir=target.parent) as name:
        work = Path(name)
        try:
            packages = [_fetch_pinned(mirror, package, work) for package in PACKAGES]
        except ArchiveError:
            packages = _fetch_current(mirror, work)
        for package in packages:
            _run(["dpkg-deb", "-x", str(package), str(work / "unpacked")], work)
        (target / "include").mkdir()
        for wanted in PACKAGES:
            shutil.move(work / "unpacked/usr/include" / wanted.folder, target / "include")
    repair_radix_sort(target / "include" / "rocprim")


def _fetch_pinned(mirror: str, package: Package, work: Path) -> Path:
    file = work / Path(package.path).name
    url = f"{mirror}/{package.path}"
    _run([str(_APT_HELPER), "download-file", url, str(file), f"SHA256:{package.sha256}"], work)
    return file


def _fetch_current(mirror: str, work: Path) -> list[Path]:
    """The suite's present versions, checked by apt against the archive's signature."""
    for folder in ("lists/partial", "cache/archives/partial"):
        (work / folder).mkdir(parents=True)
    sources = work / "sources.list"
    sources.write_text(f"deb [signed-by={_KEYRING}] {mirror} {SUITE} main\n")
    apt = [
        "apt-get",
        "-qq",
        f"-oDir::Etc::sourcelist={sources}",
        "-oDir::Etc::sourceparts=/dev/null",
    ]
    apt += [f"-oDir::State::Lists={work / 'lists'}", f"-oDir::Cache={work / 'cache'}"]
    _run([*apt, "update"], work)
    _run([*apt, "download", *(f"{package.name}/{SUITE}" for package in PACKAGES)], work)
    found = []
    for package in PACKAGES:
        [file] = work.glob(f"{package.name}_*.deb")
        version = _VERSION.search(file.name)
        if version is None or version[1] != package.release:
            raise ArchiveError(f"{file.name}: not of ROCm {package.release}")
        found.append(file)
    return found


def _run(command: Sequence[str], folder: Path) -> None:
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False, timeout=_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ArchiveError(f"{Path(command[0]).name}: {error}") from error
    if done.returncode != 0:
        raise ArchiveError(
            f"{Path(command[0]).name}: {(done.stderr or done.stdout).strip()[-400:]}"
        )


def main() -> int:
    """Fetch the headers; print where they are, or why they are not."""
    try:
        print(fetch_headers(default_directory()))
    except ArchiveError as error:
        print(f"AMD's header-only libraries were not fetched: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
