"""A cicc that a program has taken over reaches nothing of the next program."""

from __future__ import annotations

import ctypes
import errno
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from cass_ray.toolchain.nvidia.resident_cicc import LIBRARY_SOURCE, ResidentCicc
from cass_ray.toolchain.nvidia.steps import WORK_FILE_STEM, NvccSteps
from cass_ray.toolchain.resident.library import preloaded_library
from cass_ray.toolchain.sandbox.isolation import View, private_folder
from cass_ray.toolchain.sandbox.process import COMPILE_LIMITS

# It reads its input as cicc does. A program's text is the name of another job's folder.
TAKEN_OVER = r"""
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static FILE *said;
static void tell(const char *what, int failed) {
  fprintf(said, "%s: %s\n", what, failed ? strerror(errno) : "done");
}
int main(int count, char **list) {
  char text[4096], path[5000];
  FILE *input = fopen(list[1], "r");
  size_t size = 0, got;
  while ((got = fread(text + size, 1, sizeof text - 1 - size, input)) > 0) size += got;
  text[size] = 0;
  const char *other = strchr(text, '\n') + 1;
  said = fopen("said", "w");
  snprintf(path, sizeof path, "../%s/secret", other);
  tell("read", fopen(path, "r") == NULL);
  tell("write", fopen(path, "w") == NULL);
  tell("read the header", fopen("../" STEM ".cpp1.ii", "r") == NULL);
  tell("write the header", fopen("../" STEM ".cpp1.ii", "a") == NULL);
  snprintf(path, sizeof path, "../%s/new", other);
  tell("link", symlink("/etc/passwd", path));
  tell("see", chdir("..") || fopen(".", "r") == NULL);
  tell("make", fopen("new", "w") == NULL);
  tell("elsewhere", fopen("/dev/shm/left", "w") == NULL);
  tell("signal", kill(getppid(), 0));
  tell("read a library", fopen("/usr/bin/env", "r") == NULL);
  return fclose(said) || count != 2;
}
"""
HEADER = b"the header\n"


@pytest.fixture
def resident() -> Iterator[ResidentCicc]:
    if ctypes.CDLL(None).syscall(444, None, 0, 1) < 6:
        pytest.skip("the kernel has no Landlock that knows signals")
    with private_folder() as folder:
        (folder / "tool.c").write_text(TAKEN_OVER)
        program = folder / "tool"
        stem = f'-DSTEM="{WORK_FILE_STEM}"'
        subprocess.run(["cc", stem, "-o", program, folder / "tool.c"], check=True)
        library = preloaded_library(LIBRARY_SOURCE, Path("/usr/bin/cc"), folder)
        assert library is not None
        given = [str(program), f"./{WORK_FILE_STEM}.cpp1.ii"]
        step = SimpleNamespace(command=lambda *_: given)
        steps = SimpleNamespace(first=lambda _: step, environment={"PATH": "/usr/bin:/bin"})
        view = View(read_only=(folder,))
        made = ResidentCicc(cast(NvccSteps, steps), HEADER, library, view)
        yield made
        made.stop()


def test_a_program_that_took_over_cicc_reaches_no_other(resident: ResidentCicc) -> None:
    """Against ``landlock(7)``: what no rule allows is refused with EACCES, signals with EPERM."""
    other = resident.job_folder / "another"
    other.mkdir()
    (other / "secret").write_text("of another")
    root = resident.job_folder
    assert resident.compile(b"another", COMPILE_LIMITS).status == 0
    lines = (resident.job_folder / "said").read_text().splitlines()
    printed = dict(line.split(": ") for line in lines)
    assert printed.pop("read a library") == "done"
    assert printed.pop("signal") == os.strerror(errno.EPERM)
    assert len(printed) == 8
    assert set(printed.values()) == {os.strerror(errno.EACCES)}
    assert (other / "secret").read_text() == "of another"
    assert (root / f"{WORK_FILE_STEM}.cpp1.ii").read_bytes() == HEADER


def test_no_job_knows_the_folder_of_the_next(resident: ResidentCicc) -> None:
    folders = []
    for _ in range(2):
        assert resident.compile(b"another", COMPILE_LIMITS).status == 0
        folders.append(resident.job_folder)
    assert folders[0] != folders[1] and not folders[0].exists()


def test_a_child_of_ours_leaves_its_parents_cicc_alone(resident: ResidentCicc) -> None:
    child = os.fork()
    if child == 0:
        resident.stop()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert resident.compile(b"another", COMPILE_LIMITS).status == 0
