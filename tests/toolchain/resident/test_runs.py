"""A run in a fork of a tool that has started is the run that a process of its own makes."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from cass_ray.emulator.build import runtime_library
from cass_ray.toolchain.amd.bundle import MAGIC, unbundle
from cass_ray.toolchain.locate import find_amd
from cass_ray.toolchain.resident import runs
from cass_ray.toolchain.resident.library import preloaded_library
from cass_ray.toolchain.resident.tool import LIBRARY_SOURCE, ResidentTool
from cass_ray.toolchain.sandbox import process
from cass_ray.toolchain.sandbox.isolation import Mount, View, private_folder
from cass_ray.toolchain.sandbox.process import (
    ABANDON,
    COMPILE_LIMITS,
    Abandoned,
    Completed,
    Limits,
    ProcessOutcome,
)
from cass_ray.toolchain.unit import CompileFailure, Unit

pytestmark = pytest.mark.amd

KERNEL = "__global__ void k(int *p) { p[threadIdx.x] = %s; }\n"
MAIN = "int main() { int *p; hipMalloc(&p, 256); k<<<1, 64>>>(p); return hipFree(p); }\n"
PROGRAMS = {
    "plain": KERNEL % "threadIdx.x * 3" + MAIN,
    "names itself": "#include <cstdio>\n"
    + KERNEL % "__LINE__"
    + 'int main() { k<<<1, 64>>>(nullptr); printf(__FILE__ "%s", __builtin_FILE()); }\n',
    "templates": "#include <vector>\n#include <map>\n"
    + KERNEL % "1"
    + "int main() { std::map<int, std::vector<double>> m; m[3].push_back(2); k<<<1, 64>>>(nullptr);"
    " return m.size(); }\n",
    "syntax error": KERNEL % "(" + MAIN,
    "missing header": '#include "not_there.h"\n' + KERNEL % "1",
    "header outside": "#include </etc/passwd>\n" + KERNEL % "1",
    "no kernel": "int main() { return 0; }\n",
    "assembler reads": KERNEL % "1" + 'asm(".incbin \\"/etc/passwd\\"");\n' + MAIN,
    "stops itself": '#error "stop here"\n',
    "needs too long": "constexpr int f(int n) { int s = 0; for (int i = 0; i < n; ++i) s += i % 7;"
    ' return s; }\nstatic_assert(f(900000000) == 1, "");\n',
}


@pytest.fixture(autouse=True)
def pool(monkeypatch: pytest.MonkeyPatch) -> Iterator[runs._Pool]:
    made = runs._Pool()
    monkeypatch.setattr(runs, "_POOL", made)
    monkeypatch.setattr(runs, "_RUNS_BEFORE", 0)
    yield made
    for tool in made._tools.values():
        tool.stop()


@pytest.fixture
def folder() -> Iterator[Path]:
    with private_folder() as made:
        yield made


def outcome(text: str, folder: Path) -> object:
    """Both texts of a program, or why there are none."""
    (folder / "program.hip").write_text(text)
    try:
        made = find_amd().compile(Unit(folder, PurePosixPath("program.hip")))
    except CompileFailure as failure:
        return failure.reason, failure.diagnostic, failure.tool
    return made.host_assembly, made.device_assembly


TAKEN_OVER = r"""
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static void tell(const char *what, int failed) {
  printf("%s: %s\n", what, failed ? strerror(errno) : "done");
}
int main(int count, char **list) {
  const char *other = list[1];
  char path[200];
  snprintf(path, sizeof path, "../%s/secret", other);
  tell("read", fopen(path, "r") == NULL);
  tell("write", fopen(path, "w") == NULL);
  snprintf(path, sizeof path, "../%s/new", other);
  tell("link", symlink("/etc/passwd", path));
  tell("rename", rename("own", path));
  tell("see", chdir("..") || fopen(".", "r") == NULL);
  tell("signal", kill(getppid(), 0));
  tell("read a library", fopen("/usr/bin/env", "r") == NULL);
  tell("elsewhere", fopen("/dev/shm/left", "w") == NULL);
  return count == 2 ? 0 : 1;
}
"""


def test_a_job_that_took_over_its_process_reaches_no_other(folder: Path) -> None:
    """Against ``landlock(7)``: what no rule allows is refused with EACCES, signals with EPERM."""
    if ctypes.CDLL(None).syscall(444, None, 0, 1) < 6:
        pytest.skip("the kernel has no Landlock that knows signals")
    (folder / "tool.c").write_text(TAKEN_OVER)
    program = folder / "tool"
    subprocess.run(["cc", "-o", program, folder / "tool.c"], check=True)
    library = preloaded_library(LIBRARY_SOURCE, Path("/usr/bin/cc"), folder)
    assert library is not None
    tool = ResidentTool(str(program), View(read_only=(folder,)), library)
    try:
        with tool.new_folder() as other, tool.new_folder() as own:
            (other / "secret").write_text("of another")
            (own / "own").touch()
            (own / ".stdout").touch(), (own / ".stderr").touch()
            with (own / ".stdout").open() as said:
                _, end = tool.begin(own, [str(program), other.name], COMPILE_LIMITS)
                assert end.result(60).status == 0
                printed = dict(line.strip().split(": ") for line in said)
            assert (other / "secret").read_text() == "of another"
            assert [each.name for each in other.iterdir()] == ["secret"]
    finally:
        tool.stop()
    refused = os.strerror(errno.EACCES)
    assert printed.pop("read a library") == "done"
    assert printed.pop("signal") == os.strerror(errno.EPERM)
    assert printed.pop("rename") in (refused, os.strerror(errno.EXDEV))
    assert set(printed.values()) == {refused}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_becomes_the_same(
    name: str, folder: Path, pool: runs._Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    forked = outcome(PROGRAMS[name], folder)
    assert any(tool.alive for tool in pool._tools.values())
    monkeypatch.setattr(runs, "_may_be_forked", lambda *arguments: False)
    assert outcome(PROGRAMS[name], folder) == forked


CLANG = str(find_amd().clang)
ASSEMBLE = [CLANG, "-c", "a.s", "-o", "a.o"]


def assemble(folder: Path, text: str = "nop\n", limits: Limits = COMPILE_LIMITS) -> Completed:
    (folder / "a.s").write_text(text)
    return runs.run(ASSEMBLE, cwd=folder, view=View(writable=(folder,)), limits=limits)


def forks(monkeypatch: pytest.MonkeyPatch) -> list[Completed | None]:
    """What runs in forks give from now on."""
    seen: list[Completed | None] = []
    forked = runs._forked

    def noted(*arguments: object) -> Completed | None:
        seen.append(forked(*arguments))  # type: ignore[arg-type]
        return seen[-1]

    monkeypatch.setattr(runs, "_forked", noted)
    return seen


def test_files_of_a_run_come_back_and_nothing_stays(
    folder: Path, pool: runs._Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = forks(monkeypatch)
    assert assemble(folder).ok
    assert seen[0] is not None
    assert {each.name for each in folder.iterdir()} == {"a.s", "a.o"}
    by_fork = (folder / "a.o").read_bytes()
    assert process.run(ASSEMBLE, cwd=folder, view=View(writable=(folder,))).ok
    assert (folder / "a.o").read_bytes() == by_fork
    [tool] = pool._tools.values()
    assert list(tool.folder.iterdir()) == []


@pytest.mark.parametrize(
    "before", [b"", b"short", b"same size", b"much longer than what comes", None]
)
@pytest.mark.parametrize("text", [b"same size", b""])
def test_a_file_that_is_there_is_written_anew(
    before: bytes | None, text: bytes, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seen: code for a second target was the first one's, whose object lay in the folder."""
    seen = forks(monkeypatch)
    (folder / "a.c").write_bytes(text)
    if before is not None:
        (folder / "out").write_bytes(before)
    command = [CLANG, "-E", "-P", "-x", "c", "a.c", "-o", "out"]
    assert runs.run(command, cwd=folder, view=View(writable=(folder,))).ok
    assert seen[0] is not None
    assert (folder / "out").read_bytes().strip() == text
    assert {each.name for each in folder.iterdir()} == {"a.c", "out"}


def test_a_file_that_a_run_removes_is_gone(folder: Path) -> None:
    """clang leaves no object where it fails."""
    left = {}
    for name, run in (("forked", runs.run), ("alone", process.run)):
        (folder / "a.s").write_text("no instruction\n")
        (folder / "a.o").write_bytes(b"of an earlier run")
        assert not run(ASSEMBLE, cwd=folder, view=View(writable=(folder,))).ok
        left[name] = {each.name for each in folder.iterdir()}
    assert left["forked"] == left["alone"]


def test_each_target_has_code_of_its_own(folder: Path, pool: runs._Pool) -> None:
    """Against the machine in each object's header (AMDGPUUsage, EF_AMDGPU_MACH)."""
    toolchain = find_amd()
    (folder / "program.hip").write_text(PROGRAMS["plain"])
    unit = Unit(folder, PurePosixPath("program.hip"))
    machines = {"gfx1100": 0x41, "gfx90a": 0x3F, "gfx942": 0x4C}
    texts = {name: toolchain.compile_device(unit, name).device_assembly for name in machines}
    host = toolchain.compile(unit, "gfx1100").host_assembly
    first, *others = machines
    program = toolchain.recombine(
        host,
        texts[first],
        folder / "program",
        architecture=first,
        further={name: texts[name] for name in others},
        runtime_library=runtime_library(),
    )
    held = program.read_bytes()
    objects = unbundle(held[held.index(MAGIC) :])
    assert {name: objects[name][48] for name in machines} == machines


def test_what_may_not_be_written_is_not(folder: Path) -> None:
    (folder / "a.s").write_text("nop\n")
    view = View(mounts=(Mount(folder, Path("/cass/source")),))
    assert runs.run([CLANG, "-c", "a.s", "-o", "-"], cwd=folder, view=view).stdout[:4] == b"\x7fELF"
    runs.run(ASSEMBLE, cwd=folder, view=view)
    assert {each.name for each in folder.iterdir()} == {"a.s"}


@pytest.mark.parametrize("threads", [2, 8])
def test_runs_at_once_do_not_meet(threads: int, pool: runs._Pool) -> None:
    def one(number: int) -> bool:
        with private_folder() as folder:
            done = assemble(folder, f".quad {number}\n.quad {number + 1000}\n")
            data = number.to_bytes(8, "little") + (number + 1000).to_bytes(8, "little")
            return done.ok and data in (folder / "a.o").read_bytes()

    with ThreadPoolExecutor(threads) as executor:
        assert all(executor.map(one, range(3 * threads)))
    assert len(pool._tools) == 1


@pytest.mark.parametrize(
    ("text", "limits", "wanted"),
    [
        (".fill 9000000, 1, 7\n", replace(COMPILE_LIMITS, file_bytes=1 << 20), None),
        ("nop\n", replace(COMPILE_LIMITS, address_space_bytes=1 << 20), None),
        ('.warning "said"\n' * 3000, replace(COMPILE_LIMITS, output_bytes=1000), "output_limit"),
        (".rept 100000000\n.quad 1\n.endr\n", replace(COMPILE_LIMITS, cpu_seconds=1), "time_limit"),
        (".error \"no\"\n", COMPILE_LIMITS, "exit"),
    ],
)  # fmt: skip
def test_a_limit_is_the_same_limit(
    text: str, limits: Limits, wanted: str | None, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forked = assemble(folder, text, limits)
    monkeypatch.setattr(runs, "_may_be_forked", lambda *arguments: False)
    alone = assemble(folder, text, limits)
    assert forked.outcome is alone.outcome
    assert not forked.ok
    assert wanted is None or forked.outcome is ProcessOutcome(wanted)
    if wanted == "exit":
        assert forked.stderr == alone.stderr


def test_a_process_that_died_is_replaced(folder: Path, pool: runs._Pool) -> None:
    for _ in range(3):
        assert assemble(folder).ok
        [tool] = pool._tools.values()
        os.killpg(tool._process.pid, signal.SIGKILL)
        tool.thread.join()
    assert assemble(folder).ok


def test_a_forked_process_leaves_its_parents_tools_alone(folder: Path, pool: runs._Pool) -> None:
    assert assemble(folder).ok
    [tool] = pool._tools.values()
    child = os.fork()
    if child == 0:
        tool.stop()
        os._exit(0)
    os.waitpid(child, 0)
    assert tool.alive
    assert assemble(folder).ok
    assert list(pool._tools.values()) == [tool]


def test_who_abandons_a_run_does_not_wait(folder: Path) -> None:
    abandon = threading.Event()
    abandon.set()
    before = ABANDON.set(abandon)
    try:
        with pytest.raises(Abandoned):
            assemble(folder, ".rept 100000000\n.quad 1\n.endr\n")
    finally:
        ABANDON.reset(before)


def link(folder: Path) -> None:
    (folder / "b").symlink_to("/etc/passwd")


def subfolder(folder: Path) -> None:
    (folder / "b").mkdir()


def many_files(folder: Path) -> None:
    for number in range(20):
        (folder / f"b{number}").touch()


def large_file(folder: Path) -> None:
    with (folder / "b").open("wb") as file:
        file.truncate(1 << 30)


@pytest.mark.parametrize("prepare", [link, subfolder, many_files, large_file])
def test_a_folder_with_more_than_a_few_files_is_not_copied(
    prepare: object, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = forks(monkeypatch)
    prepare(folder)  # type: ignore[operator]
    assert assemble(folder).ok
    assert seen == []


@pytest.mark.parametrize(
    ("command", "view", "limits"),
    [
        ([CLANG, "-g", "-c", "a.s", "-o", "a.o"], View(), COMPILE_LIMITS),
        ([CLANG, "-gline-tables-only", "-c", "a.s", "-o", "a.o"], View(), COMPILE_LIMITS),
        (ASSEMBLE, View(process_filesystem=True), COMPILE_LIMITS),
        (ASSEMBLE, View(refuses_sockets=True), COMPILE_LIMITS),
        (ASSEMBLE, View(), replace(COMPILE_LIMITS, address_space_bytes=None)),
        ([shutil.which("sh") or "", "-c", "true"], View(mounts=(Mount(Path("/usr"), Path("/a")),)),
         COMPILE_LIMITS),
    ],
)  # fmt: skip
def test_what_a_fork_would_see_otherwise_has_its_own_process(
    command: list[str], view: View, limits: Limits, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = forks(monkeypatch)
    (folder / "a.s").write_text("nop\n")
    view = replace(view, writable=(folder,))
    assert runs.run(command, cwd=folder, view=view, limits=limits).ok
    assert seen == []


def test_a_script_has_its_own_process(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = forks(monkeypatch)
    script = folder / "tool"
    script.write_text("#!/bin/sh\necho $0\n")
    script.chmod(0o755)
    done = runs.run([str(script)], cwd=folder, view=View(writable=(folder,)))
    assert done.stdout.decode().strip() == str(script)
    assert seen == []


def test_a_tool_that_is_linked_statically_is_tried_once(folder: Path, pool: runs._Pool) -> None:
    ends = ".globl _start\n_start: mov $60, %eax\nxor %edi, %edi\nsyscall\n"
    (folder / "a.s").write_text(ends)
    tool = folder / "tool"
    make = [CLANG, "-static", "-nostdlib", "a.s", "-o", str(tool)]
    assert process.run(make, cwd=folder).ok
    view = View(writable=(folder,))
    for _ in range(3):
        assert runs.run([str(tool)], cwd=folder, view=view).ok
    assert pool._tools == {}
    assert list(pool._failures.values()) == [runs._MOST_FAILURES]
    assert assemble(folder).ok
    assert len(pool._tools) == 1
