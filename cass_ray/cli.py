"""The ``cass`` command: subcommands are entry points, imported only when they run.

Jobs, service and clusters live above the library. Their commands, like the library's own, are
registered in ``pyproject.toml`` under ``cass_ray.commands``; nothing here names their modules.
"""

from __future__ import annotations

import functools
import platform
import sys
from importlib.metadata import EntryPoint, entry_points
from typing import Annotated, Any

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

from cass_ray.exit_codes import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_TOOL_MISSING, fail, no_room
from cass_ray.interrupts import end_as_interrupted
from cass_ray.version import __version__

GROUP = "cass_ray.commands"
"""The group of entry points: name -> ``module:typer application``."""

GROUPS: dict[str, dict[str, str]] = {
    "Port": {
        "check": "What will porting cost, and what remains?",
        "translate": "Translate CUDA to HIP.",
        "project": "Port a whole project, build and test it.",
        "port-projects": "Port many projects, with one report.",
        "compile": "Compile a CUDA, HIP or OpenCL file.",
        "run": "Compile and run a program in the sandbox.",
        "verify": "Run both sides of a program and compare.",
        "explain": "What a finding means, and what to do.",
        "verify-selftest": "Mutation test of the verifier.",
        "parity": "Compare what a port and its original cost.",
    },
    "Binaries": {
        "run-binary": "Run an Nvidia executable on AMD.",
        "lift": "What the SASS lifter covers.",
        "emulator": "What the CPU backend covers.",
    },
    "Data": {
        "build-dataset": "Build a data set of aligned pairs.",
        "inspect": "Show rows of a data set side by side.",
        "analyze": "A data set in figures, as a page.",
        "compare": "Two data sets or results, by numbers.",
        "publish": "Files, card and upload for others.",
        "generate": "Random, correct CUDA programs.",
        "synthesize": "CUDA programs from a language model.",
    },
    "Models": {
        "train": "Train a translation model on pairs.",
        "bench": "CASS-Bench: run and score translators.",
        "reward": "Execution as reward, for training.",
    },
    "Service": {
        "serve": "Translations over HTTP, with a page.",
        "mcp": "Tools for agents (MCP), stdio or HTTP.",
        "cluster": "A local multi-node Ray cluster.",
    },
    "Set-up": {
        "setup": "Fetch AMD's libraries and headers.",
        "doctor": "Tools, versions, targets; what is missing.",
    },
}
"""Heading -> command -> help line, in the order of ``cass --help``."""

SUMMARIES = {name: line for commands in GROUPS.values() for name, line in commands.items()}
"""Command name -> help line."""

RENAMED = {"rdna3": "emulator", "port": "run-binary"}
"""Former name of a command -> its name today. It goes on working, with a line that says so."""


class LazyGroup(TyperGroup):
    """A command group that imports a subcommand's module when it is used.

    ``Any``: typer carries its own copy of click, whose classes it does not export.
    """

    _lists_names = False
    """Whether only names and help lines of commands are asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Our own in the order of the help, then those that other packages add, by name."""
        return [*SUMMARIES, *sorted(_registered().keys() - SUMMARIES.keys())]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import and return the subcommand, or None when there is no such name."""
        if self._lists_names:
            return TyperCommand(cmd_name, short_help=SUMMARIES.get(cmd_name))
        entry = _registered().get(cmd_name)
        if entry is None:
            return None
        try:
            application = entry.load()
        except ModuleNotFoundError as error:
            if ctx.resilient_parsing:  # a shell asks for completions
                return None
            fail(cmd_name, f"the package {error.name} is not installed", EXIT_TOOL_MISSING)
        from cass_ray.shared_options import give_shared_options

        command = give_shared_options(typer.main.get_command(application))
        command.name = cmd_name
        command.short_help = SUMMARIES.get(cmd_name)
        return command

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Complete names of commands without importing any of them."""
        self._lists_names = True
        try:
            return super().shell_complete(ctx, incomplete)
        finally:
            self._lists_names = False

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """As typer does; an unknown name is answered with the one that was probably meant."""
        name = args[0]
        if ctx.resilient_parsing:
            from cass_ray.shared_options import completion_of, values_of

            if len(args) > 1 and values_of(args[-1]):
                return name, completion_of(args[-1]), args[-1:]
        if name in RENAMED and RENAMED[name] in _registered():
            if not ctx.resilient_parsing:
                sys.stderr.write(f"`cass {name}` is now `cass {RENAMED[name]}`\n")
            args = [RENAMED[name], *args[1:]]
        elif name not in _registered():
            ctx.fail(_no_such_command(name, self.list_commands(ctx)))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List names and help lines without importing any command."""
        registered = _registered()
        others = {
            name: f"Of {registered[name].value.partition(':')[0]}."
            for name in sorted(registered.keys() - SUMMARIES.keys())
        }
        width = max(map(len, [*SUMMARIES, *others]))
        for heading, commands in {**GROUPS, "Of other packages": others}.items():
            if commands:
                with formatter.section(heading):
                    formatter.write_dl([(n.ljust(width), line) for n, line in commands.items()])


@functools.cache
def _registered() -> dict[str, EntryPoint]:
    return {each.name: each for each in entry_points(group=GROUP)}


def _no_such_command(name: str, commands: list[str]) -> str:
    from cass_ray.nearest import did_you_mean

    if name in SUMMARIES:
        return f"`cass {name}` is not installed: pip install --editable . anew"
    return f"no command `{name}`; {did_you_mean(name, commands)}"


_SERVERS = frozenset({"serve", "mcp", "reward"})


def _interrupted() -> str:
    """The message after Ctrl-C, by which a person ends a server."""
    if _SERVERS & set(sys.argv[1:2]):
        return f"cass: {sys.argv[1]} has ended\n"
    return "cass: interrupted; give the same command again, with --resume where it has that\n"


app = typer.Typer(cls=LazyGroup, no_args_is_help=True, rich_markup_mode=None)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"cass-ray {__version__} (Python {platform.python_version()})")
        raise typer.Exit


@app.callback()
def _root(
    ctx: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version, and end."
        ),
    ] = False,
) -> None:
    """Port GPU programs from Nvidia to AMD and prove that the port is right."""
    del version
    if ctx.invoked_subcommand is not None:
        from cass_ray.options_files import options_of_current_folder

        options_of_current_folder(ctx.command, ctx)


def main() -> None:
    """Entry point. Exit codes: 0 done, 1 work failed, 2 usage or settings, 3 tool missing,
    130 interrupted."""
    end_as_interrupted()
    try:
        sys.exit(app(prog_name="cass"))
    except SystemExit as ended:
        if ended.code == EXIT_INTERRUPTED:
            sys.stderr.write(_interrupted())
        raise
    except KeyboardInterrupt:  # where typer does not see it: while a command is imported
        sys.stderr.write(_interrupted())
        sys.exit(EXIT_INTERRUPTED)
    except OSError as error:
        if (message := no_room(error)) is None:
            raise
        sys.stderr.write(f"cass: {message}\n")
        sys.exit(EXIT_FAILED)


if __name__ == "__main__":
    main()
