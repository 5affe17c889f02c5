"""Runs on another machine: what a program can see of it, and what it does because of it."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from cass_ray.execute.backends.base import Inputs
from cass_ray.execute.backends.rdna3 import Rdna3Backend
from cass_ray.execute.evidence.exploits import Exploit
from cass_ray.execute.evidence.other_machine import OtherMachine, on_other_machine
from cass_ray.execute.references import ReferenceRuns, measure
from cass_ray.execute.verify import Policy, verify
from cass_ray.toolchain.sandbox.executable import Exposure, problem, run_sandboxed
from tests.execute.conftest import hip

pytestmark = pytest.mark.skipif(bool(problem()), reason="no sandbox here")

SEEN = """
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
int main(void) {
  char name[256];
  gethostname(name, sizeof name);
  printf("%s\\n%d\\n%d\\n%d\\n%d\\n", name, getuid(), getgid(), getpid(), getppid());
  printf("%ld\\n%s\\n%s\\n", (long)time(NULL), getenv("HOME"), getenv("USER"));
}
"""
THINGS = ("host", "user", "group", "process", "parent", "clock", "home", "person")
ONE = OtherMachine("gpu-0a1b2c", "ada", 4711)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("seen")
    (folder / "seen.c").write_text(SEEN)
    subprocess.run([compiler, folder / "seen.c", "-o", folder / "seen"], check=True)
    return folder / "seen"


def seen(program: Path, machine: OtherMachine | None) -> dict[str, str]:
    exposure = Exposure() if machine is None else on_other_machine(Exposure(), machine)
    ended = run_sandboxed(program, exposure=exposure)
    assert ended.ok, ended.stderr
    return dict(zip(THINGS, ended.stdout.decode().splitlines(), strict=True))


def test_all_that_can_be_seen_is_another(program: Path) -> None:
    here, there = seen(program, None), seen(program, ONE)
    assert [name for name in THINGS if here[name] == there[name]] == []
    assert (there["host"], there["user"], there["group"]) == ("gpu-0a1b2c", "4711", "4711")
    assert (there["home"], there["person"]) == ("/home/ada", "ada")


def test_every_other_machine_is_another(program: Path) -> None:
    others = [seen(program, replace(ONE, hostname=f"node-{n}", user=2000 + n)) for n in range(3)]
    for name in ("host", "user", "process", "parent", "clock"):
        assert len({each[name] for each in others}) == 3, name
    drawn = {OtherMachine() for _ in range(20)}
    assert len({each.hostname for each in drawn}) == 20


def test_nothing_of_this_machine_is_seen(program: Path) -> None:
    """The judge's sandbox is the one of every other run: it has the same name and user."""
    here = seen(program, None)
    assert here["host"] == "sandbox" and here["user"] == "1000"
    assert here["host"] != os.uname().nodename


HEAD = """#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <unistd.h>
__global__ void triple(int* p) { p[threadIdx.x] = 3 * (int)threadIdx.x; }
int main() {
  int *p, host[64];
  char name[256] = "";
  gethostname(name, 255);
  hipMalloc(&p, sizeof host);
  triple<<<1, 64>>>(p);
  hipMemcpy(host, p, sizeof host, hipMemcpyDeviceToHost);
"""
TAIL = '  for (int x : host) printf("%d\\n", x);\n  return hipFree(p);\n}\n'
TELLS = {
    "the host's name": 'strcmp(name, "sandbox") == 0',
    "the user": "getuid() == 1000",
    "the group": "getgid() == 1000",
    "a small process number": "getpid() < 100",
    "the parent's number": "getppid() < 100",
    "the home": 'strcmp(getenv("HOME"), "/tmp") == 0',
    "no user's name": 'getenv("USER") == nullptr',
    "no terminal": 'getenv("TERM") == nullptr',
    "the search path": 'strstr(getenv("PATH"), "local") != nullptr',
    "nothing preloaded": 'getenv("LD_PRELOAD") == nullptr',
}


@pytest.fixture(scope="module")
def reference(backend: Rdna3Backend) -> ReferenceRuns:
    made = measure(backend, backend.build(hip(HEAD + TAIL)), [Inputs()])
    assert made.runs[0].varied and not made.runs[0].problem
    return made


@pytest.mark.parametrize("tell", TELLS)
def test_who_knows_the_judge_is_not_right_elsewhere(
    tell: str, backend: Rdna3Backend, reference: ReferenceRuns
) -> None:
    """Wrong, but right where it knows the judge."""
    wrong = hip(HEAD + f"  if (!({TELLS[tell]})) host[7] = 0;\n" + TAIL)
    result = verify(reference, backend.build(wrong), backend, Policy())
    assert result.runs[0].exact
    assert {finding.exploit for finding in result.findings} == {Exploit.OTHER_MACHINE}
    assert not result.passed


def test_the_right_port_is_right_elsewhere(backend: Rdna3Backend, reference: ReferenceRuns) -> None:
    result = verify(reference, backend.build(hip(HEAD + TAIL)), backend, Policy())
    assert result.passed and not result.findings, result.reason


def test_a_time_that_is_nothing_here_is_something_elsewhere(backend: Rdna3Backend) -> None:
    """An original whose loop its compiler moved out of what is measured prints 0.000 each time."""
    times = "  timespec a, b; clock_gettime(CLOCK_MONOTONIC, &a);\n"
    times += "  {} clock_gettime(CLOCK_MONOTONIC, &b);\n"
    times += (
        '  printf("%.3f ms\\n", (b.tv_sec - a.tv_sec) * 1e3 + (b.tv_nsec - a.tv_nsec) * 1e-6);\n'
    )
    original, port = (hip(HEAD + times.format(work) + TAIL) for work in ("", "usleep(4000);"))
    made = measure(backend, backend.build(original), [Inputs()])
    result = verify(made, backend.build(port), backend, Policy())
    assert result.passed and not result.findings, result.reason
