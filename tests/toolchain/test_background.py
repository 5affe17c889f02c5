from __future__ import annotations

import contextvars
import threading
from pathlib import Path

import pytest

from cass_ray.toolchain.background import background_work
from cass_ray.toolchain.sandbox.process import ABANDON, Abandoned, Completed, run


def sleeping(folder: Path, ended: list[Completed]) -> None:
    ended.append(run(["/bin/sleep", "100"], cwd=folder))


def test_the_result_and_the_error_of_the_work() -> None:
    with background_work(lambda: 6 * 7) as waited:
        assert waited() == 42
    with background_work(lambda: int("seven")) as waited, pytest.raises(ValueError, match="seven"):
        waited()


def test_work_is_ended_with_a_block_that_fails(tmp_path: Path) -> None:
    ended: list[Completed] = []
    with pytest.raises(KeyError), background_work(lambda: sleeping(tmp_path, ended)):
        raise KeyError
    assert ended == []


def test_work_is_ended_when_the_block_is_abandoned(tmp_path: Path) -> None:
    abandon = threading.Event()

    def work() -> None:
        ABANDON.set(abandon)
        with background_work(lambda: sleeping(tmp_path, [])) as waited:
            abandon.set()
            waited()

    with pytest.raises(Abandoned):
        contextvars.copy_context().run(work)
