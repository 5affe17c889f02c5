"""What a project takes from other repositories: submodules, and what its build would fetch.

Builds are recorded without a network, so this is brought before: from folders that are given
(``--dependency NAME=DIR``), else by git at the commit or tag that the project names. Headers of it
lie over the tree, at the submodule's path or in :data:`~cass_ray.builds.plans.DEPENDENCIES`; its
sources are no rows. Its own submodules are brought as well, and nothing else that it names.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from cass_ray.builds.plans import DEPENDENCIES
from cass_ray.corpus.program import SourceError
from cass_ray.corpus.reading.filetree import (
    DirectoryTree,
    FileTree,
    read_text,
    readable_files,
)
from cass_ray.corpus.reading.git import GitTree, fetch_snapshot
from cass_ray.corpus.reading.includes import scan_includes
from cass_ray.printable import printable

GIVEN, FETCHED = "given", "fetched"
_UNDECLARED = "given alone"
HOSTS = frozenset(
    {"github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "gitlab.kitware.com",
     "git.savannah.gnu.org", "gitlab.freedesktop.org", "huggingface.co"}
)  # fmt: skip
"""Where is fetched from: a repository must not choose which machines ours talk to."""
OF_THE_TOOLKITS = frozenset({"thrust", "cub", "cccl", "libcudacxx"})
"""Nvidia's libraries of headers: both sides have them from their toolkits or packages, and a copy
in the tree would go before AMD's."""

_HELPERS = (
    *("cuda", "cuda_drvapi", "cuda_gl", "cusolver", "functions", "gl", "image", "math"),
    *("nvJPEG", "string", "timer"),
)
_TENSORRT = (
    *("NvInfer.h", "NvInferPlugin.h", "NvInferRuntime.h", "NvInferRuntimeCommon.h"),
    *("NvInferVersion.h", "NvOnnxParser.h", "NvOnnxConfig.h", "NvInferImpl.h"),
)
_SOURCES = (".cu", ".cuh", ".cpp", ".cc", ".c", ".h", ".hpp")
_MOST = 24
_MOST_FILES = 20_000
_FILE_BYTES = 8 << 20
_ALL_BYTES = 256 << 20
_TEXT_BYTES = 1 << 20
_HEADERS = (
    ".h", ".hh", ".hpp", ".hxx", ".h++", ".cuh", ".inl", ".inc", ".ipp", ".tpp", ".tcc", ".def",
)  # fmt: skip
_PART = re.compile(rb"#[ \t]*include[ \t]*[<\"](?:[^>\"\n]*/)?([^>\"\n/]+\.(?:cu|cpp|cc|c))[>\"]")
_CALL = re.compile(
    r"\b(?P<how>FetchContent_Declare|CPM(?:Add|Find)Package|ExternalProject_Add)\s*\("
    r"\s*(?P<body>[^()]{0,2000})\)",
    re.IGNORECASE,
)
_CLONE = re.compile(
    r"\bgit\s+clone\s+(?P<options>(?:--?[\w-]+(?:[= ]\d+)?\s+|-b\s+\S+\s+|--branch[= ]\S+\s+)*)"
    r"(?P<url>https://[\w./@:~+-]+)"
)
_BRANCH = re.compile(r"(?:-b|--branch)[= ]\s*(\S+)")
_SHORTHAND = re.compile(r"^\"?(?P<host>gh|gl|bb):(?P<path>[\w.-]+/[\w.-]+)[#@](?P<tag>[\w.+-]+)")
_HOSTS_OF_CPM = {"gh": "github.com", "gl": "gitlab.com", "bb": "bitbucket.org"}
_SECTION = re.compile(r'^\s*\[submodule "(?P<name>[^"\n]*)"\]', re.MULTILINE)
_KEY = re.compile(r"^[ \t]*(path|url)[ \t]*=[ \t]*(\S.*?)[ \t]*$", re.MULTILINE)
_REVISION = re.compile(r"[\w][\w./+-]{0,200}")

_NAMED_ADDRESS = re.compile(r"\(\s*(\w+)\s+\"?(https://[^\s\"()]+)")
"""``set(GLOG_URL https://…)``, or a function of the project's own in its place."""
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_ARCHIVES = (
    re.compile(
        r"(?P<repository>https://github\.com/[\w.-]+/[\w.-]+)/(?:archive|zipball|tarball)/"
        r"(?:refs/(?:tags|heads)/)?(?P<tag>[\w./+-]+?)(?:\.zip|\.tar\.\w+|\.tgz)?"
    ),
    re.compile(
        r"(?P<repository>https://gitlab\.com/[\w./-]+?)/-/archive/(?P<tag>[\w.+-]+)/[\w./+-]+"
    ),
)
"""A snapshot of a repository as its host packs it."""

Fetch = Callable[[str, str, Path], str]
"""URL, revision, folder for a bare repository -> commit, as :func:`fetch_snapshot`."""


@dataclass(frozen=True)
class Dependency:
    """``path``: where it belongs in the tree. ``revision``: a commit, or the tag that is named;
    empty where the project names none. ``how``: ``submodule``, ``FetchContent_Declare`` …
    ``headers``: by which it is known, where files include them by their names alone; they lie in
    its ``folder``, of which nothing else is taken."""

    name: str
    url: str
    revision: str
    path: str
    how: str
    headers: frozenset[str] = frozenset()
    folder: str = ""

    def __str__(self) -> str:
        return printable(f"{self.how} {self.name} ({self.url or 'no address'})")


@dataclass
class Dependencies:
    """``files`` by path in the tree; ``brought``: where each one is from, by its folder;
    ``missing``: why others are not here, by theirs."""

    declared: list[Dependency] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    brought: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    def places(self) -> dict[str, str]:
        """The addresses of those that are here, each with its folder; without one the name."""
        return {
            each.url or each.name: each.path for each in self.declared if each.path in self.brought
        }

    def headers(self) -> dict[str, bytes]:
        """The headers among ``files``, and the sources that these headers include."""
        found = {path: x for path, x in self.files.items() if path.lower().endswith(_HEADERS)}
        parts = {last for text in found.values() for last in _PART.findall(text)}
        if parts:
            named = {path: path.rpartition("/")[2].encode() for path in self.files}
            found |= {path: self.files[path] for path, last in named.items() if last in parts}
        return found

    def lacking(self, headers: Iterable[str], folders: Iterable[str]) -> list[str]:
        """What of the missing a file may need that includes ``headers``, which nothing has, and is
        compiled with the include ``folders``: in words, with what to do about it."""
        if not self.missing:
            return []
        headers = set(headers)
        first = {name.split("/")[0].lower() for name in headers if "/" in name}
        inside = [f"{folder}/" for folder in folders]
        found = []
        for each in self.declared:
            why = self.missing.get(each.path)
            asked = (
                each.name.lower() in first
                or not each.headers.isdisjoint(headers)
                or any(folder.startswith(f"{each.path}/") for folder in inside)
            )
            if why is not None and asked:
                found.append(f"{each}: {why}; give it by --dependency {each.name}=DIR")
        return found

    def sources_of(self, paths: Iterable[str]) -> list[str]:
        """Where those of ``paths`` are from that belong to dependencies, each once."""
        found = {
            origin: None
            for path in paths
            for folder, origin in self.brought.items()
            if path.startswith(f"{folder}/")
        }
        return sorted(found)


def declared_dependencies(
    tree: FileTree, commits: Mapping[str, str], origin: str = ""
) -> list[Dependency]:
    """What the files of ``tree`` name. ``commits``: of its submodules, by path. ``origin``: the
    project's own address, which those of submodules may be relative to."""
    found: dict[str, Dependency] = {}
    for each in (
        *_submodules(tree, commits, origin),
        *_of_build_files(tree),
        *_of_includes(tree),
    ):
        found.setdefault(each.path, each)
    return list(found.values())[:_MOST]


def _submodules(tree: FileTree, commits: Mapping[str, str], origin: str) -> Iterator[Dependency]:
    text = read_text(tree, ".gitmodules", _TEXT_BYTES) if tree.is_file(".gitmodules") else ""
    sections = list(_SECTION.finditer(text))
    for number, section in enumerate(sections):
        end = sections[number + 1].start() if number + 1 < len(sections) else len(text)
        keys = {match[1]: match[2] for match in _KEY.finditer(text, section.end(), end)}
        path = posixpath.normpath(keys.get("path", ""))
        if not _is_inside(path):
            continue
        url = keys.get("url", "")
        if url.startswith(("./", "../")) and origin:
            url = urljoin(f"{origin.rstrip('/')}/", url)
        name = posixpath.basename(path)
        yield Dependency(name, url, commits.get(path, ""), path, "submodule")


def _of_build_files(tree: FileTree) -> Iterator[Dependency]:
    for listed in tree.walk():
        path = listed.path
        lowered = posixpath.basename(path).lower()
        if listed.problem is not None or listed.is_repository:
            continue
        if lowered == "cmakelists.txt" or lowered.endswith(".cmake"):
            yield from _of_cmake(read_text(tree, path, _TEXT_BYTES))
        elif lowered.endswith((".sh", ".py")) or lowered in ("makefile", "gnumakefile"):
            yield from _of_script(read_text(tree, path, _TEXT_BYTES))


def _of_includes(tree: FileTree) -> Iterator[Dependency]:
    """Repositories of Nvidia's that files include headers of which the tree does not have.

    Its samples were part of the toolkit until CUDA 11.6, and many projects take their helpers for
    granted with it; TensorRT's headers are in no package of the Python registry.
    """
    paths = [each.path for each in tree.walk() if each.problem is None and not each.is_repository]
    there = {posixpath.basename(path) for path in paths}
    asked = [each for each in _BY_HEADERS if each.headers - there]
    for path in paths:
        is_source = bool(asked) and path.lower().endswith(_SOURCES)
        text = read_text(tree, path, _TEXT_BYTES) if is_source else ""
        for each in [each for each in asked if any(name in text for name in each.headers - there)]:
            included = {posixpath.basename(include.name) for include in scan_includes(text)}
            if not included.isdisjoint(each.headers - there):
                yield each
                asked.remove(each)


def _of_cmake(text: str) -> Iterator[Dependency]:
    addresses = {match[1]: match[2] for match in _NAMED_ADDRESS.finditer(text)}
    for match in _CALL.finditer(text):
        body = re.sub(r"(?<!\S)#[^\n]*", "", match["body"]).replace('"', " ")
        words = _VARIABLE.sub(lambda found: addresses.get(found[1], found[0]), body).split()
        if not words:
            continue
        if short := _SHORTHAND.match(words[0]):
            url = f"https://{_HOSTS_OF_CPM[short['host']]}/{short['path']}.git"
            yield _at(short["path"].split("/")[-1], url, short["tag"], match["how"])
            continue
        keys = dict(pairwise(words))
        url = keys.get("GIT_REPOSITORY", "")
        if "GITHUB_REPOSITORY" in keys:
            url = f"https://github.com/{keys['GITHUB_REPOSITORY']}.git"
        revision = keys.get("GIT_TAG", "")
        if not url and "URL" in keys:
            url, revision = _repository_of(keys["URL"])
        yield _at(keys.get("NAME", words[0]), url, revision, match["how"])


def _repository_of(address: str) -> tuple[str, str]:
    """The repository and the tag or commit that ``address`` is an archive of; else empty."""
    for form in _ARCHIVES:
        if found := form.fullmatch(address):
            return f"{found['repository']}.git", found["tag"]
    return "", ""


def _of_script(text: str) -> Iterator[Dependency]:
    for match in _CLONE.finditer(text):
        branch = _BRANCH.search(match["options"])
        name = posixpath.basename(match["url"]).removesuffix(".git")
        yield _at(name, match["url"], branch[1] if branch else "", "git clone")


def _at(name: str, url: str, revision: str, how: str) -> Dependency:
    plain = re.sub(r"[^\w.+-]", "_", name).lstrip(".") or "unnamed"
    return Dependency(plain, url, revision, f"{DEPENDENCIES}/{plain}", how)


_BY_HEADERS = (
    Dependency(
        "cuda-samples",
        "https://github.com/NVIDIA/cuda-samples.git",
        "v12.5",
        f"{DEPENDENCIES}/cuda-samples",
        "include",
        frozenset(f"helper_{name}.h" for name in _HELPERS),
        "Common/",
    ),
    Dependency(
        "TensorRT",
        "https://github.com/NVIDIA/TensorRT.git",
        "v10.7.0",
        f"{DEPENDENCIES}/TensorRT",
        "include",
        frozenset(_TENSORRT),
        "include/",
    ),
)


@dataclass(frozen=True)
class DependencySources:
    """Where dependencies come from. ``given``: folders by name. ``cache``: for fetched
    repositories. With ``fetches`` false nothing is fetched."""

    given: Mapping[str, str]
    cache: Path
    fetches: bool = True
    fetch: Fetch = fetch_snapshot
    hosts: frozenset[str] = HOSTS

    def bring(self, declared: list[Dependency]) -> Dependencies:
        """The files of ``declared``, as far as they can be had, and those that are given of which
        the project's files say nothing that is understood here: a CMake function of its own."""
        known = {name for each in declared for name in _names(each)}
        undeclared = {
            _at(name, "", "", _UNDECLARED): Path(folder).expanduser()
            for name, folder in sorted(self.given.items())
            if name.lower() not in known
        }
        made = Dependencies([*declared, *undeclared])
        for each, folder in undeclared.items():
            self._take(made, each, DirectoryTree(folder), f"{each.name}: {GIVEN}")
        unreachable = ""
        for each in made.declared:  # those of dependencies are added meanwhile
            if each in undeclared:
                continue
            given = self._folder(each)
            if given is not None:
                self._take(made, each, DirectoryTree(given), f"{each.name}: {GIVEN}")
                continue
            if each.name.lower() in OF_THE_TOOLKITS:
                continue
            why = self._refusal(each) or unreachable
            if not why:
                try:
                    self._fetched(made, each)
                    continue
                except SourceError as error:
                    why = _last_line(str(error))
                    if "resolve host" in why or "unable to access" in why:
                        unreachable = why  # of the network, not of this address
            made.missing[each.path] = why
        return made

    def _folder(self, each: Dependency) -> Path | None:
        wanted = _names(each)
        for name, folder in self.given.items():
            if name.lower() in wanted:
                return Path(folder).expanduser()
        return None

    def _refusal(self, each: Dependency) -> str:
        """Why this one is not fetched; empty where it is."""
        if not self.fetches:
            return "nothing is fetched (fetch_dependencies: false)"
        address = urlsplit(each.url)
        if address.scheme != "https" or (address.hostname or "") not in self.hosts:
            return f"{printable(each.url) or 'no address'} is not on a public host of repositories"
        if not each.revision or not _REVISION.fullmatch(each.revision) or ".." in each.revision:
            return "the project names no commit or tag"
        return ""

    def _fetched(self, made: Dependencies, each: Dependency) -> None:
        """Raises :class:`SourceError`."""
        key = hashlib.sha256(f"{each.url}@{each.revision}".encode()).hexdigest()[:16]
        directory = self.cache / f"{key}.git"
        commit = self.fetch(each.url, each.revision, directory)
        with closing(GitTree(directory, commit)) as tree:
            self._take(made, each, tree, f"{each.name}@{commit}: {FETCHED}")

    def _take(self, made: Dependencies, each: Dependency, tree: FileTree, origin: str) -> None:
        total = sum(map(len, made.files.values()))
        count = 0
        for path, content in readable_files(tree, _FILE_BYTES):
            if not path.startswith(each.folder):
                continue
            if count >= _MOST_FILES:
                break
            total += len(content)
            if total > _ALL_BYTES:
                made.missing[each.path] = f"larger than {_ALL_BYTES >> 20} MiB: taken in part"
                break
            made.files[f"{each.path}/{path}"] = content
            count += 1
        if not count:
            made.missing[each.path] = "its folder holds no source"
            return
        made.brought[each.path] = origin
        commits = tree.submodules if isinstance(tree, GitTree) else {}
        known = {other.path for other in made.declared}
        for inside in () if each.folder else _submodules(tree, commits, each.url):
            path = f"{each.path}/{inside.path}"
            if path not in known and len(made.declared) < _MOST:
                made.declared.append(replace(inside, path=path))


def _names(each: Dependency) -> set[str]:
    """By what it may be given, in lower case."""
    names = (each.name, each.path, posixpath.basename(each.url).removesuffix(".git"))
    return {name.lower() for name in names if name}


def _is_inside(path: str) -> bool:
    return path not in ("", ".", "..") and not path.startswith(("/", "../"))


def _last_line(text: str) -> str:
    return printable((text.strip().splitlines() or [""])[-1])[:200]
