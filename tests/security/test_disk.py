"""Requests that would fill the disk: jobs, their archives and results, built programs."""

from __future__ import annotations

import io
import os
import threading
import zipfile
from pathlib import Path

import pytest

from cass_ray.api.jobs import JobState

pytest.importorskip("ray.serve")

from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.protocol import NO_CONTEXT, Context, Translation
from serve.errors import ApiError
from serve.jobs.archive_jobs import ArchiveJobs
from serve.jobs.order import JobOrder
from serve.settings import JobSettings

ORDER = JobOrder(owner="", archive="archive.zip", engine="rules")
KERNEL = "__global__ void k(int *a) { a[0] = 1; }\n"


def zipped(**files: str | bytes) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, content in files.items():
            archive.writestr(f"{name}.cu", content)
    return data.getvalue()


def rules(folder: Path, **changes: int) -> ArchiveJobs:
    settings = JobSettings(folder=folder).model_copy(update=changes)
    return ArchiveJobs(settings, {"rules": lambda: make_translator("rules")})


class Held:
    """Translates when it is allowed to; says when it is asked."""

    name, version = "held", "1"

    def __init__(self) -> None:
        self.asked, self.allowed = threading.Event(), threading.Event()

    def translate(
        self, source: str, *, filename: str = "", context: Context = NO_CONTEXT
    ) -> Translation:
        self.asked.set()
        assert self.allowed.wait(60)
        return Translation(source)


def kept(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*") if path.is_file()}


def test_a_finished_job_keeps_its_result_and_what_that_changed(tmp_path: Path) -> None:
    jobs = rules(tmp_path)
    jobs.submit("me", "mine", zipped(a=KERNEL), ORDER)
    jobs.close()
    result = {"result.zip", "result.patch", "before.zip"}
    assert kept(tmp_path) == {"status.json", "order.json", *result}


@pytest.mark.parametrize("data", [b"PK\x03\x04 no archive", zipped()])
def test_a_failed_job_keeps_its_status_alone(data: bytes, tmp_path: Path) -> None:
    jobs = rules(tmp_path)
    job = jobs.submit("me", "mine", data, ORDER)
    jobs.close()
    assert jobs.status(job.id, "me").state is JobState.FAILED
    assert kept(tmp_path) == {"status.json", "order.json"}


def test_a_cancelled_job_keeps_its_status_alone(tmp_path: Path) -> None:
    held = Held()
    jobs = ArchiveJobs(JobSettings(folder=tmp_path), {"rules": lambda: held})
    running, waiting = (jobs.submit("me", "mine", zipped(a=KERNEL), ORDER) for _ in range(2))
    assert held.asked.wait(60)
    for job in (running, waiting):
        jobs.cancel(job.id, "me")
    held.allowed.set()
    jobs.close()
    assert kept(tmp_path) == {"status.json", "order.json"}


def big(fill: int) -> bytes:
    """An archive of 300 KB that does not shrink."""
    noise = "".join(f"// {os.urandom(32).hex()}\n" for _ in range(4500))
    return zipped(a=KERNEL + noise + f"// {fill}\n")


def test_old_results_of_a_key_make_room_for_its_new_ones(tmp_path: Path) -> None:
    made = []
    for number in range(12):
        jobs = rules(tmp_path, kept_mib_per_key=1)
        made.append(jobs.submit("me", "mine", big(number), ORDER).id)
        jobs.close()
    size = sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    assert size < 3 << 20
    left = {path.name for path in tmp_path.iterdir()}
    assert made[-1] in left
    assert made[0] not in left


def test_other_keys_results_stay_within_a_keys_share(tmp_path: Path) -> None:
    jobs = rules(tmp_path, kept_mib_per_key=1)
    theirs = jobs.submit("you", "yours", big(0), ORDER).id
    jobs.close()
    for number in range(6):
        jobs = rules(tmp_path, kept_mib_per_key=1)
        jobs.submit("me", "mine", big(number), ORDER)
        jobs.close()
    assert (tmp_path / theirs / "result.zip").exists()


def test_an_archive_beyond_a_keys_share_is_refused(tmp_path: Path) -> None:
    jobs = rules(tmp_path, kept_mib_per_key=1)
    with pytest.raises(ApiError) as caught:
        jobs.submit("me", "mine", b"x" * (1 << 20) + b"x", ORDER)
    assert caught.value.status == 429
    assert list(tmp_path.iterdir()) == []
    jobs.close()


def test_all_keys_together_have_a_share(tmp_path: Path) -> None:
    for number in range(8):
        jobs = rules(tmp_path, kept_mib=1)
        jobs.submit(f"key {number}", "mine", big(number), ORDER)
        jobs.close()
    assert sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()) < 3 << 20
