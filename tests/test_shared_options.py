"""Options are called the same in every command, mean the same, and are completed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import typer.main
from typer.testing import CliRunner

from cass_ray import cli
from cass_ray.architectures import AMD_ARCHITECTURES, NVIDIA_ARCHITECTURES
from cass_ray.corpus.sources.registry import _KINDS
from cass_ray.shared_options import (
    ENGINE_VALUES,
    SOURCE_VALUES,
    give_shared_options,
    values_of,
)
from cass_ray.translate.engines.registry import ENGINES
from cass_ray.verbosity import Verbosity, set_verbosity, verbose

RESUMED = {"bench run", "bench admit", "bench report", "port-projects", "synthesize", "train"}
"""Write folders that the job owns and goes on with."""
CHECKED = {"publish"}
"""Refuses a folder that is not empty."""


def leaves(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    below = getattr(command, "commands", None)
    if below is None:
        yield path, command
        return
    for name, each in below.items():
        yield from leaves(each, f"{path} {name}")


def every_command() -> dict[str, dict[str, Any]]:
    """Path -> option -> parameter."""
    made = {}
    for name, entry in cli._registered().items():
        command = give_shared_options(typer.main.get_command(entry.load()))
        for path, leaf in leaves(command, name):
            made[path] = {
                option: each
                for each in leaf.params
                if each.param_type_name == "option"
                for option in each.opts
            }
    return made


COMMANDS = every_command()


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    yield
    set_verbosity(Verbosity.NORMAL)


@pytest.mark.parametrize("path", list(COMMANDS))
def test_the_promise_of_options(path: str) -> None:
    options = COMMANDS[path]
    assert {"--quiet", "--verbose", "--config"} <= set(options)
    outputs = {"-o", "--out", "--output"} & set(options)
    assert len(outputs) in (0, 3), outputs
    assert len({id(options[name]) for name in outputs}) <= 1
    if "--arch" in options:
        assert options["--arch"].multiple
        completed = options["--arch"]._custom_shell_complete(None, None, "mi30")
        assert completed == ["mi300x", "mi300a", "mi308x"]
    if outputs and path not in RESUMED | CHECKED:
        assert "--overwrite" in options
    for name in ("--engine", "--source"):
        if name in options:
            assert options[name]._custom_shell_complete(None, None, "")


def test_no_command_prints_its_report_in_another_way() -> None:
    others = {"--format", "--as-json", "--print-json", "--verbosity", "--silent", "--force"}
    assert not {name for options in COMMANDS.values() for name in options} & others


def test_completed_values_are_those_that_there_are() -> None:
    assert {name.rstrip(":") for name in SOURCE_VALUES} == set(_KINDS)
    assert {*ENGINES, "lift", "model:", "chat:"} == set(ENGINE_VALUES)
    assert {*AMD_ARCHITECTURES, *NVIDIA_ARCHITECTURES} < set(values_of("--arch"))
    assert "v100" not in values_of("--arch")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("cass verify a.cu --arch mi3", {"mi300x", "mi355x"}),
        ("cass run --arch gfx94", {"gfx942"}),
        ("cass emulator coverage --arch rx9070", {"rx9070xt", "rx9070"}),
        ("cass translate a.cu --engine rul", {"rules", "rules-hip-to-cuda"}),
        ("cass build-dataset --source sh", {"shipped", "shipped-opencl"}),
        ("cass bench run --arch h", {"h100", "h200"}),
    ],
)
def test_values_are_completed_without_importing_a_command(line: str, expected: set[str]) -> None:
    code = (
        "import sys\n"
        "class NoCommands:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.startswith(('cass_ray.commands.', 'jobs.', 'pydantic.', 'yaml')):\n"
        "            raise AssertionError(name)\n"
        "sys.meta_path.insert(0, NoCommands())\n"
        "from cass_ray import cli; cli.main()\n"
    )
    words = line.split()
    environment = {
        **os.environ,
        "_CASS_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
    }
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) >= expected
    assert all(value.startswith(words[-1]) for value in done.stdout.split())


def test_an_old_name_goes_on_working_and_says_the_new_one() -> None:
    result = CliRunner().invoke(cli.app, ["rdna3", "--help"])
    assert result.exit_code == 0
    assert "`cass rdna3` is now `cass emulator`" in result.output
    assert " emulator [OPTIONS]" in result.output
    result = CliRunner().invoke(cli.app, ["port", "nowhere"])
    assert result.exit_code == 2
    assert "`cass port` is now `cass run-binary`" in result.output


def test_both_old_and_new_names_of_an_output(tmp_path: Path) -> None:
    source = tmp_path / "a.cu"
    source.write_text("int main() { cudaDeviceSynchronize(); }\n")
    for name in ("-o", "--out", "--output"):
        target = tmp_path / f"a{name}.hip"
        result = CliRunner().invoke(cli.app, ["translate", str(source), name, str(target)])
        assert result.exit_code == 0, result.output
        assert "hipDeviceSynchronize" in target.read_text()


def test_options_of_a_file(tmp_path: Path) -> None:
    source = tmp_path / "a.cu"
    source.write_text("int main() { cudaDeviceSynchronize(); }\n")
    settings = tmp_path / "mine.toml"
    settings.write_text('[translate]\nengine = "nothing"\n')
    arguments = ["translate", str(source), "--config", str(settings)]
    result = CliRunner().invoke(cli.app, arguments)
    assert (result.exit_code, "'nothing'" in result.output) == (2, True)
    assert CliRunner().invoke(cli.app, [*arguments, "--engine", "rules"]).exit_code == 0
    settings.write_text("[translate]\nengin = 1\n")
    result = CliRunner().invoke(cli.app, arguments)
    assert (result.exit_code, "did you mean `engine`?" in result.output) == (2, True)
    settings.write_text("[translate\n")
    result = CliRunner().invoke(cli.app, arguments)
    assert (result.exit_code, "give a TOML file" in result.output) == (2, True)


def test_options_of_the_folder_cannot_overwrite_or_send(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.cu").write_text("int main() { cudaDeviceSynchronize(); }\n")
    (tmp_path / "cass.toml").write_text('[translate]\noutput = "made.hip"\n')
    assert CliRunner().invoke(cli.app, ["translate", "a.cu"]).exit_code == 0
    assert (tmp_path / "made.hip").is_file()
    for line in ("overwrite = true", 'server = "http://somewhere"'):
        (tmp_path / "cass.toml").write_text(f"[translate]\n{line}\n")
        result = CliRunner().invoke(cli.app, ["translate", "a.cu"])
        assert result.exit_code == 2
        assert "on the command line only" in result.output


@pytest.mark.parametrize("command", ["check", "project", "translate"])
def test_options_of_the_folder_that_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/a.cu").write_text("int main() { cudaDeviceSynchronize(); }\n")
    file = tmp_path / "mine/cass.toml"
    for text, said in (
        (f"[{command}]\njsn = true\n", f"mine/cass.toml: [{command}] jsn: no such option; did"),
        (f"[{command[:-1]}]\njson = true\n", f"did you mean `{command}`?"),
        ("json = true\n", "json is in no table: put it below [COMMAND]"),
        (
            f"[{command}]\nengine = 'chat:x'\n"
            if command != "project"
            else f"[{command}]\ndependency = 'a=/etc'\n",
            "on the command line only",
        ),
        (f"[{command}]\noutput = '/'\n", "mine/cass.toml: --output is given on the command"),
    ):
        file.write_text(text)
        result = CliRunner().invoke(cli.app, [command, "mine"])
        assert result.exit_code == 2
        assert said in " ".join(result.output.split())


def test_which_options_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    given = ["project", "mine"]

    def refused(*more: str) -> str:
        """The card that is read last: none of these is one."""
        return CliRunner().invoke(cli.app, [*given, *more]).output

    (tmp_path / "cass.toml").write_text('[project]\narch = ["rx1"]\n')
    assert "rx1:" in refused()
    (tmp_path / "mine/cass.toml").write_text('[project]\narch = "rx2"\n')
    assert "rx2:" in refused()
    (tmp_path / "named.toml").write_text('[project]\narch = ["rx3"]\n')
    assert "rx3:" in refused("--config", "named.toml")
    assert "rx4:" in refused("--config", "named.toml", "--arch", "rx4")
    monkeypatch.chdir(tmp_path / "mine")
    given[1] = "."
    assert "rx2:" in refused()


def test_json_by_the_folder_that_is_given(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text("int main() { cudaDeviceSynchronize(); }\n")
    (tmp_path / "cass.toml").write_text("[check]\njson = true\n")
    result = CliRunner().invoke(cli.app, ["check", str(tmp_path)])
    assert '"by_rules": 1' in result.output
    (tmp_path / "cass.toml").write_text("[check]\njsn = true\n")
    result = CliRunner().invoke(cli.app, ["check", str(tmp_path)])
    assert result.output.startswith(f"cass: {tmp_path}/cass.toml: [check] jsn: no such option")


def test_quiet_and_verbose_are_heard(tmp_path: Path) -> None:
    source = tmp_path / "a.cu"
    source.write_text("int main() { cudaDeviceSynchronize(); }\n")
    CliRunner().invoke(cli.app, ["translate", str(source), "-v"])
    assert verbose()
