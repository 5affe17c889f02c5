"""A timed run: its parts, the order of its phases, what becomes of one that is interrupted."""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from benchmarks.train import gpu
from recipes.judge import tools as judge_tools
from recipes.rl import loop as rl_loop
from recipes.small import model as small_model
from recipes.small import parts as small_parts
from recipes.timed import run as timed_run
from recipes.timed.arrival import arrived, take_parts
from recipes.timed.parts import write_parts
from recipes.timed.phases import (
    CPUS,
    GPUS,
    MORE_GPUS,
    Context,
    Lane,
    Phase,
    Plan,
    lane_environment,
    phases,
)
from recipes.timed.run import MARK, Conductor, marker, take_home


def shell(*commands: str) -> Callable[[Context], list[Lane]]:
    """Lanes beside each other."""
    return lambda at: [Lane([["sh", "-c", f"cd '{at.out}'; {each}"]]) for each in commands]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    def begin(*made: Phase, seconds: float = 100) -> Path:
        out = tmp_path / "out"
        (out / "code").mkdir(parents=True, exist_ok=True)
        timed_run.write_plan(Plan(time.time() + seconds, closing=10), out)
        monkeypatch.setattr(timed_run, "phases", lambda plan: list(made))
        Conductor(out).run()
        return out

    return begin


def problem(out: Path, name: str) -> str:
    found = marker(out, name)
    assert found is not None
    return str(found["problem"])


def test_phases_wait_for_what_they_need(run: Callable[..., Path]) -> None:
    out = run(
        Phase("learned", GPUS, [shell("cat data > model")], ("made",), records=("model",)),
        Phase("made", CPUS, [shell("sleep 0.3; echo 1 > data", "echo 2 > beside")]),
    )
    assert (out / "model").read_text() == "1\n" and (out / "beside").exists()
    take_home(out, out / "home")
    whole = b"".join(path.read_bytes() for path in sorted((out / "home").glob("records.*")))
    with tarfile.open(fileobj=io.BytesIO(whole)) as archive:
        assert {"model", "logs/made-1.log", "done/learned.json"} <= set(archive.getnames())
    status = json.loads((out / "home/status.json").read_text())
    assert status["phases"]["learned"]["problem"] == ""


def test_a_phase_that_fails_is_tried_in_its_next_way(run: Callable[..., Path]) -> None:
    out = run(
        Phase("made", GPUS, [shell("exit 3"), shell("echo 1 > model")]),
        Phase("lost", GPUS, [shell("exit 4")]),
        Phase("without", GPUS, [shell("touch without")], ("lost",)),
        Phase("with", GPUS, [shell("touch with")], after=("lost",)),
    )
    assert problem(out, "made") == ""
    assert "exit status 4" in problem(out, "lost")
    assert problem(out, "without").startswith("lost: ") and not (out / "without").exists()
    assert problem(out, "with") == "" and (out / "with").exists()


def test_a_run_goes_on_and_ends_what_it_had_left_running(run: Callable[..., Path]) -> None:
    made = Phase("made", GPUS, [shell("echo 1 >> times")])
    out = run(made)
    mark = {MARK: f"{out}:answered-0"}
    left = subprocess.Popen(["sleep", "60"], env=os.environ | mark)
    (out / "running/answered-0").touch()
    run(made, Phase("answered", GPUS, [shell("cp times answers")], ("made",)))
    assert left.wait(5) != 0
    assert (out / "answers").read_text() == "1\n"  # the phase that had ended did not run again


def test_what_takes_too_long_is_ended_with_all_it_started(
    run: Callable[..., Path],
) -> None:
    begins = "setsid sleep 60 & echo $! > child; sleep 60"
    started = time.monotonic()
    out = run(Phase("long", GPUS, [shell(begins)], longest=lambda plan: 1, least=0.5, grace=0))
    assert time.monotonic() - started < 30
    assert "exit status -9" in problem(out, "long")
    assert not Path(f"/proc/{(out / 'child').read_text().strip()}/exe").exists()


def test_nothing_is_begun_that_no_time_is_left_for(run: Callable[..., Path]) -> None:
    out = run(Phase("late", GPUS, [shell("touch late")], least=20), seconds=25)  # 10 are kept
    assert problem(out, "late") == "no time was left" and not (out / "late").exists()


@pytest.mark.parametrize("gpus", [2, 4])
def test_every_phase_needs_phases_that_come_before_it(gpus: int) -> None:
    made = phases(Plan(0, gpus=gpus))
    names = [phase.name for phase in made]
    for phase in made:
        assert all(
            names.index(need) < names.index(phase.name) for need in (*phase.needs, *phase.after)
        )


def commands(plan: Plan, out: Path) -> Iterator[tuple[Phase, Lane, Sequence[str]]]:
    """All commands of all attempts of the phases."""
    for phase in phases(plan):
        for attempt in phase.attempts:
            for lane in attempt(Context(out, plan, 100)):
                for command in lane.commands:
                    yield phase, lane, command


@pytest.mark.parametrize("gpus", [0, 1, 2, 4])
def test_commands_are_understood(gpus: int, tmp_path: Path) -> None:
    """By the modules that they call; torchrun's stand behind ``-m`` once more."""
    understand: dict[str, argparse.ArgumentParser] = {
        module.__name__: module.arguments()
        for module in (judge_tools, small_model, small_parts, rl_loop, gpu)
    }
    plan, seen = Plan(0, gpus=gpus, cores=16, second=["--other", "0"]), set()
    (tmp_path / "run/model_rl").mkdir(parents=True)
    for _, _, command in commands(plan, tmp_path):
        last = len(command) - 1 - list(reversed(command)).index("-m")
        name, *rest = command[last + 1 :]
        seen.add(name)
        if name in understand:
            parts = getattr(understand[name].parse_args(rest), "parts", None)
            if name == gpu.__name__:
                assert set(parts or ()) <= {*gpu.PARTS, *gpu.SCALING}
    measured = {gpu.__name__} if gpus > 1 else set()
    assert seen & understand.keys() == understand.keys() - {gpu.__name__} | measured


def test_the_second_arm_is_told_more_and_keeps_its_own_records(tmp_path: Path) -> None:
    plan = Plan(0, gpus=4, cores=64, rl=["--other", "0"], second=["--other", "0.2"])
    told = {
        phase.name: rl_loop.arguments().parse_args(command[3:])
        for phase, _, command in commands(plan, tmp_path)
        if phase.name.startswith("reinforced")
    }
    assert {name: (row.other, row.records, row.save) for name, row in told.items()} == {
        "reinforced": (0.0, tmp_path / "rl", tmp_path / "run/model_rl"),
        "reinforced_second": (0.2, tmp_path / "rl_second", tmp_path / "run/model_second"),
    }


def test_what_runs_at_the_same_time_has_gpus_of_its_own(tmp_path: Path) -> None:
    """With four: training has all; then two go on, two are for answers, losses and figures."""
    seen: dict[str, set[str]] = {GPUS: set(), MORE_GPUS: set()}
    plan = Plan(0, gpus=4, cores=64, second=["--other", "0"])
    for phase, lane, command in commands(plan, tmp_path):
        shown = lane_environment(lane).get("CUDA_VISIBLE_DEVICES")
        if phase.name == "trained":
            assert shown is None
            workers = command[command.index("--nproc-per-node") + 1]
            assert f"workers.number={workers}" in command
            assert f"data.recipe.row_tokens={65536 // int(workers)}" in command
        elif phase.resource in seen:
            assert shown is not None
            seen[phase.resource] |= set(shown.split(","))
    assert seen == {GPUS: {"0", "1"}, MORE_GPUS: {"2", "3"}}


def test_one_arm_has_all_gpus_and_nothing_else_is_measured(tmp_path: Path) -> None:
    plan = Plan(0, gpus=4, rl_gpus=4, cores=64, asked=["public", "bench"])
    shown: dict[str, list[str | None]] = {}
    for phase, lane, _ in commands(plan, tmp_path):
        shown.setdefault(phase.name, []).append(lane_environment(lane).get("CUDA_VISIBLE_DEVICES"))
    assert shown["reinforced"] == ["0,1,2,3"] * 2
    assert shown["answered"] == ["3", "2"]  # beside the first steps
    assert shown["answered_rl"] == ["0", "1", "2"]  # samples and both kinds of likeliest answers
    assert shown.keys().isdisjoint({"loss", "bf16", "reinforced_second"})


def test_the_losses_differ_in_the_kind_of_products_alone(tmp_path: Path) -> None:
    """The same rows: the same seed and data, in folders of their own."""
    told = {
        lane_environment(lane)["CUDA_VISIBLE_DEVICES"]: list(command)
        for phase, lane, command in commands(Plan(0, gpus=4, cores=64), tmp_path)
        if phase.name == "loss"
    }
    bf16, fp8 = told["2"], told["3"]
    different = [(a, b) for a, b in zip(bf16, fp8, strict=True) if a != b]
    assert different == [
        (str(tmp_path / "loss/bf16"), str(tmp_path / "loss/fp8")),
        ("model.fp8=False", "model.fp8=True"),
    ]


def test_without_being_told_anything_there_is_no_second_arm() -> None:
    assert "reinforced_second" not in {phase.name for phase in phases(Plan(0, gpus=4))}


def test_the_learner_reads_questions_once_and_then_tries_without(tmp_path: Path) -> None:
    shared = [
        "share_questions=true" in command
        for phase, _, command in commands(Plan(0, gpus=4), tmp_path)
        if phase.name == "reinforced"
    ]
    assert shared == [True, False]


@pytest.mark.parametrize(("gpus", "workers"), [(4, "44211"), (2, "22211"), (1, "11111")])
def test_training_is_tried_on_fewer_gpus(gpus: int, workers: str, tmp_path: Path) -> None:
    tried = [
        command[command.index("--nproc-per-node") + 1]
        for phase, _, command in commands(Plan(0, gpus=gpus, cores=64), tmp_path)
        if phase.name == "trained"
    ]
    assert "".join(tried) == workers


# --- Parts --------------------------------------------------------------------------------------


def write_wheel(folder: Path, name: str) -> Path:
    """A wheel of one module, whose ``ANSWER`` is 42, in a new folder."""
    folder.mkdir()
    about = f"{name}-1.dist-info"
    with zipfile.ZipFile(folder / f"{name}-1-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}.py", "ANSWER = 42\n")
        wheel.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
        wheel.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{about}/RECORD", "")
    return folder


@pytest.fixture
def parts(tmp_path: Path) -> list[Path]:
    data = tmp_path / "data"
    data.mkdir()
    for name, size in (("bench.json", 10), ("judge.00", 7000), ("judge.01", 3000)):
        (data / name).write_bytes(b"x" * size)
    wheels = write_wheel(tmp_path / "wheels", "timed_probe")
    return write_parts([data, wheels], tmp_path / "parts", 8000)


def test_parts_arrive_one_by_one(parts: list[Path], tmp_path: Path) -> None:
    assert [path.name for path in parts] == ["1", "2"]
    out = tmp_path / "out"
    take_parts(parts[0], out)
    assert arrived(out, "bench.json") and not arrived(out, "judge.")
    take_parts(parts[0], out)  # sent again
    take_parts(parts[1], out)
    assert arrived(out, "judge.") and not arrived(out, "deepspeed")
    assert (out / "parts/judge.01").read_bytes() == b"x" * 3000
    asked = "import timed_probe; print(timed_probe.ANSWER)"
    environment = os.environ | {"PYTHONPATH": str(out / "site")}
    said = subprocess.check_output([sys.executable, "-c", asked], env=environment)
    assert said.decode().strip() == "42"


def test_what_may_be_left_out_is_in_parts_of_its_own(tmp_path: Path) -> None:
    for name in ("data", "more"):
        (tmp_path / name).mkdir()
        (tmp_path / name / name).write_text(name)
    made = write_parts([tmp_path / "data"], tmp_path / "parts", 1000, [tmp_path / "more"])
    assert [sorted(path.name for path in part.iterdir()) for part in made] == [
        ["data", "manifest.json"],
        ["manifest.json", "more"],
    ]


def test_packages_that_came_apart_are_seen_where_they_are_asked_for(
    run: Callable[..., Path], tmp_path: Path
) -> None:
    wheels = write_wheel(tmp_path / "apart", "apart_probe")
    [_, part] = write_parts([tmp_path], tmp_path / "parts", apart=[wheels])
    out = tmp_path / "out"
    take_parts(part, out)
    assert arrived(out, "apart_probe")
    looks = f"{sys.executable} -c 'import apart_probe'"
    run(
        Phase("with", MORE_GPUS, [shell(looks)], apart=True),
        Phase("without", GPUS, [shell(looks)]),
    )
    assert problem(out, "with") == "" and "exit status 1" in problem(out, "without")


def test_what_failed_runs_again(run: Callable[..., Path]) -> None:
    failing = Phase("failing", GPUS, [shell("exit 1")])
    out = run(Phase("made", GPUS, [shell("true")]), Phase("well", GPUS, [shell("true")]), failing)
    timed_run.again(out, ["made"])
    assert [marker(out, name) is None for name in ("made", "well", "failing")] == [
        True,
        False,
        True,
    ]


def test_a_part_that_is_not_whole_is_an_error(parts: list[Path], tmp_path: Path) -> None:
    (parts[0] / "judge.00").write_bytes(b"x" * 6999)
    with pytest.raises(ValueError, match=r"judge\.00 did not arrive whole"):
        take_parts(parts[0], tmp_path / "out")


def test_a_call_may_wait_for_one_phase(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not for others, not beyond the machine's end, and not where nothing runs."""
    (tmp_path / "done").mkdir()
    monkeypatch.setattr(timed_run, "conducted", lambda out: True)

    def waited(seconds: float, left: float = 100) -> float:
        timed_run.write_plan(Plan(time.time() + left), tmp_path)
        started = time.monotonic()
        timed_run.wait_until(tmp_path, seconds, "weights")
        return time.monotonic() - started

    (tmp_path / "done/judge.json").write_text('{"problem": ""}')
    assert 0.9 < waited(1) < 5
    assert waited(60, left=9) < 5  # it is taken home 8 seconds before the end
    (tmp_path / "done/weights.json").write_text('{"problem": ""}')
    assert waited(60) < 1
    (tmp_path / "done/weights.json").unlink()
    monkeypatch.setattr(timed_run, "conducted", lambda out: False)
    assert waited(60) < 1


def test_a_call_brings_weights_or_records(run: Callable[..., Path], tmp_path: Path) -> None:
    out = run(Phase("made", CPUS, [shell("echo 1 > data")], records=("data",)))
    parts = out / "weights/rl"
    parts.mkdir(parents=True)
    for number in range(6):
        (parts / f"part.{number:02}").write_text(str(number))
    for more, wanted in (
        ({"weights": "rl:4"}, {"rl/part.04", "rl/part.05"}),
        ({"weights": "rl:0"}, {f"rl/part.0{number}" for number in range(4)}),
        ({}, {"status.json", "records.00"}),
    ):
        home = tmp_path / f"home{len(wanted)}{len(more)}"
        options = timed_run.arguments().parse_args([str(out), "--home", str(home)])
        vars(options).update(more)
        timed_run.call(options)
        found = {str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()}
        assert found == wanted
