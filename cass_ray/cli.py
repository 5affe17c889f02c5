"""The ``cass`` command: subcommands are named here and imported only when they run.

Jobs live above the library, so the table holds their names as text: importing ``cass_ray`` never
imports ``jobs`` or ``serve``.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import typer
import typer.main
from typer.core import TyperGroup

COMMANDS: dict[str, tuple[str, str]] = {
    "doctor": ("cass_ray.commands.doctor:app", "Tools found, versions, and what each one enables."),
    "compile": ("cass_ray.commands.compile:app", "Compile a CUDA, HIP or OpenCL file."),
    "translate": ("cass_ray.commands.translate:app", "Translate CUDA to HIP."),
    "run": ("cass_ray.commands.run:app", "Compile and run a program in the sandbox."),
    "rdna3": ("cass_ray.commands.emulator:app", "What the CPU backend for RDNA3 covers."),
    "lift": ("cass_ray.commands.lift:app", "What the SASS lifter covers."),
    "port": ("cass_ray.commands.port:app", "Run an Nvidia executable on AMD."),
    "verify": ("cass_ray.commands.verify:app", "Run both sides of a program and compare."),
    "verify-selftest": (
        "cass_ray.commands.verify:selftest_app",
        "Mutation test of the verifier.",
    ),
    "parity": ("cass_ray.commands.parity:app", "Compare cost of a port with its reference."),
    "bench": ("jobs.run_bench:app", "CASS-Bench: run and score translators."),
    "inspect": ("cass_ray.commands.inspect:app", "Show rows of a data set side by side."),
    "build-dataset": ("jobs.build_dataset:app", "Build a data set of aligned pairs."),
    "synthesize": ("jobs.synthesize:app", "CUDA programs from a language model."),
    "generate": ("cass_ray.commands.generate:app", "Random, correct CUDA programs."),
    "train": ("jobs.train:app", "Train a translation model on pairs."),
    "serve": ("serve.command:app", "Translations over HTTP, with a page."),
    "cluster": ("cluster.cli:app", "A local multi-node Ray cluster."),
}
"""Command name -> (``module:typer application``, help line)."""


class LazyGroup(TyperGroup):
    """A command group that imports a subcommand's module when it is used.

    ``Any``: typer carries its own copy of click, whose classes it does not export.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        """Names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import and return the subcommand, or None when there is no such name."""
        if cmd_name not in COMMANDS:
            return None
        target, summary = COMMANDS[cmd_name]
        module, attribute = target.split(":")
        application = getattr(import_module(module), attribute)
        command = typer.main.get_command(application)
        command.name = cmd_name
        command.short_help = summary
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the table without importing anything."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


app = typer.Typer(cls=LazyGroup, no_args_is_help=True, add_completion=False, rich_markup_mode=None)


@app.callback()
def _root() -> None:
    """Port GPU programs from Nvidia to AMD and prove that the port is right."""


def main() -> None:
    """Entry point. Exit codes: 0 done, 1 work failed, 2 usage or settings, 3 tool missing."""
    sys.exit(app())


if __name__ == "__main__":
    main()
