from collections.abc import Callable
from pathlib import Path

import pytest

from cass_ray.corpus.program import Program, ReadReject
from cass_ray.corpus.reading.limits import ReadLimits
from cass_ray.corpus.reading.trees import StoredTrees, read_archive
from cass_ray.corpus.sources.registry import parse_source
from cass_ray.storage.store import Store

Items = dict[str, Program | ReadReject]


@pytest.fixture
def store(tmp_path_factory: pytest.TempPathFactory) -> StoredTrees:
    return StoredTrees(Store(tmp_path_factory.mktemp("store")))


@pytest.fixture
def read(
    store: StoredTrees, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., list[Program | ReadReject]]:
    """Reads a source specification to a list."""

    def run(specification: str, limits: ReadLimits | None = None) -> list[Program | ReadReject]:
        workdir = tmp_path_factory.mktemp("work")
        return list(parse_source(specification, limits).iterate(workdir, store))

    return run


@pytest.fixture
def tree_of(store: StoredTrees) -> Callable[[Program], dict[str, bytes]]:
    """The files of the tree of a program."""
    return lambda program: read_archive(store.get(program.tree))


def write_files(root: Path, files: dict[str, str | bytes]) -> Path:
    """Writes ``files`` (path -> content) below ``root``."""
    for path, content in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
    return root
