"""AMD's header-only libraries, from their public repositories, for machines without ROCm.

Debian 12 has no hipCUB, rocThrust or rocWMMA, and its rocPRIM 5.3 does not compile for gfx11. All
four are headers: the release that belongs to the HIP headers of
:mod:`cass_ray.toolchain.hip.packages` is fetched with git, one commit each, and configured as CMake
would (a version header). Optional: what cannot be fetched is left out, and programs that include
it do not compile.

``python -m cass_ray.toolchain.hip.libraries`` fetches them. Behind a mirror, git's own
``url.*.insteadOf`` says where from.
"""

from __future__ import annotations

import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from cass_ray.cache import default_directory, digest
from cass_ray.csv_tables import read_rows
from cass_ray.git_command import GitError, run_git
from cass_ray.toolchain.hip.packages import unpack_once
from cass_ray.toolchain.hip.repairs import repair_radix_sort

TAG = "rocm-6.2.2"
_RECIPE = "1"
_FETCH_SECONDS = 600
_VERSION = re.compile(
    r'^\s*(?:set\s*\(\s*VERSION_STRING|rocm_setup_version\s*\(\s*VERSION)\s+"(\d+)\.(\d+)\.(\d+)"',
    re.MULTILINE | re.IGNORECASE,
)
_PLACEHOLDER = re.compile(r"@\w+_VERSION_(MAJOR|MINOR|PATCH)@")


@dataclass(frozen=True)
class Library:
    """One repository: what is fetched and which of its folders is the include folder."""

    name: str
    """Name of the folder below ``include``."""
    url: str
    commit: str
    """What :data:`TAG` names: a tag that moved is refused."""
    folder: str
    """In the repository; becomes ``include/<name>``."""
    version_header: str
    """Below ``include/<name>``; made from the ``.in`` file of that name in ``folder``."""


LIBRARIES = tuple(Library(**row) for row in read_rows(Path(__file__).with_suffix(".csv")))


class FetchError(RuntimeError):
    """A repository could not be fetched, or is not what it was."""


def library_headers(cache: Path) -> Path | None:
    """Folder with ``include/`` if :func:`fetch_libraries` has made it; never downloads."""
    path = _place(cache)
    return path if path.exists() else None


def fetch_libraries(cache: Path) -> Path:
    """Folder with ``include/`` of all :data:`LIBRARIES`, fetched on first use (some 40 MB).

    Raises :class:`FetchError`; nothing is left behind then.
    """

    def fill(target: Path) -> None:
        for library in LIBRARIES:
            with tempfile.TemporaryDirectory(dir=target.parent) as folder:
                _unpack(library, Path(folder), target / "include" / library.name)
        repair_radix_sort(target / "include" / "rocprim")

    return unpack_once(_place(cache), fill)


def _place(cache: Path) -> Path:
    parts = [_RECIPE, TAG, *(f"{item.name} {item.commit} {item.folder}" for item in LIBRARIES)]
    return cache / "hip-libraries" / f"git-{digest(parts)[:16]}"


def _unpack(library: Library, work: Path, target: Path) -> None:
    """Fetch one commit of ``library`` and put its include folder at ``target``."""
    repository = work / "repository"
    _git(library, None, "init", "--quiet", "--bare", str(repository))
    source = (library.url, f"refs/tags/{TAG}")
    _git(library, repository, "fetch", "--quiet", "--depth=1", "--no-tags", *source)
    commit = _git(library, repository, "rev-parse", "FETCH_HEAD^{commit}").strip()
    if commit != library.commit:
        raise FetchError(f"{library.url}: {TAG} is {commit}, not {library.commit}")
    files = work / "files"
    files.mkdir()
    paths = ("CMakeLists.txt", library.folder)
    _git(library, repository, f"--work-tree={files}", "checkout", "--quiet", commit, "--", *paths)
    target.parent.mkdir(parents=True, exist_ok=True)
    (files / library.folder).rename(target)
    _write_version(library, (files / "CMakeLists.txt").read_text("utf-8"), target)


def _write_version(library: Library, cmake: str, folder: Path) -> None:
    """What CMake's ``configure_file`` makes of the version header."""
    version = _VERSION.search(cmake)
    template = next(folder.rglob(f"{library.version_header}.in"), None)
    if version is None or template is None:
        raise FetchError(f"{library.url}: no version in CMakeLists.txt, or no version header")
    numbers = dict(zip(("MAJOR", "MINOR", "PATCH"), version.groups(), strict=True))
    text = _PLACEHOLDER.sub(lambda match: numbers[match[1]], template.read_text("utf-8"))
    (folder / library.version_header).write_text(text, "utf-8")


def _git(library: Library, repository: Path | None, *arguments: str) -> str:
    where = ["--git-dir", str(repository)] if repository else []
    try:
        return run_git([*where, *arguments], seconds=_FETCH_SECONDS)
    except GitError as error:
        raise FetchError(f"{library.url}: {arguments[0]}: {error}") from error


def main() -> int:
    """Fetch the libraries; print where they are, or why they are not."""
    try:
        print(fetch_libraries(default_directory()))
    except FetchError as error:
        print(
            f"without hipCUB, rocThrust and rocWMMA: {error}\nThey are optional; with a network,"
            " or git's url.*.insteadOf set to a mirror, run"
            " python -m cass_ray.toolchain.hip.libraries again.",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
