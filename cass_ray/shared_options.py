"""Options that mean the same in every command, given to each when it is loaded.

An option that writes is ``-o``, ``--out`` and ``--output``; ``--arch`` and its kin take names of
cards; ``--quiet``, ``--verbose`` and ``--config`` are there; values are completed. Commands declare
what is theirs alone. ``Any``: typer may carry its own copy of click, whose classes it does not
export.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.main
from typer.core import TyperCommand

from cass_ray.architectures import architecture_named, architectures_and_cards
from cass_ray.options_files import options_of_file, read_folder_of_argument
from cass_ray.verbosity import Verbosity, set_verbosity

OUT = ("-o", "--out", "--output")
"""What every option that names an output is called, the first two in its help."""
PROCESSORS = frozenset({"--arch", "--device", "--amd"})
"""Options that name processors."""
ENGINE_VALUES = (
    *("rules", "rules-hip-to-cuda", "hipify-perl", "hipify-clang", "lift", "model:", "chat:"),
)
SOURCE_VALUES = (
    *("local:", "repository:", "opencl:", "shipped-opencl", "stack-v2", "generated:"),
    *("synthetic:", "shipped"),
)


def values_of(option: str) -> tuple[str, ...]:
    """What may follow ``option``; empty where anything may."""
    if option in PROCESSORS:
        return architectures_and_cards()
    return {"--engine": ENGINE_VALUES, "--source": SOURCE_VALUES}.get(option, ())


def completion_of(option: str) -> Any:
    """A command with ``option`` alone, whose values a shell may complete; imports none of ours."""
    app = typer.Typer(add_completion=False)

    def one(value: list[str] | None = None) -> None:
        del value

    # typer evaluates annotations that are text, where ``option`` is not known.
    one.__annotations__["value"] = Annotated[list[str] | None, typer.Option(option)]
    app.command()(one)
    parameters = [each for each in typer.main.get_command(app).params if option in each.opts]
    for each in parameters:
        _complete(each, option)
    return TyperCommand("", params=parameters)


def give_shared_options(command: Any) -> Any:
    """``command``, or each command below it, with the options that all have."""
    if (below := getattr(command, "commands", None)) is not None:
        for each in below.values():
            give_shared_options(each)
        return command
    for parameter in command.params:
        if getattr(parameter, "param_type_name", "") == "option":
            _conform(parameter)
    taken = {name for each in command.params for name in each.opts}
    for parameter in _shared():
        parameter.opts = [name for name in parameter.opts if name not in taken]
        if any(name.startswith("--") for name in parameter.opts):
            command.params.append(parameter)
    read_folder_of_argument(command)
    return command


def _conform(parameter: Any) -> None:
    names = list(parameter.opts)
    if "-o" in names or "--out" in names or "--output" in names:
        parameter.opts = [*OUT, *(name for name in names if name not in OUT)]
    for option in names:
        if option in PROCESSORS:
            parameter.callback = _with_cards(parameter.callback, option)
        if values_of(option):
            _complete(parameter, option)


def _complete(parameter: Any, option: str) -> None:
    def complete(context: Any, of: Any, incomplete: str) -> list[str]:
        del context, of
        return [value for value in values_of(option) if value.startswith(incomplete.lower())]

    parameter._custom_shell_complete = complete


def _with_cards(callback: Any, option: str) -> Any:
    """A callback that says which processor a card has, before the option's own."""

    def resolve(context: Any, parameter: Any, value: Any) -> Any:
        if not context.resilient_parsing and value:
            try:
                value = (
                    architecture_named(value)
                    if isinstance(value, str)
                    else type(value)(architecture_named(each) for each in value)
                )
            except ValueError as error:
                raise typer.BadParameter(str(error), param_hint=option) from None
        return callback(context, parameter, value) if callback is not None else value

    return resolve


def _shared() -> Iterator[Any]:
    """New parameters for ``--quiet``, ``--verbose`` and ``--config``."""
    app = typer.Typer(add_completion=False)
    app.command()(_options)
    for parameter in typer.main.get_command(app).params:
        if "--help" not in parameter.opts:
            parameter.expose_value = False
            yield parameter


def _quieter(context: typer.Context, wanted: bool) -> bool:
    if wanted and not context.resilient_parsing:
        set_verbosity(Verbosity.QUIET)
    return wanted


def _louder(context: typer.Context, wanted: bool) -> bool:
    if wanted and not context.resilient_parsing:
        set_verbosity(Verbosity.VERBOSE)
    return wanted


def _options(
    quiet: Annotated[
        bool,
        typer.Option(
            "-q", "--quiet", callback=_quieter, is_eager=True, help="No progress, no next step."
        ),
    ] = False,
    verbose: Annotated[
        bool,
        typer.Option(
            "-v", "--verbose", callback=_louder, is_eager=True, help="Details under the verdict."
        ),
    ] = False,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            callback=options_of_file,
            is_eager=True,
            metavar="FILE.toml",
            help="Options by command, as in cass.toml.",
        ),
    ] = None,
) -> None:
    del quiet, verbose, config
