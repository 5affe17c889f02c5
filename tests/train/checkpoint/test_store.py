"""Checkpoints: whole or not there, kept by policy, read back in other pieces."""

from pathlib import Path

import pytest
import torch

from cass_ray.train.checkpoint.reader import CheckpointReader
from cass_ray.train.checkpoint.store import CheckpointError, CheckpointStore
from cass_ray.train.checkpoint.writer import CheckpointWriter
from cass_ray.train.settings import CheckpointSettings

VALUES = torch.arange(10, dtype=torch.float32)


def write(url: str, step: int, workers: int = 2, **notes) -> None:
    """``workers`` workers write halves of one parameter."""
    store = CheckpointStore(url)
    writers = [CheckpointWriter(store, rank, workers) for rank in range(workers)]
    for rank, (writer, part) in enumerate(zip(writers, VALUES.chunk(workers), strict=True)):
        start = rank * len(VALUES.chunk(workers)[0])
        writer.start(step, [(f"weight|w|{start}", part + step)], notes)
    for writer in writers:
        writer.finish()
    assert writers[0].commit() == [step]


@pytest.fixture(params=["file", "memory"])
def url(request, tmp_path):
    """A folder, and a remote store."""
    return str(tmp_path) if request.param == "file" else f"memory://{tmp_path}"


def test_any_piece_is_read_whoever_wrote_it(url):
    write(url, 3)
    reader = CheckpointReader(CheckpointStore(url), 3)
    for start in range(10):
        for size in range(1, 11 - start):
            found = reader.read("weight", "w", start, size)
            assert found.tolist() == (VALUES[start : start + size] + 3).tolist()
    reader.close()


def test_a_piece_that_is_not_there_is_an_error(url):
    write(url, 3)
    reader = CheckpointReader(CheckpointStore(url), 3)
    with pytest.raises(CheckpointError, match="lacks 2 of 6 elements of weight of w"):
        reader.read("weight", "w", 6, 6)


def test_a_checkpoint_that_one_worker_did_not_finish_does_not_count(url):
    write(url, 2)
    store = CheckpointStore(url)
    writer = CheckpointWriter(store, 0, 2)
    writer.start(4, [("weight|w|0", VALUES)], {})
    writer.finish()
    assert writer.commit() == []
    assert store.steps() == [2]


def test_what_a_dead_run_left_is_not_completed_by_the_next(url):
    """Seals of both workers of an attempt that was killed before its commit."""
    write(url, 2)
    store = CheckpointStore(url)
    for rank in (0, 1):
        writer = CheckpointWriter(store, rank, 2)
        writer.start(4, [("weight|w|0", VALUES)], {})
        writer.finish()
    write(url, 6)
    store.remove_after(2)
    assert store.steps() == [2]
    writer = CheckpointWriter(store, 0, 2)
    writer.start(4, [("weight|w|0", VALUES)], {})
    writer.finish()
    assert writer.commit() == []


@pytest.mark.parametrize("harm", ["flip", "cut", "remove", "manifest"])
def test_a_corrupt_checkpoint_is_passed_over_and_said_so(tmp_path, harm):
    write(str(tmp_path), 2)
    write(str(tmp_path), 4)
    folder = tmp_path / "step-00000004"
    part = next(folder.glob("part-*"))
    data = bytearray(part.read_bytes())
    if harm == "flip":
        data[-3] ^= 1
        part.write_bytes(data)
    elif harm == "cut":
        part.write_bytes(data[:-1])
    elif harm == "remove":
        part.unlink()
    else:
        (folder / "manifest.json").write_text("{")
    said: list[str] = []
    assert CheckpointStore(str(tmp_path)).latest(said.append) == 2
    assert len(said) == 1
    assert said[0].startswith("checkpoint of step 4 is corrupt (")


def test_the_policy_keeps_newest_best_and_milestones(url):
    for step, loss in ((10, 3.0), (20, 1.0), (30, 2.0), (40, 2.5), (50, 2.2)):
        write(url, step, workers=1, held_out_loss=loss)
    store = CheckpointStore(url)
    gone = store.prune(CheckpointSettings(keep=1, keep_best=True, keep_every=30))
    assert sorted(gone) == [10, 40]
    assert store.steps() == [50, 30, 20]
    store.prune(CheckpointSettings(keep=2, keep_best=False))
    assert store.steps() == [50, 30]


def test_a_failed_write_is_raised_in_the_training_loop(tmp_path, monkeypatch):
    store = CheckpointStore(str(tmp_path))
    writer = CheckpointWriter(store, 0, 1)

    def refuse(*_):
        raise OSError("no space left on device")

    monkeypatch.setattr(store.files, "put_file", refuse)
    writer.start(1, [("weight|w|0", VALUES)], {})
    with pytest.raises(CheckpointError, match="no space left on device"):
        writer.finish()
    assert store.steps() == []


def test_a_file_has_its_name_once_it_is_complete(tmp_path, monkeypatch):
    """Workers read what others say they have written, as soon as it is there."""
    path, seen = tmp_path / "done-00000-of-00001.json", []
    write_bytes = Path.write_bytes

    def interrupted(part: Path, content: bytes) -> int:
        write_bytes(part, content[:1])
        seen.append(path.exists())
        return write_bytes(part, content)

    monkeypatch.setattr(Path, "write_bytes", interrupted)
    CheckpointStore(str(tmp_path)).write_whole(str(path), b'{"part": [1, 2]}')
    assert seen == [False]
    assert path.read_bytes() == b'{"part": [1, 2]}'
