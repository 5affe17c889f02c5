"""A program that checks itself on the device says nothing of a check that is as wrong."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from cass_ray.corpus.reading.source_files import Sources
from cass_ray.execute.rewards.settings import RewardSettings
from cass_ray.execute.rewards.verdicts import Outcome, RewardItem
from cass_ray.execute.targets import as_hip
from tests.security.forgeries.programs import SELF_CHECK

BY_FLAG = SELF_CHECK.replace("atomicAdd(bad, 1)", "*bad = 1").replace("%d wrong", "flag %d")
WITH_A_COUNT = SELF_CHECK.replace(
    "if (i < n && a[i] != i * 7) atomicAdd(bad, 1);",
    "if (i == 0) { int wrong = 0; for (int k = 0; k < n; k++) wrong += a[k] != k * 7;"
    " bad[0] = wrong; }",
)
OF_FLOATS = SELF_CHECK.replace("int* a", "float* a").replace("i * 7", "i * 0.5f")
OF_FLOATS = OF_FLOATS.replace("int n = 500, *a, *bad, seen;", "float* a; int n = 500, *bad, seen;")
WITH_TWO_STEPS = SELF_CHECK.replace(
    "__global__ void check",
    "__global__ void twice(int* a, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) a[i] = 2 * a[i];\n}\n__global__ void check",
)
WITH_TWO_STEPS = WITH_TWO_STEPS.replace("a[i] != i * 7", "a[i] != i * 14").replace(
    "  check<<<", "  twice<<<4, 128>>>(a, n);\n  check<<<"
)
PROGRAMS = {
    # with what makes kernel and check wrong in the same way
    "a count": (SELF_CHECK, ("i * 7", "i * 9")),
    "a flag": (BY_FLAG, ("i * 7", "i * 9")),
    "a count that is written": (WITH_A_COUNT, (" * 7", " * 9")),
    "floats": (OF_FLOATS, ("i * 0.5f", "i * 0.75f")),
    "two kernels": (WITH_TWO_STEPS, ("i * 7", "i * 9")),
}


def outcome(question: str, *faults: tuple[str, str]) -> Outcome:
    made = as_hip(Sources(PurePosixPath("program.cu"), {"program.cu": question.encode()}))
    text = made.files[str(made.main)].decode()
    for fault in faults:
        assert fault[0] in text
        text = text.replace(*fault)
    judge = RewardSettings(cached=False).judge()
    item = RewardItem(question=question, answer=f"```hip\n{text}\n```", inputs=[[]])
    return judge.judge(item).outcome


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.parametrize("kind", PROGRAMS)
def test_a_right_port_that_checks_itself_is_right(kind: str) -> None:
    assert outcome(PROGRAMS[kind][0]) is Outcome.RIGHT


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.parametrize("kind", PROGRAMS)
def test_one_whose_check_is_as_wrong_as_its_kernel_is_not(kind: str) -> None:
    question, fault = PROGRAMS[kind]
    further = [("i * 14", "i * 18")] if "i * 14" in question else []
    assert outcome(question, fault, *further) is Outcome.WRONG


LAUNCHES = (("(a, n);", "(a, n, 0);"), ("(a, n, bad);", "(a, n, bad, 0);"))
PARAMETERS = (("fill(int* a, int n)", "fill(int* a, int n, int)"), ("int* bad)", "int* bad, int)"))
SECOND_KERNELS = """
__global__ void fill(int* a, int n, int) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = i * 9;
}
__global__ void check(const int* a, int n, int* bad, int) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && a[i] != i * 9) atomicAdd(bad, 1);
}
int main() {"""


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.parametrize(
    "faults",
    [(("i * 7", "i * 9"), *PARAMETERS, *LAUNCHES), (("int main() {", SECOND_KERNELS), *LAUNCHES)],
    ids=["another parameter", "second kernels of the same names"],
)
def test_kernels_that_cannot_be_launched_alone_are_not_shown(
    faults: tuple[tuple[str, str], ...],
) -> None:
    """Kernel and check are wrong alike, in kernels that the original does not have."""
    assert outcome(SELF_CHECK, *faults) is Outcome.NOT_SHOWN
