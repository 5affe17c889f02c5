"""Device code whose HIP host launches other kernels runs under the CUDA program's host code.

The reference port here does the same work with two kernels of its own, as a port to hipCUB or with
hand-written kernels in place of CUB does: no translation of the CUDA program's device code fits it.
"""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from cass_ray.bench.evaluate import Examiner, run
from cass_ray.bench.programs import Compilers, ask
from cass_ray.bench.question import BenchAnswer, BenchLevel, Draw, HostPart, QuestionKind
from cass_ray.bench.reporting.report import make_report
from cass_ray.bench.results import BenchSample
from cass_ray.bench.systems import make_system
from cass_ray.bench.task import BenchTask, load_task
from cass_ray.port.errors import PortError
from cass_ray.port.replacement import read_original
from tests.bench.conftest import CUDA, HIP, MakeTask

pytestmark = [pytest.mark.amd, pytest.mark.nvidia]

SASS = QuestionKind(BenchLevel.ASSEMBLY, architecture="sm_80")

# A kernel and a variable with internal linkage: nvcc makes names for them from the file's.
STATIC = CUDA.replace(
    "__global__ void squares(", "static __device__ int offset = 3;\nstatic __global__ void squares("
).replace("in[i] * in[i])", "in[i] * in[i] + offset - 3)")
OWN_KERNELS = HIP.replace(
    "__global__ void squares(",
    "__global__ void clear(long long* out) { *out = 0; }\n__global__ void addSquares(",
).replace("  squares<<<", "  clear<<<1, 1>>>(out);\n  addSquares<<<")


@pytest.fixture
def other_kernels(make_task: MakeTask) -> BenchTask:
    return load_task(make_task({"main.cu": STATIC, "main.hip": OWN_KERNELS}))


def _lifted(examiner: Examiner, compilers: Compilers, task: BenchTask) -> BenchSample:
    (sample,) = run(examiner, make_system("lift", [task], compilers), [task], SASS)
    return sample


def test_lifted_code_runs_under_the_host_that_launches_its_kernels(
    examiner: Examiner, compilers: Compilers, other_kernels: BenchTask
) -> None:
    sample = _lifted(examiner, compilers, other_kernels)
    judgement = sample.judgement
    assert judgement.passed, judgement
    assert judgement.host is HostPart.ORIGINAL
    assert judgement.hidden_exact
    launches = [launch for each in judgement.runs for launch in each.record.launches]
    assert launches
    assert not any("addSquares" in launch for launch in launches)
    assert "under the CUDA program's host code" in judgement.backend


def test_the_hip_host_stays_where_it_fits(
    examiner: Examiner, compilers: Compilers, task: BenchTask
) -> None:
    assert ask(task, SASS, compilers).original is None
    judgement = _lifted(examiner, compilers, task).judgement
    assert judgement.passed, judgement
    assert judgement.host is HostPart.PORT


def test_the_reference_has_its_own_host(
    examiner: Examiner, compilers: Compilers, other_kernels: BenchTask
) -> None:
    system = make_system("reference", [other_kernels], compilers)
    (sample,) = run(examiner, system, [other_kernels], SASS)
    assert sample.judgement.passed, sample.judgement
    assert sample.judgement.host is HostPart.PORT


def test_wrong_device_code_is_wrong_under_the_original_host(
    examiner: Examiner, compilers: Compilers, make_task: MakeTask, tmp_path: Path
) -> None:
    """The answer to another program, which adds one to each square, for the same host."""
    right = {"main.cu": STATIC, "main.hip": OWN_KERNELS}
    wrong = {**right, "main.cu": STATIC.replace("offset - 3", "offset - 2")}
    answer = make_system("lift", [], compilers).answer(
        ask(load_task(make_task(wrong)), SASS, compilers), Draw()
    )
    assert answer.host is HostPart.ORIGINAL
    task = load_task(make_task(right))
    judgement = examiner.mark(task, SASS, ("wrong", "1"), Draw(), answer).judgement
    assert judgement.compiled
    # 1000 numbers: the sum is 1000 too large.
    assert not judgement.passed
    assert not judgement.hidden_exact


def test_no_answer_chooses_a_host_that_is_not_offered(examiner: Examiner, task: BenchTask) -> None:
    answer = BenchAnswer(files={"device.sass": "s_endpgm\n"}, host=HostPart.ORIGINAL)
    judgement = examiner.mark(task, SASS, ("greedy", "1"), Draw(), answer).judgement
    assert not judgement.compiled
    assert "which the question does not have" in judgement.diagnostic


def test_what_is_asked_holds_no_hidden_input(compilers: Compilers, make_task: MakeTask) -> None:
    secret = ["777123", "91823"]
    files = {"main.cu": STATIC, "main.hip": OWN_KERNELS}
    task = load_task(make_task(files, hidden_arguments=[secret, ["4099", "5"]]))
    question = ask(task, SASS, compilers)
    assert question.original is not None
    sent = pickle.dumps(question)
    assert not any(value.encode() in sent for value in secret)
    assert b"addSquares" not in sent  # nothing of the reference port


def test_an_executable_with_other_machine_code_is_refused(
    compilers: Compilers, other_kernels: BenchTask, tmp_path: Path
) -> None:
    original = compilers.original(other_kernels.cuda, "sm_80")
    path = tmp_path / "program"
    path.write_bytes(original.executable)
    cubin = compilers.nvidia(other_kernels.cuda, "sm_80").cubin
    assert read_original(path, cubin, compilers.find_nvidia()).capability == 80
    with pytest.raises(PortError, match="holds this machine code"):
        read_original(
            path, compilers.nvidia(other_kernels.cuda, "sm_90").cubin, compilers.find_nvidia()
        )


def test_a_report_says_whose_host_code_it_was(
    examiner: Examiner, compilers: Compilers, other_kernels: BenchTask
) -> None:
    lifted = _lifted(examiner, compilers, other_kernels)
    system = make_system("reference", [other_kernels], compilers)
    (reference,) = run(examiner, system, [other_kernels], SASS)
    tables = {table.title: table for table in make_report([lifted, reference]).tables}
    assert tables["Under the CUDA program's host code"].rows == [
        ["lift", "sum_of_squares", "yes"],
    ]
    counted = tables["By whose host code the device code ran under"]
    cells = [dict(zip(counted.head, row, strict=True)) for row in counted.rows]
    assert [(each["host"], each["lift"], each["reference"]) for each in cells] == [
        ("CUDA program", "1/1", ""),
        ("reference port", "", "1/1"),
    ]
