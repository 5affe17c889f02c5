"""The README's commands do what they say, section by section, in one folder as a reader has it."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from cass_ray.execute.backends.registry import candidate_backend
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.locate import find_amd, find_nvidia
from cass_ray.toolchain.sandbox import isolation
from tests.folders import REPOSITORY
from tests.snippets import Snippet, reader_environment, run_snippet, snippets

README = (REPOSITORY / "README.md").read_text()
# Which packages a section wants beside what `make setup-dev` installs, and what of the system.
NEEDS = {"Run AMD code without an AMD GPU": "llvm-mc-19"}


def _sections(page: str) -> Iterator[tuple[str, list[Snippet]]]:
    _, *parts = re.split(r"^##+ (.+)$", page, flags=re.MULTILINE)
    for title, text in zip(parts[::2], parts[1::2], strict=True):
        if runs := [each for each in snippets(text) if each.runs]:
            yield title, runs


SECTIONS = dict(_sections(README))


def test_every_fence_is_read_and_says_why_it_is_notrun_snippet() -> None:
    fences = list(snippets(README))
    assert len(fences) == README.count("\n```") / 2
    assert not re.search(r"^ {4}(cass|make|pip|ray) ", README, re.MULTILINE), "not in a fence"
    assert len(SECTIONS) >= 9


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a reader has: a clone, a program, a project under git and a folder of programs."""
    try:
        find_nvidia(), find_amd()
        isolation.isolates()
    except (ToolMissing, isolation.IsolationUnavailableError) as error:
        pytest.skip(str(error))
    if problem := candidate_backend().problem():
        pytest.skip(problem)
    folder = tmp_path_factory.mktemp("reader")
    for name in ("examples", "jobs", "cass_ray/corpus/shipped"):  # no second package `cass_ray`
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(REPOSITORY / name)
    program = (REPOSITORY / "examples" / "sum.cu").read_text()
    (folder / "program.cu").write_text(program)
    (folder / "my_programs").mkdir()
    (folder / "my_programs" / "sum.cu").write_text(program)
    shutil.copy(REPOSITORY / "LICENSE", folder / "my_programs")
    (folder / "data").mkdir()
    (folder / "data" / "numbers.txt").write_text("1 2 3\n")
    (folder / "lines.txt").write_text("4\n5\n")
    project = folder / "my_project"
    shutil.copytree(REPOSITORY / "tests" / "project" / "canaries" / "make_c_and_cxx", project)
    identity = ["-c", "user.name=reader", "-c", "user.email=reader@example.org"]
    for command in (["init", "-q"], ["add", "."], [*identity, "commit", "-q", "-m", "As it was"]):
        subprocess.run(["git", *command], cwd=project, check=True)
    run_snippet("bash", "cass translate program.cu -o port.hip", folder)
    return folder


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.slow
@pytest.mark.parametrize("section", [title for title in SECTIONS if title != "Serve translations"])
def test_commands_of_a_section_succeed(section: str, folder: Path) -> None:
    if (tool := NEEDS.get(section)) and not shutil.which(tool):
        pytest.skip(f"{tool} is not here")
    _prepare(section, folder)
    for each in SECTIONS[section]:
        run_snippet(each.language, each.body, folder)


@pytest.mark.nvidia
@pytest.mark.amd
@pytest.mark.slow
def test_the_service_answers_the_readme(folder: Path) -> None:
    service = subprocess.Popen(
        ["cass", "serve"],
        cwd=folder,
        env=reader_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    try:
        assert service.stdout is not None
        address = next(line for line in service.stdout if "key=" in line)
        key = re.search(r"key=([\w-]+)", address)
        assert key is not None
        for each in SECTIONS["Serve translations"]:
            printed = run_snippet(each.language, each.body, folder, {"CASS_API_KEY": key[1]})
            assert "hip" in printed
        run_snippet("bash", _server_command(), folder, {"CASS_API_KEY": key[1]})
        assert list((folder / "out").glob("**/*.hip")) or list((folder / "out").glob("**/*.cu"))
    finally:
        service.terminate()
        service.wait(timeout=60)


def _server_command() -> str:
    command = re.search(r"`(cass translate my_project/ [^`]+--server [^`]+)`", README)
    assert command is not None
    return command[1]


def _prepare(section: str, folder: Path) -> None:
    """What a section takes from those before it, where it is run alone."""
    demo = section in ("Build a data set", "See and publish a data set")
    if demo and not (folder / "out" / "demo").exists():
        run_snippet("bash", "cass build-dataset --source local:my_programs --out out/demo", folder)
    if section == "See and publish a data set":
        run_snippet("bash", "cass analyze out/demo -o out/other-report", folder)
    if section == "Use it from Python" and not (folder / "program").exists():
        emit = "--emit exe --arch h100 --cudart shared -o program"
        run_snippet("bash", f"cass compile program.cu {emit}", folder)
    if not (folder / "program.hip").exists():
        run_snippet("bash", "cass translate program.cu -o program.hip", folder)
