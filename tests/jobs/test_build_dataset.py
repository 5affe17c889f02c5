"""The main job end to end: real compilers, a real local Ray cluster."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import datasets
import pytest
import ray

from cass_ray.dataset.parquet import read_rows
from cass_ray.toolchain.locate import find_amd
from tests.jobs.conftest import GOOD, REPOSITORY, build, parquet_bytes, start

pytestmark = [pytest.mark.nvidia, pytest.mark.amd]


AT_WORK = re.compile(r"NvidiaCompiler\)*\.submit")


def wait_until(condition: Callable[[], bool], seconds: float = 300.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "condition not met in time"
        time.sleep(0.02)


def committed(out: Path) -> list[Path]:
    """Finished blocks."""
    return list(out.glob(".work/blocks-*/entries/*.json"))


def test_every_row_ends_in_pairs_or_rejects(reference: Path) -> None:
    pairs = list(read_rows(reference))
    assert [row["filename"] for row in pairs] == [f"scale{number}.cu" for number in range(GOOD)]
    (reject,) = read_rows(reference, "rejects")
    assert (reject["filename"], reject["reason"]) == ("broken.cu", "compile_error")
    assert "index" in reject["diagnostic"]
    report = json.loads((reference / "report.json").read_text())
    assert (report["rows"], report["pairs"]) == (GOOD + 1, GOOD)


def test_each_side_holds_what_its_compiler_made(reference: Path) -> None:
    for number, row in enumerate(read_rows(reference)):
        assert row["kernels"] == [f"scale{number}"]
        assert "FFMA" in row["cuda_device"]
        assert "global_load_b32" in row["hip_device"]
        assert "cudaMalloc" in row["cuda_host"]
        assert "hipMalloc" in row["hip_host"]
        assert ".nv_fatbin" not in row["cuda_host"]
        assert "hipMalloc" in row["hip_source"]
        assert "cuda" not in row["hip_source"]
        assert row["verified"] == "compiled"


def test_rdna3_column_assembles(reference: Path) -> None:
    amd = find_amd()
    for row in read_rows(reference, columns=["hip_device"]):
        assert amd.assemble(row["hip_device"]).startswith(b"\x7fELF")


def test_datasets_and_ray_open_it(reference: Path, tmp_path: Path) -> None:
    parts = str(reference / "pairs/*.parquet")
    loaded = datasets.load_dataset("parquet", data_files=parts, cache_dir=str(tmp_path))
    assert loaded["train"].num_rows == GOOD
    script = "import ray; from actors.session import start_local\n"
    script += "start_local(lean=True, num_cpus=1, log_to_driver=False)\n"
    script += f"print(ray.data.read_parquet({str(reference / 'pairs')!r}).count())"
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split()[-1] == str(GOOD)


@pytest.mark.slow
def test_killed_driver_then_resume_gives_the_same_bytes(
    corpus: Path, reference: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    arguments = ["--source", f"local:{corpus}", "--out", str(out), "--set", "rows_per_block=2"]
    arguments += ["--set", "cache=false"]
    process = start(arguments, environment, tmp_path / "first.log")
    wait_until(lambda: len(committed(out)) >= 1 or process.poll() is not None)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    finished = len(committed(out))
    assert finished >= 1
    assert not (out / "pairs").exists()
    build([*arguments, "--resume"], environment, tmp_path / "second.log")
    assert parquet_bytes(out) == parquet_bytes(reference)


@pytest.mark.slow
def test_killed_actor_costs_no_row(
    corpus: Path, reference: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    arguments = ["--source", f"local:{corpus}", "--out", str(out), "--set", "rows_per_block=2"]
    process = start([*arguments, "--set", "cache=false"], environment, tmp_path / "log")
    victims: list[int] = []

    def caught() -> bool:
        # Ray puts the method that runs into the title: an actor is killed at work.
        victims.extend(pid for pid in actors_of(process.pid) if AT_WORK.search(title(pid)))
        return bool(victims) or process.poll() is not None

    wait_until(caught)
    assert victims, (tmp_path / "log").read_text()
    os.kill(victims[0], signal.SIGKILL)
    assert process.wait(timeout=300) == 0, (tmp_path / "log").read_text()
    assert parquet_bytes(out) == parquet_bytes(reference)


def title(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def actors_of(driver: int) -> list[int]:
    """Ray workers below ``driver``, however deep."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
        except OSError:
            continue
        children.setdefault(parent, []).append(int(folder.name))
    found, pending = [], [driver]
    while pending:
        below = children.get(pending.pop(), [])
        found += below
        pending += below
    return [pid for pid in found if title(pid).startswith("ray::")]


def test_unchanged_input_needs_no_compiler_and_no_cluster(
    corpus: Path, reference: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    arguments = ["--source", f"local:{corpus}", "--set", "rows_per_block=2", "--out"]
    build([*arguments, str(tmp_path / "a")], environment, tmp_path / "a.log")
    # The second run must not even try to import Ray.
    (tmp_path / "without").mkdir()
    (tmp_path / "without" / "ray.py").write_text("raise ImportError('no Ray here')\n")
    paths = os.pathsep.join([str(tmp_path / "without"), os.environ.get("PYTHONPATH", "")])
    build(
        [*arguments, str(tmp_path / "b")], {**environment, "PYTHONPATH": paths}, tmp_path / "b.log"
    )
    assert parquet_bytes(tmp_path / "b") == parquet_bytes(reference)


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["--out", "x"], 2, "sources"),
        (["--source", "shiped", "--out", "x"], 2, "shipped"),
        (["--source", "local:/nowhere", "--out", "x"], 2, "/nowhere"),
        (["--source", "shipped", "--out", "x", "--arch", "sm_10"], 2, "sm_80"),
        (["--source", "shipped", "--out", "x", "--set", "rows_per_blok=2"], 2, "rows_per_block"),
    ],
)
def test_wrong_settings_exit_2_and_say_what_would_do(
    arguments: list[str], status: int, message: str, environment: dict[str, str], tmp_path: Path
) -> None:
    process = start(arguments, environment, tmp_path / "log")
    assert process.wait(timeout=60) == status
    assert message in (tmp_path / "log").read_text()


def test_ray_is_not_left_running() -> None:
    assert not ray.is_initialized()


@pytest.mark.slow
def test_submitted_to_a_cluster_it_gives_the_same_bytes(
    corpus: Path, reference: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    cass = [sys.executable, "-m", "cass_ray.cli", "cluster"]
    environment = {**environment, "CASS_CACHE": str(tmp_path / "cache")}
    subprocess.run([*cass, "up", "--slots", "1"], env=environment, check=True)
    try:
        job = ["python", "jobs/build_dataset.py", "--source", f"local:{corpus}"]
        job += ["--out", str(tmp_path / "out"), "--set", "rows_per_block=2"]
        command = [*cass, "submit", "--working-dir", str(REPOSITORY), "--", *job]
        subprocess.run(command, env=environment, check=True)
    finally:
        subprocess.run([*cass, "down"], env=environment, check=True)
    assert parquet_bytes(tmp_path / "out") == parquet_bytes(reference)


def test_an_empty_source_fails_and_leaves_the_data_set(
    reference: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    before = (reference / "report.json").read_bytes()
    for options in ([], ["--overwrite"]):
        arguments = ["--source", f"local:{tmp_path / 'empty'}", "--out", str(reference), *options]
        process = start(arguments, environment, tmp_path / "log")
        assert process.wait(timeout=300) == (1 if options else 2), (tmp_path / "log").read_text()
    assert "no program is there" in (tmp_path / "log").read_text()
    assert (reference / "report.json").read_bytes() == before
    assert len(list(read_rows(reference))) == GOOD
