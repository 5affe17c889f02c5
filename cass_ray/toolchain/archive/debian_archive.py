"""Debian's archive as a source of AMD's headers and libraries.

Debian's unstable suite carries ROCm 6.4, whatever the release of this machine. Its packages are
fetched by apt's own helper and unpacked into the user's cache; nothing is installed. Two ways:

1. the pinned versions (``debian_packages.csv``), each by its path in the archive and its digest;
2. where the archive has moved on, what its signed package lists name today, by a private apt
   configuration beside the system's own (11 MB of lists). Another major.minor of a ROCm package
   than the pinned one is refused: the repairs and the HIP headers belong to this one.

For machines whose apt reads a Debian mirror.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from cass_ray.csv_tables import read_rows

SUITE = "sid"
_SECONDS = 1800
_TABLE = Path(__file__).with_name("debian_packages.csv")
_APT_HELPER = Path("/usr/lib/apt/apt-helper")
_SOURCES = (Path("/etc/apt/sources.list"), Path("/etc/apt/sources.list.d"))
_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_MIRROR = re.compile(r"^\s*(?:URIs:\s*|deb\s+(?:\[[^]]*\]\s+)?)(\S+/debian)/?\s*", re.MULTILINE)
_VERSION = re.compile(r"_(?:\d+%3a)?(\d+\.\d+)\.[^_]*_\w+\.deb$")


class ArchiveError(RuntimeError):
    """The archive cannot be reached, or does not hold what is wanted."""


@dataclass(frozen=True)
class Package:
    """One ``.deb``: its path in the archive's pool, its size and its SHA-256.

    ``part`` is what it belongs to: ``headers``, ``base`` (what the libraries stand on) or a group
    of libraries. ``headers`` is its folder below ``usr/include``.
    """

    part: str
    name: str
    headers: str
    path: str
    size: int
    sha256: str

    @property
    def release(self) -> str:
        """Major and minor version, such as ``6.4``."""
        return _release(self.path)


@cache
def packages(part: str) -> tuple[Package, ...]:
    """The pinned packages of a part; empty for a part that there is not."""
    return tuple(
        Package(part, row["name"], row["headers"], row["path"], int(row["bytes"]), row["sha256"])
        for row in read_rows(_TABLE)
        if row["part"] == part
    )


def fetch(
    wanted: Sequence[Package],
    work: Path,
    receive: Callable[[Package, Path], None],
    *,
    progress: Callable[[Package], None] = lambda package: None,
) -> None:
    """Fetch each of ``wanted`` into the folder ``work`` and hand it to ``receive``.

    The file is ``receive``'s: it may move or remove it. ``progress`` is called before each one.
    Raises :class:`ArchiveError`; what was received until then stays received.
    """
    mirror = debian_mirror()
    for index, package in enumerate(wanted):
        progress(package)
        file = work / Path(package.path).name
        try:
            _fetch_pinned(mirror, package, file)
        except ArchiveError:
            for other, package_file in _fetch_current(mirror, wanted[index:], work):
                receive(other, package_file)
            return
        receive(package, file)


def debian_mirror() -> str:
    """The address of the Debian archive that this machine's apt reads.

    Raises :class:`ArchiveError` where it reads none (Ubuntu, or no apt at all).
    """
    for source in _SOURCES:
        files = sorted(source.glob("*")) if source.is_dir() else [source]
        for file in files:
            if file.is_file() and (match := _MIRROR.search(file.read_text(errors="replace"))):
                return match[1]
    raise ArchiveError("this machine's apt reads no Debian archive")


def unpack(package: Path, folder: Path, *, leave_out: Sequence[str] = ()) -> None:
    """Unpack a ``.deb`` below ``folder``, without the members that ``leave_out`` matches.

    The patterns are tar's, with wildcards. Raises :class:`ArchiveError`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    patterns = [f"--exclude={pattern}" for pattern in leave_out]
    with subprocess.Popen(
        ["dpkg-deb", "--fsys-tarfile", str(package)], stdout=subprocess.PIPE
    ) as stream:
        command = ["tar", "-x", "--no-same-owner", "-C", str(folder), "--wildcards", *patterns]
        done = subprocess.run(
            command, stdin=stream.stdout, capture_output=True, text=True, check=False
        )
    if done.returncode != 0 or stream.returncode != 0:
        raise ArchiveError(f"{package.name} cannot be unpacked: {done.stderr.strip()[-400:]}")


def _fetch_pinned(mirror: str, package: Package, file: Path) -> None:
    url = f"{mirror}/{package.path}"
    _run([str(_APT_HELPER), "download-file", url, str(file), f"SHA256:{package.sha256}"])


def _fetch_current(
    mirror: str, packages: Sequence[Package], work: Path
) -> list[tuple[Package, Path]]:
    """The suite's present versions, checked by apt against the archive's signature."""
    for folder in ("lists/partial", "cache/archives/partial"):
        (work / folder).mkdir(parents=True, exist_ok=True)
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
    _run([*apt, "download", *(f"{package.name}/{SUITE}" for package in packages)], work)
    fetched = []
    for package in packages:
        [file] = work.glob(f"{package.name}_*.deb")
        if package.part != "base" and _release(file.name) != package.release:
            raise ArchiveError(f"{file.name}: not of release {package.release}")
        fetched.append((package, file))
    return fetched


def _release(file_name: str) -> str:
    match = _VERSION.search(file_name)
    return match[1] if match else ""


def _run(command: Sequence[str], folder: Path | None = None) -> None:
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
