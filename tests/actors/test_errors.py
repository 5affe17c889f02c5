"""Errors of workers, as callers see them."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
import ray
from typer.testing import CliRunner

from actors.build_pipeline import quiet_data
from actors.errors import lost_processes, plain_errors
from actors.piece_tasks import TaskRunner
from cass_ray.exit_codes import EXIT_FAILED, no_room
from cass_ray.storage.errors import StorageError
from cass_ray.toolchain.errors import ToolMissing
from jobs import build_dataset


def refuse(batch: object) -> object:
    raise StorageError("s3://bucket/x: no space")


def overflow(batch: object) -> object:
    raise OSError(errno.ENOSPC, "No space left on device")


def lack(item: int) -> int:
    raise ToolMissing("nvcc", "Install it.")


def divide(item: int) -> float:
    return 1 / item


def test_an_error_with_a_message_is_what_it_was(node: None) -> None:
    with pytest.raises(ToolMissing) as lacking:
        list(TaskRunner().each(lack, [1]))
    assert str(lacking.value) == "nvcc is missing. Install it."
    quiet_data()
    with pytest.raises(StorageError) as refused, plain_errors():
        ray.data.range(1).map_batches(refuse).materialize()
    assert str(refused.value) == "s3://bucket/x: no space"
    with pytest.raises(OSError, match="No space left") as full, plain_errors():
        ray.data.range(1).map_batches(overflow).materialize()
    assert no_room(full.value) and not isinstance(full.value, ray.exceptions.RayError)


def test_an_error_of_ours_is_told_apart_without_a_cluster() -> None:
    trace = 'Traceback (most recent call last):\n  File "worker.py", line 1, in work\n'
    cause = ToolMissing("nvcc", "Run `make setup`.")
    error = ray.exceptions.RayTaskError("work", trace, cause, proctitle="ray::work()", pid=7)
    with pytest.raises(ToolMissing) as raised, plain_errors():
        raise error.as_instanceof_cause()
    assert str(raised.value) == "nvcc is missing. Run `make setup`."


def test_other_errors_say_where_they_happened(node: None) -> None:
    with pytest.raises(ray.exceptions.RayTaskError, match="in divide"):
        list(TaskRunner().each(divide, [0]))


def test_what_ray_lost_is_said_in_one_line() -> None:
    """The driver hears of the end of its node, which ends with its dashboard's agent."""
    raylet = ray.exceptions.LocalRayletDiedError()
    wrapped = RuntimeError("a batch failed")
    wrapped.__cause__ = raylet
    for error in (raylet, wrapped, ray.exceptions.NodeDiedError("the node died\nits log: x")):
        said = lost_processes(error)
        assert said.startswith("Ray ended under the job (") and "\n" not in said
    assert lost_processes(ValueError("a bug of ours")) == ""


def test_a_build_without_its_node_says_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ended(self: build_dataset.Build, resume: bool, *, overwrite: bool = False) -> None:
        raise ray.exceptions.LocalRayletDiedError

    monkeypatch.setattr(build_dataset.Build, "run", ended)
    done = CliRunner().invoke(build_dataset.app, ["--source", "shipped", "--out", str(tmp_path)])
    assert done.exit_code == EXIT_FAILED
    assert "LocalRayletDiedError" in done.output and "--resume" in done.output
