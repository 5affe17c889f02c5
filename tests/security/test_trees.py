"""Trees with names of a stranger, translated and compiled as a whole: one file is one refusal."""

from __future__ import annotations

import io
import os
import subprocess
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

pytest.importorskip("ray.serve")

from cass_ray.api.jobs import JobState
from cass_ray.api.schema import Check
from cass_ray.commands.compile import app as compile_app
from cass_ray.commands.translate import app as translate_app
from cass_ray.toolchain.sandbox import isolation
from cass_ray.translate.engines.registry import make_translator
from serve.jobs.archive_jobs import ArchiveJobs
from serve.jobs.order import JobOrder
from serve.settings import JobSettings

RUN = CliRunner()
Pack = Callable[..., bytes]
KERNEL = "__global__ void k(int *p) { *p = 1; }\nint main() { cudaFree(0); return 0; }\n"
REFUSED = ("@x.cu", "-x.cu", "--config=x.cu", "@d/x.cu", "-d/x.cu")
STRANGE = {
    "a line end": "a\nb.cu",
    "an escape sequence": "\x1b[2Ja.cu",
    "bytes that are no text": os.fsdecode(b"\xff\xfe.cu"),
    "text that runs backwards": "a\u202euc.cu",
    "a shell's words": "$(touch x);`id`|& >x.cu",
    "quotes": "a'\"b.cu",
    "blanks": " a .cu",
    "markup": "[red]a[/x].cu",
    "a page's script": "<script>alert(1)<.cu",
    "percent signs": "%s%n%2e%2e.cu",
    "a comma": "a,b;c.cu",
    "a device of another system": "CON.cu",
    "a backslash": "..\\..\\a.cu",
    "250 characters": "n" * 250 + ".cu",
}


def write(folder: Path, *names: str) -> Path:
    for name in (*names, "good.cu"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(KERNEL)
    return folder


@pytest.mark.amd
@pytest.mark.parametrize("name", REFUSED)
def test_translating_a_folder(name: str, tmp_path: Path) -> None:
    if not isolation.available():
        pytest.skip(isolation.problem())
    tree, out = write(tmp_path / "in", name), tmp_path / "out"
    done = RUN.invoke(translate_app, [str(tree), "-o", str(out), "--check"])
    assert done.exit_code == 1
    assert "1 of 2 file(s) compile" in done.stderr
    assert "rename it" in done.stderr
    assert "hipFree" in (out / name).read_text() and "hipFree" in (out / "good.cu").read_text()


@pytest.mark.amd
@pytest.mark.nvidia
@pytest.mark.parametrize("name", ["@x.cu", "-x.cu", "@x.hip", "@x.cl"])
def test_compiling_a_file(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(KERNEL)
    done = RUN.invoke(compile_app, ["--", str(tmp_path / name)])
    assert done.exit_code == 1
    assert "rename it" in done.stderr


def zipped(*names: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name in (*names, "good.cu"):
            archive.writestr(name, KERNEL)
    return data.getvalue()


def tarred(*names: str) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name in (*names, "good.cu"):
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(KERNEL), 0o7777
            archive.addfile(member, io.BytesIO(KERNEL.encode()))
    return data.getvalue()


def finished(folder: Path, data: bytes, check: Check, archive: str) -> tuple[ArchiveJobs, str]:
    jobs = ArchiveJobs(JobSettings(folder=folder), {"rules": lambda: make_translator("rules")})
    order = JobOrder(owner="", archive=archive, engine="rules", check=check)
    job = jobs.submit("me", "mine", data, order)
    jobs.close()
    return jobs, job.id


@pytest.mark.amd
@pytest.mark.parametrize("name", REFUSED)
def test_a_job(name: str, tmp_path: Path) -> None:
    if not isolation.available():
        pytest.skip(isolation.problem())
    jobs, number = finished(tmp_path, zipped(name), Check.COMPILE, "archive.zip")
    status = jobs.status(number, "me")
    assert status.state is JobState.DONE, status.problem
    compiled = {file.path: file.compiled for file in status.files}
    assert compiled == {name: False, "good.cu": True}
    (refused,) = (file for file in status.files if not file.compiled)
    assert "rename it" in refused.diagnostic


@pytest.mark.parametrize("name", STRANGE)
def test_a_job_over_strange_names(name: str, tmp_path: Path) -> None:
    """Each comes back under its own name, or is left out by it."""
    jobs, number = finished(tmp_path, tarred(STRANGE[name]), Check.NONE, "archive.tar")
    status = jobs.status(number, "me")
    assert status.state is JobState.DONE, status.problem
    assert status.model_dump_json()
    assert "good.cu" in {file.path for file in status.files}
    assert len(status.files) + len(status.left_out) == 2
    with zipfile.ZipFile(io.BytesIO(jobs.result(number, "me"))) as packed:
        assert "good.cu" in packed.namelist()
        assert all(not info.external_attr >> 16 & 0o7000 for info in packed.infolist())


@pytest.mark.parametrize("name", STRANGE)
def test_translating_strange_names(name: str, tmp_path: Path) -> None:
    tree, out = write(tmp_path / "in", STRANGE[name]), tmp_path / "out"
    (tree / STRANGE[name]).chmod(0o6755)
    for _ in range(2):
        done = RUN.invoke(translate_app, [str(tree), "-o", str(out)])
        assert done.exit_code == 0, done.output
        assert not {"\x1b", "\u202e"} & set(done.output)
    assert "hipFree" in (out / STRANGE[name]).read_text()
    assert (out / STRANGE[name]).stat().st_mode & 0o7777 == 0o755


@pytest.mark.parametrize("kind", ["links", "a pipe", "a link to itself"])
def test_a_folder_of_what_is_no_file(kind: str, tmp_path: Path) -> None:
    tree, out = write(tmp_path / "in"), tmp_path / "out"
    secret = tmp_path / "secret.cu"
    secret.write_text("a secret of this machine")
    if kind == "links":
        (tree / "a.cu").symlink_to(secret)
        (tree / "d").symlink_to(tmp_path)
    elif kind == "a pipe":
        os.mkfifo(tree / "a.cu")
    else:
        (tree / "a.cu").symlink_to("a.cu")
    done = RUN.invoke(translate_app, [str(tree), "-o", str(out)])
    assert done.exit_code == 0, done.output
    assert [path.name for path in out.rglob("*.cu")] == ["good.cu"]


def test_folders_in_folders(tmp_path: Path) -> None:
    deep = write(tmp_path / "in")
    for _ in range(1200):
        deep /= "d"
        deep.mkdir()
    done = RUN.invoke(translate_app, [str(tmp_path / "in"), "-o", str(tmp_path / "out")])
    subprocess.run(["rm", "-r", tmp_path / "in"], check=True)  # pytest's own way recurs
    assert done.exit_code == 2
    assert "deeper than 200" in done.stderr


@pytest.mark.parametrize("depth", [100, 250, 1200])
@pytest.mark.parametrize("pack", [zipped, tarred])
def test_a_job_over_folders_in_folders(depth: int, pack: Pack, tmp_path: Path) -> None:
    name = "archive.zip" if pack is zipped else "archive.tar"
    jobs, number = finished(tmp_path, pack("d/" * depth + "a.cu"), Check.NONE, name)
    status = jobs.status(number, "me")
    assert status.state is JobState.DONE, status.problem
    assert len(status.files) + len(status.left_out) == 2
