"""Programs of a git repository: one snapshot of one revision, its whole tree at hand."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from cass_ray.builds.settings import NOTHING, UnitSettings
from cass_ray.corpus.dialect import CUDA, Dialect
from cass_ray.corpus.program import Program, Provenance, ReadReject, SourceError
from cass_ray.corpus.reading.archives import is_archive, unpack_archive
from cass_ray.corpus.reading.filetree import DirectoryTree
from cass_ray.corpus.reading.git import (
    GitTree,
    fetch_snapshot,
    find_git_directory,
    origin_url,
    resolve_revision,
)
from cass_ray.corpus.reading.limits import ReadLimits
from cass_ray.corpus.reading.programs import ProgramReader
from cass_ray.corpus.reading.state import file_state
from cass_ray.corpus.reading.trees import TreeStore
from cass_ray.corpus.reading.units import find_units
from cass_ray.corpus.screening.licenses import license_of_tree
from cass_ray.dataset.row import Origin

_HEAD = "HEAD"
_SNAPSHOT_SUFFIX = re.compile(r"(?i)\.(?:zip|t(?:ar|gz|bz2|xz|zst)(?:\.\w+)?)$")
_SCP_ADDRESS = re.compile(r"(?P<host>[\w.-]+@[\w.-]+):(?P<path>[^/].*)")


@dataclass(frozen=True)
class RepositoryAddress:
    """Where a repository is, and which revision is wanted."""

    location: str
    revision: str = _HEAD

    @property
    def is_remote(self) -> bool:
        """Whether the location is a URL rather than a local path."""
        return "://" in self.location or _SCP_ADDRESS.fullmatch(self.location) is not None


def parse_address(text: str) -> RepositoryAddress:
    """``URL[@REVISION]`` or ``PATH[@REVISION]``; the revision may hold slashes.

    An ``@`` before the host of a URL, or one in the path of a folder that exists, belongs there.
    """
    if Path(text).expanduser().is_dir():
        return RepositoryAddress(text)
    if "://" in text:
        scheme, rest = text.split("://", 1)
        authority, slash, path = rest.partition("/")
        path, _, revision = path.partition("@")
        return RepositoryAddress(f"{scheme}://{authority}{slash}{path}", revision or _HEAD)
    if scp := _SCP_ADDRESS.fullmatch(text):
        path, _, revision = scp["path"].partition("@")
        return RepositoryAddress(f"{scp['host']}:{path}", revision or _HEAD)
    for at in (match.start() for match in re.finditer("@", text)):
        if Path(text[:at]).expanduser().is_dir():
            return RepositoryAddress(text[:at], text[at + 1 :] or _HEAD)
    raise SourceError(f"repository:{text}: neither a URL nor a folder that exists")


def repository_name(location: str) -> str:
    """``owner/name`` of a URL, as hosts write it; the folder's name for a path."""
    scp = _SCP_ADDRESS.fullmatch(location)
    if scp:
        path = scp["path"]
    elif "://" in location:
        path = urlsplit(location).path
    else:
        return Path(location).expanduser().resolve().name.removesuffix(".git")
    return "/".join(path.strip("/").removesuffix(".git").split("/")[-2:])


@dataclass(frozen=True)
class RepositorySource:
    """``repository:URL|PATH[@REVISION]``; without a revision, the default branch as it is now.

    ``PATH`` is a clone, bare or not, or the archive of a snapshot, whose hash is then the revision;
    the one folder that hosts put around a snapshot is taken off. A remote repository is fetched
    without history. A local clone may be bare; what is not
    committed is not seen. Large-file pointers are not followed.
    """

    address: str
    limits: ReadLimits = field(default_factory=ReadLimits)
    dialect: Dialect = CUDA
    origin: Origin = Origin.REPOSITORY
    units: UnitSettings = NOTHING

    def iterate(self, workdir: Path, trees: TreeStore) -> Iterator[Program | ReadReject]:
        """One item for each CUDA file of the revision, in the order of git's listing.

        Raises:
            SourceError: the repository or the revision cannot be reached.
        """
        archive = Path(self.address).expanduser()
        if archive.is_file() and is_archive(archive):
            yield from self._archive(archive, workdir, trees)
            return
        address = parse_address(self.address)
        if address.is_remote:
            key = hashlib.sha256(f"{address.location}@{address.revision}".encode()).hexdigest()[:16]
            git_directory = workdir / "repositories" / f"{key}.git"
            commit = fetch_snapshot(address.location, address.revision, git_directory)
            location = address.location
            name = repository_name(location)
        else:
            path = Path(address.location).expanduser()
            git_directory = find_git_directory(path)
            commit = resolve_revision(git_directory, address.revision)
            location = origin_url(git_directory)
            name = repository_name(location or address.location)
        with GitTree(git_directory, commit, self.limits) as tree:
            provenance = Provenance(self.origin, name, license_of_tree(tree), commit)
            units = find_units(tree, self.units, True, submodules=tree.submodules, address=location)
            reader = ProgramReader(
                tree, provenance, trees, self.limits, dialect=self.dialect, units=units
            )
            yield from reader.read_all()

    def state(self) -> str:
        """Of a clone or a snapshot on this machine; one elsewhere stays what it was."""
        path = Path(self.address).expanduser()
        if path.is_file():
            return repr((self, file_state(path)))
        address = parse_address(self.address)
        if address.is_remote:
            return repr(self)
        git_directory = find_git_directory(Path(address.location).expanduser())
        return repr((self, resolve_revision(git_directory, address.revision)))

    def _archive(
        self, path: Path, workdir: Path, trees: TreeStore
    ) -> Iterator[Program | ReadReject]:
        """The programs of a snapshot as a host packs it."""
        with path.open("rb") as content:
            revision = hashlib.file_digest(content, "sha256").hexdigest()
        unpacked = unpack_archive(path, workdir / "archives", self.limits, self.dialect)
        try:
            entries = list(unpacked.root.iterdir())
            single = len(entries) == 1 and entries[0].is_dir()
            tree = DirectoryTree(entries[0] if single else unpacked.root)
            name = _SNAPSHOT_SUFFIX.sub("", path.name)
            provenance = Provenance(self.origin, name, license_of_tree(tree), revision)
            for problem in unpacked.problems:
                yield ReadReject(provenance, problem.path, problem.reason, problem.message)
            units = find_units(tree, self.units, is_project=True)
            reader = ProgramReader(
                tree, provenance, trees, self.limits, dialect=self.dialect, units=units
            )
            yield from reader.read_all()
        finally:
            shutil.rmtree(unpacked.root, ignore_errors=True)
