"""The ``cass`` command finds its subcommands by entry points and imports only what it runs."""

from __future__ import annotations

import errno
import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import EntryPoint, version
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from cass_ray import cli
from tests.folders import REPOSITORY


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


@pytest.mark.parametrize("command", ["check", "run", "translate", "verify"])
def test_commands_on_a_file_import_no_data_sets(command: str) -> None:
    """What reads data sets and clouds takes as long to import as a file takes to translate."""
    heavy = {"pyarrow", "fsspec", "tenacity", "charset_normalizer", "ray", "torch"}
    code = (
        "import sys\n"
        "from cass_ray.cli import app\n"
        f"app(['{command}', '--help'], standalone_mode=False)\n"
        f"sys.exit(repr({heavy!r} & set(sys.modules)) if {heavy!r} & set(sys.modules) else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
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


def test_version_is_that_of_the_package() -> None:
    result = CliRunner().invoke(cli.app, ["--version"])
    assert result.exit_code == 0
    assert result.output.startswith(f"cass-ray {version('cass-ray')} (Python 3.")


def test_a_full_disk_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(**options: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/data/out")

    monkeypatch.setattr(cli, "app", full)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 1
    assert capsys.readouterr().err == (
        "cass: /data/out: No space left on device: free some space, or choose another disk"
        " (--out, CASS_CACHE, TMPDIR)\n"
    )


def test_an_interrupted_command_ends_with_130() -> None:
    code = (
        "import os, signal; from cass_ray import cli; from cass_ray.commands import doctor\n"
        "doctor.app.registered_commands[0].callback = lambda: os.kill(os.getpid(), signal.SIGINT)\n"
        # Ignored where a shell started the tests in the background.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "import sys; sys.argv = ['cass', 'doctor']; cli.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (130, False)


@pytest.fixture
def in_path(tmp_path: Path) -> dict[str, str]:
    """An environment whose ``cass`` is this one."""
    program = tmp_path / "cass"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m cass_ray.cli "$@"\n')
    program.chmod(0o755)
    return {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "HOME": str(tmp_path)}


_COMPLETIONS = {
    "bash": (
        'eval "$(_CASS_COMPLETE=source_bash cass)"; COMP_WORDS=(cass veri); COMP_CWORD=1;'
        ' $(complete -p cass | sed "s/.*-F \\([^ ]*\\).*/\\1/") cass; echo "${COMPREPLY[@]}"'
    ),
    # Outside its line editor zsh cannot complete: the words that the script's function would offer.
    "zsh": (
        'compdef() { true }; _arguments() { print -r -- "$@" }; words=(cass veri); CURRENT=2;'
        ' eval "$(_CASS_COMPLETE=source_zsh cass)"; _cass_completion'
    ),
    "fish": '_CASS_COMPLETE=source_fish cass | source; complete -C "cass veri"',
}


@pytest.mark.parametrize("shell", list(_COMPLETIONS))
def test_shells_complete_commands(shell: str, in_path: dict[str, str]) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} on this machine")
    done = subprocess.run(
        [shell, "-c", _COMPLETIONS[shell]], env=in_path, capture_output=True, text=True, check=False
    )
    assert "verify" in done.stdout, done.stderr
    assert "verify-selftest" in done.stdout
    assert "translate" not in done.stdout


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["serve"], "cass: serve has ended\n"),
        (["mcp", "--root", "."], "cass: mcp has ended\n"),
        (["reward", "serve"], "cass: reward has ended\n"),
        (["build-dataset"], "give the same command again, with --resume"),
        ([], "interrupted"),
    ],
)
def test_an_interrupt_while_a_command_is_imported(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    typed: list[str],
    said: str,
) -> None:
    def interrupted(**options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "app", interrupted)
    monkeypatch.setattr(sys, "argv", ["cass", *typed])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 130
    assert said in capsys.readouterr().err


def test_names_are_completed_without_importing_a_command(in_path: dict[str, str]) -> None:
    code = (
        "import sys\n"
        "class NoCommands:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.startswith(('cass_ray.commands.', 'jobs.', 'serve.', 'cluster.')):\n"
        "            raise AssertionError(name)\n"
        "sys.meta_path.insert(0, NoCommands())\n"
        "from cass_ray import cli; cli.main()\n"
    )
    environment = {
        **in_path,
        "_CASS_COMPLETE": "complete_bash",
        "COMP_WORDS": "cass ",
        "COMP_CWORD": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) >= set(cli.SUMMARIES)


_WITHOUT_EXTRAS = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition('.')[0] in {names}:
            raise ModuleNotFoundError(f'No module named {{name!r}}', name=name)
sys.meta_path.insert(0, Missing())
from cass_ray import cli
from tests.folders import REPOSITORY
sys.argv = ['cass', *{arguments}]
cli.main()
"""
_EXTRAS = {
    *("altair", "sklearn", "umap", "rapidfuzz", "sacrebleu", "jinja2", "textual", "mlcroissant"),
    *("vl_convert", "matplotlib", "fastapi", "openai", "mcp", "mcp_types", "torch", "transformers"),
    *("deepspeed", "liger_kernel", "bitsandbytes", "peft", "s3fs", "prometheus_client"),
}


@pytest.mark.parametrize("command", list(cli.SUMMARIES))
def test_help_of_each_command_needs_no_extra(command: str) -> None:
    code = _WITHOUT_EXTRAS.format(names=repr(_EXTRAS), arguments=[command, "--help"])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Usage: cass" in done.stdout


def test_analyze_says_which_extra_it_needs(tmp_path: Path) -> None:
    arguments = ["analyze", str(tmp_path), "--out", str(tmp_path / "out")]
    code = _WITHOUT_EXTRAS.format(names=repr(_EXTRAS), arguments=arguments)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "cass-ray[analysis]" in done.stderr
    assert "Traceback" not in done.stderr


def test_help_has_one_style() -> None:
    """A command of Typer's without ``rich_markup_mode=None`` draws boxes, others do not."""
    made = re.compile(r"typer\.Typer\((?:[^()]|\([^()]*\))*\)")
    for folder in ("cass_ray/commands", "jobs", "serve", "cluster"):
        for path in (REPOSITORY / folder).rglob("*.py"):
            for call in made.findall(path.read_text()):
                assert "rich_markup_mode=None" in call, f"{path}: {call}"
