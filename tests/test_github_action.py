"""The shell steps of the GitHub Action, run as GitHub runs them, on the template project."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from cass_ray.execute.backends.registry import candidate_backend
from tests.folders import REPOSITORY
from tests.github_steps import EXPRESSION, run_step
from tests.project.test_changes import git

ACTION = REPOSITORY / ".github" / "actions" / "cass" / "action.yml"
CONTAINER = REPOSITORY / ".github" / "actions" / "cass-container"
TEMPLATE = REPOSITORY / "examples" / "ci-template"
WRONG = "cudaMemcpy(host, device, sizeof(host), cudaMemcpyHostToDevice)"
RIGHT = WRONG.replace("HostToDevice", "DeviceToHost")


class Runner:
    """Steps one after the other with their files of outputs, as a runner keeps them."""

    def __init__(self, folder: Path, project: Path, inputs: dict[str, str]) -> None:
        self.action: dict[str, Any] = yaml.safe_load(ACTION.read_text())
        self.project = project
        self.temporary = folder / "runner"
        tools = folder / "tools"
        for each in (self.temporary, tools):
            each.mkdir()
        # What would go to GitHub is written down in its place.
        (tools / "gh").write_text(f'#!/bin/sh\necho "$@" >> "{folder}/gh.txt"\n')
        (tools / "gh").chmod(0o755)
        self.comments = folder / "gh.txt"
        self.summary = folder / "step-summary.md"
        self.outputs: dict[str, dict[str, str]] = {}
        defaults = {name: str(each["default"]) for name, each in self.action["inputs"].items()}
        self.inputs = {**defaults, **inputs}
        unknown = inputs.keys() - defaults.keys()
        assert not unknown
        self.environment = {
            **os.environ,
            "PATH": f"{tools}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(REPOSITORY),
            "RUNNER_TEMP": str(self.temporary),
            "GITHUB_ACTION_PATH": str(ACTION.parent),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "GITHUB_REPOSITORY": "someone/project",
        }

    def value(self, expression: str) -> str:
        """An expression of the kinds that the action uses: names joined by ``||``."""
        for part in expression.split("||"):
            name = part.strip()
            if name.startswith("'"):
                found = name.strip("'")
            elif name.startswith("inputs."):
                found = self.inputs[name.removeprefix("inputs.")]
            elif name.startswith("steps."):
                _, step, kind, key = name.split(".")
                assert kind == "outputs"
                found = self.outputs.get(step, {}).get(key, "")
            else:
                found = {
                    "github.event.pull_request.base.sha": "main",
                    "github.event.pull_request.number": "7",
                    "github.token": "token",
                }[name]
            if found:
                return found
        return ""

    def wanted(self, condition: str) -> bool:
        for part in condition.split("&&"):
            found = re.fullmatch(r"([\w.-]+) (==|!=) '([^']*)'", part.strip())
            if part.strip() == "always()":
                continue
            assert found, part
            if (self.value(found[1]) == found[3]) != (found[2] == "=="):
                return False
        return True

    def run(self) -> tuple[int, str]:
        """The exit code of the step that failed, or 0, and all that steps printed."""
        printed, failed = "", 0
        for step in self.action["runs"]["steps"]:
            condition = str(step.get("if", ""))
            skipped = failed and "always()" not in condition
            if skipped or (condition and not self.wanted(condition)) or "uses" in step:
                continue
            assert step["shell"] == "bash"
            place = self.temporary / "outputs"
            done, outputs = run_step(step, self.project, self.environment, place, self.value)
            printed += done.stdout
            self.outputs[step.get("id", step["name"])] = outputs
            failed = failed or done.returncode
        return failed, printed


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The template as a repository, on a branch for a change."""
    folder = tmp_path / "project"
    shutil.copytree(TEMPLATE, folder)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "template")
    git(folder, "checkout", "-qb", "change")
    return folder


def change(project: Path, before: str, after: str) -> None:
    source = project / "src" / "scale.cu"
    text = source.read_text()
    assert before in text
    source.write_text(text.replace(before, after))
    git(project, "commit", "-qam", "change")


LIGHT = {"install": "false", "test-project": "false"}


def test_a_harmless_change_passes_and_is_summed_up(project: Path, tmp_path: Path) -> None:
    change(project, "3.0f", "1.5f * 2.0f")
    runner = Runner(tmp_path, project, LIGHT)
    code, printed = runner.run()
    assert code == 0, printed
    assert "0 new finding(s) in 1 changed file(s)" in runner.summary.read_text()
    assert runner.comments.read_text().startswith("pr comment 7 --repo someone/project ")


def test_a_planted_defect_fails_with_its_number(project: Path, tmp_path: Path) -> None:
    change(project, RIGHT, WRONG)
    runner = Runner(tmp_path, project, LIGHT)
    code, printed = runner.run()
    assert code == 1
    assert "[CASS1018]" in printed
    assert "new findings: see the summary" in printed
    assert "CASS1018" in runner.summary.read_text()
    assert Path(runner.outputs["findings"]["sarif"]).is_file()


def test_inputs_are_text_and_nothing_else(project: Path, tmp_path: Path) -> None:
    change(project, "3.0f", "4.0f")
    hostile = f'"; touch {tmp_path}/owned; $(touch {tmp_path}/owned)'
    code, _ = Runner(tmp_path, project, {**LIGHT, "base": hostile}).run()
    assert code == 2
    assert not (tmp_path / "owned").exists()


@pytest.mark.slow
@pytest.mark.amd
@pytest.mark.parametrize(
    ("before", "after", "passes"),
    [("3.0f", "1.5f * 2.0f", True), ("data[threadIdx.x] *= factor", "data[0] *= factor", False)],
)
def test_the_port_is_built_and_tested_on_both_widths(
    project: Path, tmp_path: Path, before: str, after: str, passes: bool
) -> None:
    if problem := candidate_backend().problem():
        pytest.skip(problem)
    change(project, before, after)
    runner = Runner(tmp_path, project, {"install": "false"})
    code, printed = runner.run()
    assert (code == 0) is passes, printed
    word = "pass" if passes else "fail"
    assert f"on gfx1100 gfx942: **{word}**" in runner.summary.read_text()


def run_container(
    project: Path, folder: Path, **inputs: str
) -> tuple[subprocess.CompletedProcess[str], str]:
    """What the container's entry point printed, and the outputs, with GitHub's variables."""
    action = yaml.safe_load((CONTAINER / "action.yml").read_text())
    given = {name: str(each["default"]) for name, each in action["inputs"].items()}
    given |= {"base": "main"} | inputs
    variables = {
        name: EXPRESSION.sub(lambda found: given[found[1].removeprefix("inputs.")], text)
        for name, text in action["runs"]["env"].items()
    }
    outputs = folder / "outputs"
    outputs.touch()
    environment = {
        **os.environ,
        **variables,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(REPOSITORY),
        "HOME": str(folder),
        "GITHUB_WORKSPACE": str(project),
        "GITHUB_OUTPUT": str(outputs),
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
    }
    done = subprocess.run(
        [CONTAINER / "entrypoint.sh"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done, outputs.read_text()


@pytest.mark.parametrize(("before", "after", "status"), [("3.0f", "2.0f", 0), (RIGHT, WRONG, 1)])
def test_the_container_says_what_the_steps_say(
    project: Path, tmp_path: Path, before: str, after: str, status: int
) -> None:
    change(project, before, after)
    done, outputs = run_container(project, tmp_path)
    assert done.returncode == status, done.stdout
    assert outputs.splitlines()[-1] == f"status={status}"
    assert ("CASS1018" in (tmp_path / "summary.md").read_text()) is bool(status)
    assert (project / ".cass" / "findings.sarif").is_file()


def test_inputs_of_the_container_are_text_too(project: Path, tmp_path: Path) -> None:
    change(project, "3.0f", "4.0f")
    done, _ = run_container(project, tmp_path, base=f'"; $(touch {tmp_path}/owned)')
    assert done.returncode == 2
    assert not (tmp_path / "owned").exists()


def test_both_forms_of_the_action_take_the_same_inputs() -> None:
    composite = yaml.safe_load(ACTION.read_text())["inputs"]
    container = yaml.safe_load((CONTAINER / "action.yml").read_text())["inputs"]
    only_outside = {"install", "upload-sarif", "comment", "token"}
    assert composite.keys() - container.keys() == only_outside
    assert container.keys() <= composite.keys()


def test_the_template_and_the_hooks_fit_the_action() -> None:
    workflow = yaml.safe_load((TEMPLATE / ".github/workflows/port.yml").read_text())
    [step] = [each for each in workflow["jobs"]["port"]["steps"] if "cass-ray" in each["uses"]]
    known = yaml.safe_load(ACTION.read_text())["inputs"]
    assert step["with"].keys() <= known.keys()
    [hook] = yaml.safe_load((REPOSITORY / ".pre-commit-hooks.yaml").read_text())
    used = yaml.safe_load((TEMPLATE / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    assert used == [{"id": hook["id"]}]
    assert hook["entry"] == "python -m cass_ray.project.changes"
