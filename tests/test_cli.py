"""The ``cass`` command finds its subcommands by entry points and imports only what it runs."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import EntryPoint

import pytest
import typer
from typer.testing import CliRunner

from cass_ray import cli


def test_help_lists_every_command_in_order() -> None:
    shown = CliRunner().invoke(cli.app, ["--help"]).output
    places = [shown.index(f"  {name} ") for name in cli.SUMMARIES]
    assert places == sorted(places)
    assert "emulator" in shown
    assert "rdna3 " not in shown


def test_every_help_line_has_a_registered_command() -> None:
    assert set(cli._registered()) == set(cli.SUMMARIES)


@pytest.mark.parametrize("name", list(cli.SUMMARIES))
def test_every_registered_command_is_a_typer_application(name: str) -> None:
    assert isinstance(cli._registered()[name].load(), typer.Typer)


def test_help_imports_no_command_and_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from cass_ray.cli import app\n"
        "app(['--help'], standalone_mode=False)\n"
        "heavy = {'jobs', 'serve', 'cluster', 'ray', 'pyarrow', 'torch', 'pydantic'}\n"
        "loaded = {name.partition('.')[0] for name in sys.modules} & heavy\n"
        "loaded |= {name for name in sys.modules if name.startswith('cass_ray.commands')}\n"
        "sys.exit(repr(loaded) if loaded else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("rdna3", "`cass rdna3` is now `cass emulator`"),
        ("complie", "did you mean `compile`?"),
        ("qqqq", "known: analyze, bench"),
    ],
)
def test_an_unknown_command_is_answered_with_the_nearest(typed: str, answer: str) -> None:
    result = CliRunner().invoke(cli.app, [typed])
    assert result.exit_code == 2
    assert answer in result.output


def test_another_package_may_add_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = EntryPoint("extra", "cass_ray.commands.doctor:app", cli.GROUP)
    monkeypatch.setattr(cli, "_registered", lambda: {"extra": ours})
    result = CliRunner().invoke(cli.app, ["--help"])
    assert "Of cass_ray.commands.doctor." in result.output
    assert CliRunner().invoke(cli.app, ["extra", "--help"]).exit_code == 0
    assert "not installed" in CliRunner().invoke(cli.app, ["train"]).output
