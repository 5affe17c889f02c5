"""Whoever asks for a verdict on a port gets the same grade."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import pytest
from typer.testing import CliRunner

from cass_ray.api.schema import Check, TranslateRequest
from cass_ray.bench.judge import Judge
from cass_ray.bench.programs import Compilers, ask
from cass_ray.bench.question import BenchAnswer, QuestionKind
from cass_ray.bench.task import CANARY, load_task
from cass_ray.cache import ContentCache
from cass_ray.commands.verify import app as verify_app
from cass_ray.corpus.reading.source_files import Sources
from cass_ray.dataset.row import Verified
from cass_ray.execute.backends.base import Inputs
from cass_ray.execute.backends.lifted import LiftedBackend
from cass_ray.execute.backends.rdna3 import Rdna3Backend
from cass_ray.execute.grades import Grade
from cass_ray.execute.originals import attempt
from cass_ray.execute.references import ReferenceRuns
from cass_ray.execute.references_json import to_json
from cass_ray.execute.rewards.settings import RewardSettings
from cass_ray.execute.rewards.verdicts import RewardItem
from cass_ray.execute.targets import as_hip
from cass_ray.pipeline.stages.execute import ExecuteStage
from cass_ray.pipeline.stages.reference import REFERENCE_COLUMN
from cass_ray.toolchain.locate import find_nvidia
from tests.security.forgeries.programs import FORGERIES, ORIGINAL, USAGE_ALONE

pytestmark = [pytest.mark.nvidia, pytest.mark.amd]

ARGUMENTS = ["50"]


def _by_rules(original: str) -> str:
    name = "program.cu"
    made = as_hip(Sources(PurePosixPath(name), {name: original.encode()}))
    return made.files[name].decode()


NOTHING = USAGE_ALONE.replace("argc < 2", "argc < 3")
GOOD = _by_rules(ORIGINAL)
PORTS = {
    "good": (ORIGINAL, GOOD, Grade.VERIFIED),
    "wrong": (ORIGINAL, GOOD.replace("3.0f", "3.5f"), Grade.DIFFERS),
    "forged": (ORIGINAL, FORGERIES["the right kernel runs and the CPU answers"], Grade.DIFFERS),
    "launches nothing": (NOTHING, _by_rules(NOTHING), Grade.CANNOT_TELL),
}
"""Original, port, and what the grade is by SECURITY.md."""

Door = Callable[[str, str, Path, list[str]], str]


def command_line(original: str, port: str, folder: Path, arguments: list[str]) -> str:
    (folder / "original.cu").write_text(original)
    (folder / "port.hip").write_text(port)
    asked = [str(folder / "original.cu"), str(folder / "port.hip"), "--json"]
    done = CliRunner().invoke(verify_app, [*asked, "--with", " ".join(arguments)])
    return str(json.loads(done.stdout)["grade"])


def agents(original: str, port: str, folder: Path, arguments: list[str]) -> str:
    pytest.importorskip("mcp")
    from tests.agents.test_server import call

    (folder / "original.cu").write_text(original)
    (folder / "port.hip").write_text(port)
    asked = {"original": "original.cu", "port": "port.hip", "inputs": [arguments]}
    (target,) = call(folder, "verify", **asked, targets=["gfx1100"])["targets"].values()
    return str(target["grade"])


def service(original: str, port: str, folder: Path, arguments: list[str]) -> str:
    pytest.importorskip("ray.serve")
    from serve.check.checker import Checker, CheckRequest
    from serve.settings import ServeSettings

    request = TranslateRequest.model_validate(
        {"source": original, "check": Check.EXECUTE, "inputs": [{"arguments": arguments}]}
    )
    asked = CheckRequest(request=request, engine="somebody", translation=port)
    *_, last = Checker(ServeSettings().checker).stages(asked)
    assert last.execution is not None
    return last.execution.grade


def reward(original: str, port: str, folder: Path, arguments: list[str]) -> str:
    judge = RewardSettings(backend="rdna3", cached=False).judge()
    return judge.judge(
        RewardItem(question=original, answer=f"```hip\n{port}\n```", inputs=[arguments])
    ).grade


def benchmark(original: str, port: str, folder: Path, arguments: list[str]) -> str:
    import yaml

    place = folder / "basic_operations" / "wave"
    place.mkdir(parents=True)
    (place / "main.cu").write_text(f"// {CANARY}\n{original}")
    (place / "main.hip").write_text(f"// {CANARY}\n{_by_rules(original)}")
    spec = {
        "name": "wave",
        "category": "Basic Operations",
        "difficulty": "easy",
        "features": ["grid_stride"],
        "description": "A parabola.",
        "arguments": [arguments, ["64"]],
        "hidden_arguments": [["33"], ["77"]],
        "comparison": {"kind": "numeric"},
    }
    (place / "task.yaml").write_text(yaml.safe_dump(spec))
    task = load_task(place)
    cache = ContentCache(folder / "results")
    compilers = Compilers(Rdna3Backend(threads=1), find_nvidia, cache)
    question = ask(task, QuestionKind(), compilers)
    answer = BenchAnswer(files={question.main: port})
    made = Judge(compilers, cache).judge(task, question, answer)
    assert made.passed == (made.grade == Grade.VERIFIED)
    return made.grade


def row(original: str, port: str, folder: Path, arguments: list[str]) -> str:
    backend = Rdna3Backend(threads=1)
    sources = Sources(PurePosixPath("program.cu"), {"program.cu": original.encode()})
    reference = attempt(sources, LiftedBackend(threads=1), [Inputs(tuple(arguments))])
    assert isinstance(reference, ReferenceRuns)
    texts = backend.compile(Sources(PurePosixPath("p.hip"), {"p.hip": port.encode()}))
    (made,) = ExecuteStage(backend).run(
        [
            {
                "id": "none",
                "path": "program.cu",
                "cuda_source": original,
                "cuda_device": "",
                "hip_source": port,
                "hip_host": texts.host,
                "hip_device": texts.device,
                "verified": Verified.COMPILED.value,
                "executed": False,
                "reason": None,
                REFERENCE_COLUMN: to_json(reference),
            }
        ]
    )
    assert (made["verified"] == Verified.EXECUTED.value) == (
        made["evidence"]["grade"] == Grade.VERIFIED
    )
    return str(made["evidence"]["grade"])


DOORS: dict[str, Door] = {
    each.__name__: each for each in (command_line, agents, service, reward, benchmark, row)
}


@pytest.fixture(autouse=True)
def compilers() -> None:
    if problem := LiftedBackend().problem():
        pytest.skip(problem)


@pytest.mark.parametrize("port", PORTS)
@pytest.mark.parametrize("door", DOORS)
def test_every_door_says_the_same_grade(door: str, port: str, tmp_path: Path) -> None:
    original, text, grade = PORTS[port]
    assert DOORS[door](original, text, tmp_path, ARGUMENTS) == grade


@pytest.mark.parametrize("door", ["command_line", "agents", "service", "reward"])
def test_where_no_size_is_given_one_is_tried(door: str, tmp_path: Path) -> None:
    """96 fills three blocks; tasks and rows have argument lists of their own."""
    assert "(n + 31) / 32" in GOOD
    wrong = GOOD.replace("(n + 31) / 32", "n / 32")
    assert DOORS[door](ORIGINAL, wrong, tmp_path, []) == Grade.DIFFERS
    (tmp_path / "right").mkdir()
    assert DOORS[door](ORIGINAL, GOOD, tmp_path / "right", []) == Grade.VERIFIED
