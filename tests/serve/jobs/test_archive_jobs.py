"""Jobs: an archive in, its translated tree out."""

from __future__ import annotations

import io
import json
import subprocess
import tarfile
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

from cass_ray.api.jobs import JobState, JobStatus
from cass_ray.api.schema import EXAMPLE, Check
from cass_ray.translate.engines.registry import make_translator
from cass_ray.translate.protocol import NO_CONTEXT, Context, Translation
from serve.errors import ApiError
from serve.jobs.archive_jobs import REPORT, ArchiveJobs
from serve.jobs.order import JobOrder
from serve.settings import JobSettings
from tests.serve.conftest import Api

TREE = {
    "src/main.cu": EXAMPLE,
    "include/common.cuh": "#include <cuda_runtime.h>\n",
    "README.md": "cudaMalloc stays as it is here\n",
}


def zipped(files: dict[str, str]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return data.getvalue()


def finished(api: Api, job: str) -> dict[str, Any]:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        status: dict[str, Any] = api("GET", f"/v1/jobs/{job}").json()
        if status["state"] not in ("queued", "running"):
            return status
    raise AssertionError("the job does not end")


def test_zip_in_tree_out(api: Api) -> None:
    submitted = api("POST", "/v1/jobs?name=mine", content=zipped(TREE))
    assert submitted.status_code == 202
    job = submitted.json()["id"]
    status = finished(api, job)
    assert status["state"] == "done"
    actions = {file["path"]: file["action"] for file in status["files"]}
    assert actions == {
        "src/main.cu": "translated",
        "include/common.cuh": "translated",
        "README.md": "copied",
    }
    answer = api("GET", f"/v1/jobs/{job}/result")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert sorted(archive.namelist()) == sorted([*TREE, REPORT])
        assert b"hipMalloc" in archive.read("src/main.cu")
        assert archive.read("README.md").decode() == TREE["README.md"]
        assert json.loads(archive.read(REPORT))["engine"] == "rules"
    assert [each["id"] for each in api("GET", "/v1/jobs").json()] == [job]
    assert api("DELETE", f"/v1/jobs/{job}").status_code == 200
    assert api("GET", f"/v1/jobs/{job}").status_code == 404


def test_a_patch_and_both_texts_of_a_file(api: Api, tmp_path: Path) -> None:
    job = api("POST", "/v1/jobs", content=zipped(TREE)).json()["id"]
    assert finished(api, job)["state"] == "done"
    for name, text in TREE.items():
        (tmp_path / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tree" / name).write_text(text)
    patch = tmp_path / "port.patch"
    patch.write_bytes(api("GET", f"/v1/jobs/{job}/patch").content)
    subprocess.run(["git", "apply", str(patch)], cwd=tmp_path / "tree", check=True)
    result = api("GET", f"/v1/jobs/{job}/result").content
    with zipfile.ZipFile(io.BytesIO(result)) as archive:
        for name in TREE:
            assert (tmp_path / "tree" / name).read_bytes() == archive.read(name)
    for name, text in TREE.items():
        texts = api("GET", f"/v1/jobs/{job}/file", params={"path": name}).json()
        assert texts["before"] == text
        assert texts["after"] == (tmp_path / "tree" / name).read_text()
    for name in ("../../status.json", REPORT, "src"):
        assert api("GET", f"/v1/jobs/{job}/file", params={"path": name}).status_code == 404


def test_tar_and_members_that_lead_out(api: Api) -> None:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        for name in ("good.cu", "../../outside.cu"):
            member = tarfile.TarInfo(name)
            member.size = len(EXAMPLE)
            archive.addfile(member, io.BytesIO(EXAMPLE.encode()))
    status = finished(api, api("POST", "/v1/jobs", content=data.getvalue()).json()["id"])
    assert [file["path"] for file in status["files"]] == ["good.cu"]
    assert any("outside.cu" in line for line in status["left_out"])


@pytest.mark.parametrize(
    ("content", "query", "status"),
    [
        (b"no archive", "", 415),
        (zipped(TREE), "?engine=nobody", 404),
        (zipped(TREE), "?check=execute", 422),
    ],
)
def test_what_is_refused(api: Api, content: bytes, query: str, status: int) -> None:
    assert api("POST", f"/v1/jobs{query}", content=content).status_code == status


def test_archive_without_sources_fails_with_a_reason(api: Api) -> None:
    job = api("POST", "/v1/jobs", content=zipped({"a.txt": "x"})).json()["id"]
    status = finished(api, job)
    assert (status["state"], status["problem"]) == ("failed", "the archive holds no source file")
    assert api("GET", f"/v1/jobs/{job}/result").status_code == 409


@pytest.mark.amd
def test_compiled_jobs_say_which_file_does_not_compile(api: Api) -> None:
    tree = {**TREE, "src/broken.cu": "__global__ void k(int* p) { *p = nothing_of_this_name; }\n"}
    job = api("POST", "/v1/jobs?check=compile", content=zipped(tree)).json()["id"]
    files = {file["path"]: file for file in finished(api, job)["files"]}
    assert files["src/main.cu"]["compiled"] is True
    assert files["src/broken.cu"]["compiled"] is False
    assert "nothing_of_this_name" in files["src/broken.cu"]["diagnostic"]
    assert files["README.md"]["compiled"] is None


class Held:
    """Translates when it is allowed to; says when it is asked."""

    name, version = "held", "1"

    def __init__(self) -> None:
        import threading

        self.asked, self.allowed = threading.Event(), threading.Event()

    def translate(
        self, source: str, *, filename: str = "", context: Context = NO_CONTEXT
    ) -> Translation:
        self.asked.set()
        assert self.allowed.wait(60)
        return Translation(source)


def test_cancelled_while_it_runs(tmp_path: Path) -> None:
    held = Held()
    jobs = ArchiveJobs(JobSettings(folder=tmp_path), {"held": lambda: held})
    order = JobOrder(owner="", archive="archive.zip", engine="held")
    job = jobs.submit("me", "mine", zipped({"a.cu": "", "b.cu": ""}), order)
    assert held.asked.wait(60)
    assert jobs.cancel(job.id, "me").state is JobState.CANCELLED
    held.allowed.set()
    jobs.close()
    assert jobs.status(job.id, "me").state is JobState.CANCELLED
    assert jobs.status(job.id, "me").files_done <= 1


def test_other_keys_do_not_see_a_job(tmp_path: Path) -> None:
    jobs = ArchiveJobs(JobSettings(folder=tmp_path), {"rules": lambda: make_translator("rules")})
    order = JobOrder(owner="", archive="archive.zip", engine="rules")
    job = jobs.submit("me", "mine", zipped(TREE), order)
    jobs.close()
    for ask in (jobs.status, jobs.cancel, jobs.result):
        with pytest.raises(ApiError) as caught:
            ask(job.id, "somebody")
        assert caught.value.status == 404
    assert jobs.jobs("somebody") == []


def test_unfinished_jobs_are_begun_again_and_old_ones_forgotten(tmp_path: Path) -> None:
    settings = JobSettings(folder=tmp_path)
    make = {"rules": lambda: make_translator("rules")}
    first = ArchiveJobs(settings, make)
    order = JobOrder(owner="", archive="archive.zip", engine="rules")
    done, old, cut = (first.submit("me", "mine", zipped(TREE), order) for _ in range(3))
    first.close()

    def rewrite(job: str, **changes: Any) -> None:
        path = tmp_path / job / "status.json"
        status = JobStatus.model_validate_json(path.read_text()).model_copy(update=changes)
        path.write_text(status.model_dump_json())

    rewrite(old.id, expires=time.time() - 1)
    rewrite(cut.id, state=JobState.RUNNING, stage="translate", files=[])
    (tmp_path / cut.id / "archive.zip").write_bytes(zipped(TREE))  # gone only once it has ended
    second = ArchiveJobs(settings, make)
    second.close()
    assert {job.id for job in second.jobs("me")} == {done.id, cut.id}
    assert second.status(cut.id, "me").state is JobState.DONE
    assert second.result(cut.id, "me")
    assert not (tmp_path / old.id).exists()


def test_a_full_queue_refuses(tmp_path: Path) -> None:
    held = Held()
    jobs = ArchiveJobs(JobSettings(folder=tmp_path, waiting=1), {"held": lambda: held})
    order = JobOrder(owner="", archive="archive.zip", engine="held", check=Check.NONE)
    for _ in range(2):
        jobs.submit("me", "mine", zipped(TREE), order)
    with pytest.raises(ApiError) as caught:
        jobs.submit("me", "mine", zipped(TREE), order)
    assert (caught.value.status, caught.value.headers()) == (429, {"Retry-After": "30"})
    held.allowed.set()
    jobs.close()
