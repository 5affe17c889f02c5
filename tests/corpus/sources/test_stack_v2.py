"""The Stack v2 against a local object server and a miniature of its metadata."""

from __future__ import annotations

import asyncio
import gzip
import pickle
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from aiohttp import web

from cass_ray.corpus.program import Program, ReadReject, SourceError
from cass_ray.corpus.reading.limits import ReadLimits
from cass_ray.corpus.reading.trees import StoredTrees, read_archive
from cass_ray.corpus.sources.registry import parse_source
from cass_ray.corpus.sources.splits import splits_of
from cass_ray.corpus.sources.stack_v2.objects import blob_id
from cass_ray.corpus.sources.stack_v2.settings import StackV2Settings
from cass_ray.corpus.sources.stack_v2.source import StackV2Source
from cass_ray.dataset.row import Origin, Reason
from cass_ray.storage.store import Store
from tests.corpus.conftest import write_files

KERNEL = '#include "../include/scale.h"\n__global__ void k(float *p) {{ p[{0}] = SCALE; }}\n'
HEADER = b"#define SCALE 2.0f\n"


class ObjectServer:
    """Answers GET /content/ID like the public bucket; ``faults`` are answered first, in order."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.faults: dict[str, list[str]] = {}
        self.asked: Counter[str] = Counter()
        self.most_at_once = 0
        self.together = 1
        """Answers begin once so many requests were there at the same time."""
        self._now = 0
        self._enough = asyncio.Event()
        self._loop = asyncio.new_event_loop()
        self._started = threading.Event()
        self.port = 0
        threading.Thread(target=self._serve, daemon=True).start()
        assert self._started.wait(30)

    def add(self, content: bytes) -> str:
        identity = blob_id(content)
        self.objects[identity] = content
        return identity

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        application = web.Application()
        application.router.add_get("/content/{id}", self._answer)
        runner = web.AppRunner(application)
        self._loop.run_until_complete(runner.setup())
        site = web.TCPSite(runner, "127.0.0.1", 0)
        self._loop.run_until_complete(site.start())
        self.port = runner.addresses[0][1]
        self._started.set()
        self._loop.run_forever()

    async def _answer(self, request: web.Request) -> web.Response:
        identity = request.match_info["id"]
        self.asked[identity] += 1
        self._now += 1
        self.most_at_once = max(self.most_at_once, self._now)
        if self._now >= self.together:
            self._enough.set()
        try:
            await asyncio.wait_for(self._enough.wait(), 60)
            faults = self.faults.get(identity, [])
            return self._reply(identity, faults.pop(0) if faults else "")
        finally:
            self._now -= 1

    def _reply(self, identity: str, fault: str) -> web.Response:
        if fault.isdigit():
            return web.Response(status=int(fault))
        if identity not in self.objects:
            return web.Response(status=404)
        body = gzip.compress(self.objects[identity])
        if fault == "truncated":
            body = body[: len(body) // 2]
        if fault == "other":
            body = gzip.compress(b"something else")
        return web.Response(body=body)


@pytest.fixture
def server() -> Iterator[ObjectServer]:
    running = ObjectServer()
    yield running
    running.stop()


def line(server: ObjectServer, repository: str, path: str, content: bytes, **more: Any) -> Any:
    """A line of the metadata with all the columns that the data set has."""
    identity = server.add(content)
    return {
        "blob_id": identity,
        "directory_id": "d" * 40,
        "path": f"/{path}",
        "content_id": "c" * 40,
        "detected_licenses": ["MIT"],
        "license_type": "permissive",
        "repo_name": repository,
        "snapshot_id": "5" * 40,
        "revision_id": "a" * 40,
        "branch_name": "refs/heads/main",
        "visit_date": None,
        "revision_date": None,
        "committer_date": None,
        "github_id": 1,
        "star_events_count": 3,
        "fork_events_count": 0,
        "gha_license_id": None,
        "gha_event_created_at": None,
        "gha_created_at": None,
        "gha_language": "Cuda",
        "src_encoding": "UTF-8",
        "language": "Cuda",
        "is_vendor": False,
        "is_generated": False,
        "length_bytes": len(content),
        "extension": path.rpartition(".")[2],
        **more,
    }


def kernel(number: int) -> bytes:
    return KERNEL.format(number).encode()


def write_metadata(folder: Path, **languages: list[dict[str, Any]]) -> Path:
    """A folder that ``load_dataset`` opens like the data set of the hub."""
    card = ["---", "configs:"]
    for language, lines in languages.items():
        card += [f"- config_name: {language}", f"  data_files: data/{language}/*.parquet"]
        path = folder / "data" / language / "train-00000-of-00001.parquet"
        path.parent.mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist(lines), path)
    (folder / "README.md").write_text("\n".join([*card, "---", ""]))
    return folder


def read(
    server: ObjectServer, metadata: Path, workdir: Path, **settings: Any
) -> tuple[list[Program | ReadReject], StoredTrees]:
    chosen = {"trees": "blobs", "back_off_seconds": 0.0, "attempts": 3, **settings}
    source = StackV2Source(
        StackV2Settings(
            metadata=str(metadata), store=f"http://127.0.0.1:{server.port}/content", **chosen
        ),
        ReadLimits(),
    )
    store = StoredTrees(Store(workdir / "trees"))
    return list(source.iterate(workdir, store)), store


@pytest.fixture
def metadata(server: ObjectServer, tmp_path: Path) -> Path:
    """Three files in big/one, one in small/two, one in also/two; a header in another language."""
    lines = [line(server, "big/one", f"src/k{number}.cu", kernel(number)) for number in range(3)]
    lines.insert(1, line(server, "small/two", "src/k.cu", kernel(7)))
    lines.append(line(server, "also/two", "k.cu", kernel(8)))
    header = line(server, "big/one", "include/scale.h", HEADER, language="C")
    return write_metadata(tmp_path / "metadata", Cuda=lines, C=[header])


def test_programs_come_by_repository_with_provenance_and_headers(
    server: ObjectServer, metadata: Path, tmp_path: Path
) -> None:
    items, store = read(server, metadata, tmp_path / "work", companions=["C"])
    programs = [item for item in items if isinstance(item, Program)]
    assert [(p.provenance.repository, p.path) for p in programs] == [
        ("big/one", "src/k0.cu"),
        ("big/one", "src/k1.cu"),
        ("big/one", "src/k2.cu"),
        ("also/two", "k.cu"),
        ("small/two", "src/k.cu"),
    ]
    row = programs[0].to_row()
    assert (row["origin"], row["license"]) == (Origin.STACK_V2.value, "MIT")
    assert row["revision"] == "a" * 40
    assert read_archive(store.get(programs[0].tree))["include/scale.h"] == HEADER


def test_top_repositories_only(server: ObjectServer, metadata: Path, tmp_path: Path) -> None:
    items, _ = read(server, metadata, tmp_path / "work", repositories=1)
    assert {item.provenance.repository for item in items} == {"big/one"}
    assert blob_id(kernel(7)) not in server.asked


def test_busy_and_broken_answers_are_asked_for_again(
    server: ObjectServer, metadata: Path, tmp_path: Path
) -> None:
    for number, fault in enumerate(("503", "truncated", "other")):
        server.faults[blob_id(kernel(number))] = [fault, "429"]
    items, _ = read(server, metadata, tmp_path / "work", repositories=1)
    assert all(isinstance(item, Program) for item in items)
    assert {server.asked[blob_id(kernel(number))] for number in range(3)} == {3}


def test_what_cannot_be_had_is_a_reject_that_says_why(
    server: ObjectServer, metadata: Path, tmp_path: Path
) -> None:
    del server.objects[blob_id(kernel(0))]
    server.faults[blob_id(kernel(1))] = ["other"] * 9
    items, _ = read(server, metadata, tmp_path / "work", repositories=1)
    gone, wrong, fine = items
    assert isinstance(gone, ReadReject) and isinstance(wrong, ReadReject)
    assert gone.reason is wrong.reason is Reason.UNREADABLE
    assert "HTTP status 404" in gone.message and server.asked[blob_id(kernel(0))] == 1
    assert "the content is that of" in wrong.message and server.asked[blob_id(kernel(1))] == 3
    assert isinstance(fine, Program)


def test_a_second_run_asks_for_what_is_missing_only(
    server: ObjectServer, metadata: Path, tmp_path: Path
) -> None:
    server.faults[blob_id(kernel(1))] = ["500"] * 3
    first, _ = read(server, metadata, tmp_path / "work")
    assert [type(item) for item in first].count(ReadReject) == 1
    server.asked.clear()
    second, _ = read(server, metadata, tmp_path / "work")
    assert all(isinstance(item, Program) for item in second)
    assert server.asked == {blob_id(kernel(1)): 1}


def test_requests_are_bounded(server: ObjectServer, tmp_path: Path) -> None:
    lines = [line(server, "a/b", f"k{number}.cu", kernel(number)) for number in range(60)]
    metadata = write_metadata(tmp_path / "metadata", Cuda=lines)
    server.together = 4
    items, _ = read(server, metadata, tmp_path / "work", concurrency=4)
    assert len(items) == 60
    assert server.most_at_once == 4


def test_encoding_of_the_metadata(server: ObjectServer, tmp_path: Path) -> None:
    text = "// Größe — 大きさ\n" + KERNEL.format(1)
    lines = [
        line(server, "a/b", "utf16.cu", text.encode("utf-16"), src_encoding="UTF-16"),
        line(server, "a/b", "wrong.cu", text.encode(), src_encoding="ascii-nonsense"),
    ]
    metadata = write_metadata(tmp_path / "metadata", Cuda=lines)
    items, _ = read(server, metadata, tmp_path / "work")
    assert [item.source for item in items if isinstance(item, Program)] == [text, text]


def test_unsafe_paths_and_empty_metadata(server: ObjectServer, tmp_path: Path) -> None:
    lines = [line(server, "a/b", "../../etc/k.cu", kernel(1))]
    metadata = write_metadata(tmp_path / "metadata", Cuda=lines)
    (item,) = read(server, metadata, tmp_path / "work")[0]
    assert isinstance(item, ReadReject) and item.reason is Reason.UNSAFE_PATH
    assert not server.asked or set(server.asked) == {blob_id(kernel(1))}


def test_a_repository_that_cannot_be_cloned_is_rebuilt(
    server: ObjectServer, metadata: Path, tmp_path: Path
) -> None:
    items, _ = read(
        server,
        metadata,
        tmp_path / "work",
        trees="clone",
        clone_url=f"file://{tmp_path}/nowhere/{{repository}}.git",
        repositories=1,
    )
    assert [type(item) for item in items] == [Program] * 3


def test_wrong_metadata_and_settings_say_what_would_do(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="accept its terms"):
        store = StoredTrees(Store(tmp_path / "trees"))
        settings = StackV2Settings(metadata=str(tmp_path / "nowhere"))
        list(StackV2Source(settings).iterate(tmp_path / "work", store))
    (tmp_path / "s.yaml").write_text("repositorys: 3\n")
    with pytest.raises(SourceError, match="repositories"):
        parse_source(f"stack-v2:{tmp_path / 's.yaml'}")


def test_a_clone_has_the_files_that_the_metadata_lacks(
    server: ObjectServer, tmp_path: Path
) -> None:
    origin = tmp_path / "hosts" / "a" / "b.git"
    write_files(origin, {"src/k.cu": kernel(1), "include/scale.h": HEADER, "LICENSE": "ISC"})
    git = ["git", "-C", str(origin), "-c", "user.name=n", "-c", "user.email=e@x"]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "m"]):
        subprocess.run([*git, *arguments], check=True)
    commit = subprocess.check_output([*git, "rev-parse", "HEAD"], text=True).strip()
    lines = [line(server, "a/b", "src/k.cu", kernel(1), revision_id=commit)]
    metadata = write_metadata(tmp_path / "metadata", Cuda=lines)
    url = f"file://{tmp_path}/hosts/{{repository}}.git"
    items, store = read(server, metadata, tmp_path / "work", trees="clone", clone_url=url)
    (program,) = items
    assert isinstance(program, Program)
    assert set(read_archive(store.get(program.tree))) == {"src/k.cu", "include/scale.h"}
    assert (program.provenance.origin, program.license) == (Origin.STACK_V2, "MIT")
    assert not server.asked


def test_each_repository_is_a_split_that_needs_no_metadata(
    server: ObjectServer, metadata: Path, tmp_path: Path
) -> None:
    expected, _ = read(server, metadata, tmp_path / "work", companions=["C"])
    settings = StackV2Settings(
        metadata=str(metadata),
        store=f"http://127.0.0.1:{server.port}/content",
        trees="blobs",
        companions=["C"],
    )
    splits = list(splits_of(StackV2Source(settings, ReadLimits()), tmp_path / "driver"))
    metadata.rename(tmp_path / "away")
    store = StoredTrees(Store(tmp_path / "trees"))
    found = [
        list(pickle.loads(pickle.dumps(split)).iterate(tmp_path / f"worker{number}", store))
        for number, split in enumerate(splits)
    ]
    assert [len(items) for items in found] == [3, 1, 1]
    assert [item for items in found for item in items] == expected
