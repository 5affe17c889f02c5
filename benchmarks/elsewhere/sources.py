"""Sources and build files of repositories, to be built on a machine that can fetch nothing.

``python -m benchmarks.elsewhere.sources FOLDER OWNER/NAME ... --clones DIR`` copies what the newest
commit of each DIR/OWNER+NAME/repo holds of sources, build files and licences to
FOLDER/OWNER+NAME; of ``OWNER/NAME:DIR`` what is in its folder DIR alone: the headers of a large
dependency. ``build-dataset`` reads a repository: make one of each folder there, by ``git init``,
``git add --force --all`` and ``git commit``.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

from cass_ray.corpus.program import SourceError
from cass_ray.corpus.reading.filetree import FileProblemError
from cass_ray.corpus.reading.git import GitTree, find_git_directory, resolve_revision

MOST_BYTES = 4 << 20
"""A file that is larger counts as data, whatever its name ends in. Headers of tables are large."""

_MOST_BYTES_WITHOUT_SUFFIX = 64 << 10

_SOURCES = re.compile(
    r"\.(cu|cuh|cl|c|cc|cpp|cxx|h|hh|hpp|hxx|hu|inl|inc|ipp|tpp|tcc|impl|def|in|am|ac|m4|mk|make|"
    r"cmake|ninja|bazel|bzl|proto|fbs|pyx|pxd|py|toml|cfg|sh|pl|pc|template|jinja|j2|hip|"
    r"gn|gni|example|sample|thrust|dox|ptx)$"
)
_NAMES = re.compile(
    r"^(CMakeLists\.txt|GNUmakefile|[Mm]akefile.*|configure.*|meson\.build|meson_options\.txt|"
    r"BUILD|WORKSPACE|config\.(guess|sub|rpath)|install-sh|missing|depcomp|compile|ltmain\.sh|"
    r"version.*|VERSION.*|requirements.*\.txt|(UN)?LICEN[CS]E.*|COPYING.*|COPYRIGHT.*|NOTICE.*|"
    r"MANIFEST\.in|\.gitmodules|INSTALL\.py|bootstrap.*|AUTHORS|NEWS|README|ChangeLog|README\.md)$",
    re.IGNORECASE,
)
_NOT_BUILT = re.compile(
    r"(^|/)(docs?|documentation|website|node_modules|notebooks?|javascript|android|ios|java)/"
)
_MACHINE_CODE = re.compile(r"(\.cubin|_kernel\.sm\d+)\.(c|cc|cpp)$")
"""Cubins as arrays of bytes: builds list them, no unit reads them. They travel empty."""
_INCLUDED = re.compile(rb"^[ \t]*#[ \t]*include[ \t]*[\"<]([^\">]+)[\">]", re.MULTILINE)
_WITH_KERNELS = re.compile(r"\.(cu|cuh|cl|h|hpp)$")
"""Sources, or their headers, that travel out of such folders too."""


def sources_of(directory: Path, below: str = "") -> Iterator[tuple[str, bytes]]:
    """Path and content of the newest commit's sources and build files; SourceError.

    What they include by name is among them, whatever its suffix. ``below``: the folder that has
    them, "" for the whole tree.
    """
    folder = f"{below}/" if below else ""
    git_directory = find_git_directory(directory)
    with GitTree(git_directory, resolve_revision(git_directory, "HEAD")) as tree:
        included: set[bytes] = set()
        left = []
        for listed in tree.walk():
            if listed.problem is not None or not listed.path.startswith(folder):
                continue
            content = _content(tree, listed.path) if _is_source(listed.path) else None
            if content is None:
                left.append(listed.path)
                continue
            included |= {name.rpartition(b"/")[2] for name in _INCLUDED.findall(content)}
            yield listed.path, content
        for path in left:
            named = path.rpartition("/")[2].encode() in included
            if named and not _is_source(path):
                content = _content(tree, path)
                if content is not None:
                    yield path, content


def _is_source(path: str) -> bool:
    name = path.rpartition("/")[2]
    wanted = "." not in name or _SOURCES.search(name) or _NAMES.search(name)
    aside = _NOT_BUILT.search(path) and not _WITH_KERNELS.search(name)
    return bool(wanted and not aside)


def _content(tree: GitTree, path: str) -> bytes | None:
    """None for data: what is large, and what has no suffix and includes nothing."""
    name = path.rpartition("/")[2]
    try:
        if tree.size(path) > MOST_BYTES:
            return None
        content = b"" if _MACHINE_CODE.search(name) else tree.read(path)
    except FileProblemError:
        return None  # a link out of the tree, or an object that the clone lacks
    return content if "." in name or _NAMES.search(name) or _may_be_a_header(content) else None


def _may_be_a_header(content: bytes) -> bool:
    """Whether a file without a suffix may be included, as the standard library's are."""
    return len(content) <= _MOST_BYTES_WITHOUT_SUFFIX and b"#" in content and b"\0" not in content


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="+", metavar="OWNER/NAME[:DIR]")
    parser.add_argument("--clones", type=Path, required=True)
    given = parser.parse_args()
    for asked in given.names:
        name, _, below = asked.partition(":")
        folder, written = name.replace("/", "+"), 0
        try:
            for path, content in sources_of(given.clones / folder / "repo", below):
                target = given.folder / folder / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
                written += len(content)
        except SourceError as error:
            print(f"{name}: {error}")
        print(f"{written / 1e6:8.1f} MB  {name}", flush=True)


if __name__ == "__main__":
    main()
