"""One build at a time for a place, and a data set that is whole or not there."""

from __future__ import annotations

import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from cass_ray.pipeline.output import (
    REPORT,
    FolderOutput,
    Output,
    OutputBusy,
    StorageOutput,
    output_at,
)

HOLD = """
import sys
from pathlib import Path
from cass_ray.pipeline.output import FolderOutput
with FolderOutput(Path(sys.argv[1])).held(resume=False):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_writer_is_refused_until_the_first_is_gone(tmp_path: Path) -> None:
    out = tmp_path / "new" / "out"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(out)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        busy = pytest.raises(OutputBusy, match=f"another build writes to {out}")
        with busy, FolderOutput(out).held(resume=True):
            pass
        holder.kill()  # a build that is killed leaves no lock behind
    with FolderOutput(out).held(resume=False):
        assert list(out.iterdir()) == []


@pytest.fixture
def stored() -> StorageOutput:
    return StorageOutput(f"memory://{uuid.uuid4().hex}")


def test_in_storage_a_build_that_died_is_taken_over_by_resuming(stored: StorageOutput) -> None:
    died = stored.held(resume=False)
    died.__enter__()
    with pytest.raises(OutputBusy, match=r"has been building here since .* --resume"):
        stored.held(resume=False).__enter__()
    with stored.held(resume=True):
        pass
    with stored.held(resume=False), pytest.raises(OutputBusy):
        stored.held(resume=False).__enter__()


@pytest.fixture(params=["folder", "storage"])
def output(request: pytest.FixtureRequest, tmp_path: Path) -> Output:
    return output_at(tmp_path if request.param == "folder" else f"memory://{uuid.uuid4().hex}")


def put(output: Output, *names: str) -> None:
    """Parts, and the report at the end."""
    with output.replaced(names):
        for name in names:
            output.store.put(f"{output.parts}/{name}".lstrip("/"), name.encode())
    output.store.put(REPORT, b"{}")


def test_parts_take_the_place_of_all_older_ones(output: Output) -> None:
    put(output, "pairs/part-0.parquet", "pairs/part-1.parquet", "rejects/part-0.parquet")
    put(output, "pairs/part-0.parquet", "rejects/part-0.parquet")
    assert output.store.names("pairs") == ["part-0.parquet"]
    assert output.store.names("") == [REPORT]


def test_after_an_error_a_data_set_is_the_old_one_or_not_whole(output: Output) -> None:
    put(output, "pairs/part-0.parquet", "rejects/part-0.parquet")
    with pytest.raises(RuntimeError), output.replaced(["pairs/part-0.parquet"]):
        output.store.put(f"{output.parts}/pairs/part-0.parquet".lstrip("/"), b"new")
        raise RuntimeError("source broke")
    if isinstance(output, FolderOutput):
        assert output.store.read("pairs/part-0.parquet") == b"pairs/part-0.parquet"
        assert output.store.names("") == [REPORT]
    else:
        assert output.store.names("") == []
