"""OpenCL tasks: device code only, under the host part of the HIP port."""

from __future__ import annotations

from pathlib import Path

import pytest

from cass_ray.bench.evaluate import Examiner
from cass_ray.bench.judge import Judge
from cass_ray.bench.plan import BenchSettings, plan
from cass_ray.bench.programs import Compilers, can_ask
from cass_ray.bench.question import BenchAnswer, BenchLevel, Draw, QuestionKind
from cass_ray.bench.systems import Description, ReferenceSystem
from cass_ray.bench.task import BenchTask, load_tasks
from cass_ray.task import Direction

NAME = "opencl_segmented_scan"
SASS = QuestionKind(BenchLevel.ASSEMBLY, architecture="sm_80")


@pytest.fixture(scope="module")
def scan() -> BenchTask:
    (task,) = load_tasks(only=[NAME])
    return task


def test_only_machine_code_is_asked(scan: BenchTask) -> None:
    back = QuestionKind(BenchLevel.ASSEMBLY, Direction.HIP_TO_CUDA, "sm_80")
    asked = [
        can_ask(scan, kind) for kind in (QuestionKind(), QuestionKind(BenchLevel.HOST), SASS, back)
    ]
    assert asked == [False, False, True, False]
    (saxpy,) = load_tasks(only=["saxpy_grid_stride"])
    tasks, systems = [scan, saxpy], [Description("echo", "1", samples=False)]
    source = plan(BenchSettings(systems=["echo"], out=Path("x")), tasks, systems)
    assert [item.task for item in source] == ["saxpy_grid_stride"]
    settings = BenchSettings(systems=["echo"], out=Path("x"), level=BenchLevel.ASSEMBLY)
    assert [item.task for item in plan(settings, tasks, systems)] == [NAME, "saxpy_grid_stride"]


@pytest.mark.nvidia
@pytest.mark.amd
def test_opencl_code_runs_under_the_port_s_host(scan: BenchTask, compilers: Compilers) -> None:
    examiner = Examiner(compilers, Judge(compilers, compilers.cache))
    reference = ReferenceSystem([scan], compilers)
    question = examiner.question(scan, SASS)
    assert not isinstance(question, str)
    assert "scan_groups" in question.files[question.main]
    answer = examiner.ask(scan, reference, SASS, Draw())
    text = answer.files[question.main]
    assert ".amdhsa_kernel scan_groups" in text
    right = examiner.mark(scan, SASS, ("reference", "1"), Draw(), answer)
    assert right.judgement.exact
    assert right.judgement.hidden_exact
    # The first addition of the scan made a subtraction: another program.
    spoilt = text.replace("v_add_nc_u32", "v_sub_nc_u32")
    assert spoilt != text
    wrong = examiner.mark(
        scan, SASS, ("spoilt", "1"), Draw(), BenchAnswer(files={question.main: spoilt})
    )
    assert wrong.judgement.compiled
    assert not wrong.judgement.passed
