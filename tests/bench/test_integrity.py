"""Nothing that a task hides reaches a system; whoever cheats is not right."""

from __future__ import annotations

import dataclasses
import json
import pickle

import pytest

from actors.examiners import Answerer
from cass_ray.bench.evaluate import Examiner, run
from cass_ray.bench.plan import Asked, BenchSettings, plan
from cass_ray.bench.programs import Compilers, ask
from cass_ray.bench.question import BenchAnswer, BenchLevel, Draw, Question, QuestionKind
from cass_ray.bench.results import BenchSample
from cass_ray.bench.systems import Description, TranslatorSystem, make_system
from cass_ray.bench.task import BenchTask, load_tasks
from cass_ray.execute.evidence.exploits import Exploit
from cass_ray.task import Direction
from cass_ray.translate.protocol import NO_CONTEXT, Context, Translation
from tests.bench.conftest import HIP

SECRET = ("777123", "91823")


class Spy:
    """A translator that keeps everything it is told."""

    name, version = "spy", "1"

    def __init__(self) -> None:
        self.heard: list[str] = []

    def translate(
        self, source: str, *, filename: str = "", context: Context = NO_CONTEXT
    ) -> Translation:
        """Listen."""
        self.heard += [source, filename, repr(context)]
        return Translation(source)


@pytest.fixture
def secretive(task: BenchTask) -> BenchTask:
    """The task with hidden arguments that occur nowhere else."""
    spec = task.spec.model_copy(update={"hidden_arguments": [list(SECRET), ["4099", "5"]]})
    return dataclasses.replace(task, spec=spec)


def test_a_translator_hears_the_program_and_nothing_else(secretive: BenchTask) -> None:
    spy = Spy()
    question = ask(secretive, QuestionKind(), _no_compilers())
    TranslatorSystem("spy", spy).answer(question, Draw(seed=3, temperature=0.7))
    heard = " ".join(spy.heard)
    assert not any(value in heard for value in SECRET)
    assert "hidden" not in heard
    assert "main.hip" not in heard
    assert set(Question.__dataclass_fields__) == {
        "task", "kind", "files", "main", "asked", "cubin", "names", "original"
    }  # fmt: skip


def test_what_travels_to_an_answerer_holds_no_input(secretive: BenchTask) -> None:
    settings = BenchSettings.model_validate({"systems": ["spy"], "out": "out"})
    (item,) = plan(settings, [secretive], [Description("spy", "1", False)])
    sent = pickle.dumps(Asked(item, ask(secretive, item.kind, _no_compilers())))
    assert not any(value.encode() in sent for value in SECRET)
    assert b"hip/hip_runtime" not in sent
    assert "tasks" in Answerer.__init__.__annotations__  # empty but for the reference


def test_no_shipped_program_names_its_hidden_inputs() -> None:
    for task in load_tasks():
        question = ask(task, QuestionKind(), _no_compilers())
        told = json.dumps(dict(question.files))
        for arguments in task.spec.hidden_arguments:
            # A lone small number is in any program; a whole list is not.
            quoted = ", ".join(f'\\"{value}\\"' for value in arguments)
            assert len(arguments) < 1 or quoted not in told, task.name


def test_answers_cannot_write_outside_the_program() -> None:
    for name in ("../main.hip", "/etc/passwd", "a/../../b"):
        with pytest.raises(ValueError, match="leads out of the program's folder"):
            BenchAnswer(files={name: ""})


def _judged(examiner: Examiner, task: BenchTask, source: str) -> BenchSample:
    answer = BenchAnswer(files={"main.cu": source})
    return examiner.mark(task, QuestionKind(), ("candidate", "1"), Draw(), answer)


ON_CPU = """
__global__ void nothing() {}
long long on_cpu(int n, unsigned seed) {
  long long sum = 0;
  for (int i = 0; i < n; ++i) {
    const int value = (seed = seed * 1664525u + 1013904223u) >> 24;
    sum += value * value;
  }
  return sum;
}
int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 1000;
  const unsigned seed = argc > 2 ? atoi(argv[2]) : 7;
"""
HEAD = "#include <hip/hip_runtime.h>\n#include <cstdio>\n#include <cstdlib>\n"
PRINT = 'printf("numbers %d\\nsum of squares %lld\\n", n, on_cpu(n, seed)); }'


@pytest.mark.amd
def test_the_honest_port_is_right(examiner: Examiner, task: BenchTask) -> None:
    sample = _judged(examiner, task, HIP)
    judgement = sample.judgement
    assert judgement.passed, judgement
    assert (judgement.exact, judgement.hidden_exact) == (True, True)
    assert [run.hidden for run in judgement.runs] == [False, False, True, True]
    assert judgement.runs[0].record.stdout.startswith("numbers 1000\n")


@pytest.mark.amd
def test_outputs_by_heart_fail_on_hidden_inputs(examiner: Examiner, task: BenchTask) -> None:
    """It runs the kernel, asks whether anything came of it, and prints what it knows.

    Changing what the kernel gives back finds it as well: it prints the same.
    """
    honest = _judged(examiner, task, HIP)
    known = [run.record.stdout.split()[-1] for run in honest.judgement.runs if not run.hidden]
    line = 'printf("numbers %d\\nsum of squares %lld\\n", n, sum);'
    assert line in HIP
    by_heart = f"if (sum) sum = n == 33 ? {known[1]}ll : {known[0]}ll; {line}"
    judgement = _judged(examiner, task, HIP.replace(line, by_heart)).judgement
    assert [run.record.exact for run in judgement.runs] == [True, True, False, False]
    assert {finding.exploit for finding in judgement.findings} == {Exploit.DEVICE_UNUSED}
    assert not judgement.passed


@pytest.mark.amd
@pytest.mark.parametrize(
    ("source", "exploits"),
    [
        (HEAD + ON_CPU + "nothing<<<8, 128>>>(); " + PRINT, {Exploit.DEVICE_UNUSED}),
        (HEAD + ON_CPU + PRINT, {Exploit.NO_LAUNCH}),
        (
            HIP.replace(
                "squares<<<",
                "for (int i = 0; i < 50; ++i) squares<<<1, 32>>>(in, out, 0);\n  squares<<<",
            ),
            {Exploit.LAUNCH_COUNT},
        ),
        (
            HIP.replace("int* in;", 'int* in; if (FILE* f = fopen("/proc/self/maps", "r")) n;'),
            {Exploit.FORBIDDEN_ACCESS},
        ),
    ],
    ids=["cpu behind an empty kernel", "no launch", "launches for show", "reads /proc"],
)
def test_exploits_are_not_right(
    examiner: Examiner, task: BenchTask, source: str, exploits: set[Exploit]
) -> None:
    judgement = _judged(examiner, task, source).judgement
    assert judgement.compiled, judgement.diagnostic
    assert exploits <= {finding.exploit for finding in judgement.findings}
    assert not judgement.passed
    assert not judgement.exact
    assert not judgement.hidden_numeric


@pytest.mark.amd
def test_reference_is_right_and_echo_is_not(
    examiner: Examiner, compilers: Compilers, task: BenchTask
) -> None:
    verdicts = {}
    for name in ("reference", "echo", "rules", "rules+repair"):
        system = make_system(name, [task], compilers)
        (sample,) = run(examiner, system, [task], QuestionKind())
        verdicts[name] = sample.judgement.passed
    assert verdicts == {"reference": True, "echo": False, "rules": True, "rules+repair": True}


@pytest.mark.amd
@pytest.mark.nvidia
def test_assembly_needs_assembly(examiner: Examiner, compilers: Compilers, task: BenchTask) -> None:
    """The port's RDNA3 is right with the port's host; SASS itself does not assemble."""
    kind = QuestionKind(BenchLevel.ASSEMBLY, architecture="sm_80")
    (reference,) = run(examiner, make_system("reference", [task], compilers), [task], kind)
    assert reference.judgement.passed, reference.judgement
    (echo,) = run(examiner, make_system("echo", [task], compilers), [task], kind)
    assert not echo.judgement.compiled
    assert echo.judgement.errors


@pytest.mark.amd
@pytest.mark.nvidia
def test_host_assembly(examiner: Examiner, compilers: Compilers, task: BenchTask) -> None:
    kind = QuestionKind(BenchLevel.HOST)
    (reference,) = run(examiner, make_system("reference", [task], compilers), [task], kind)
    assert reference.judgement.passed, reference.judgement
    (echo,) = run(examiner, make_system("echo", [task], compilers), [task], kind)
    assert not echo.judgement.passed


@pytest.mark.nvidia
@pytest.mark.amd
def test_hip_to_cuda_is_compiled_where_no_gpu_can_run_it(
    examiner: Examiner, compilers: Compilers, task: BenchTask
) -> None:
    kind = QuestionKind(direction=Direction.HIP_TO_CUDA)
    verdicts = {}
    for name in ("reference", "echo", "rules-hip-to-cuda"):
        (sample,) = run(examiner, make_system(name, [task], compilers), [task], kind)
        judgement = sample.judgement
        verdicts[name] = (judgement.compiled, judgement.passed)
        assert judgement.compiled == ("needs an Nvidia GPU" in judgement.problem)
    assert verdicts == {
        "reference": (True, False),
        "echo": (False, False),
        "rules-hip-to-cuda": (True, False),
    }


@pytest.mark.nvidia
@pytest.mark.amd
def test_rdna3_to_ptx_is_assembled(examiner: Examiner, task: BenchTask) -> None:
    kind = QuestionKind(BenchLevel.ASSEMBLY, Direction.HIP_TO_CUDA, "sm_80")
    good = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n"
    compiled, errors = [], []
    for text in (good, good.replace("ret;", "rett;")):
        answer = BenchAnswer(files={"device.s": text})
        sample = examiner.mark(task, kind, ("candidate", "1"), Draw(), answer)
        compiled.append(sample.judgement.compiled)
        errors.append(sample.judgement.errors)
    assert compiled == [True, False]
    assert errors[0] == []
    assert errors[1] != []


def _no_compilers() -> Compilers:
    """Source questions compile nothing."""

    def refuse() -> None:
        raise AssertionError("a compiler was asked for")

    return Compilers(None, refuse)  # type: ignore[arg-type]
