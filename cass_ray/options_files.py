"""Options by command in a TOML file: ``cass.toml`` of a folder, or the file of ``--config``.

What the command line says comes first, then ``--config``, then the ``cass.toml`` of the folder that
a command is given, then that of the current folder. ``Any``: typer may carry its own copy of click,
whose classes it does not export.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cass_ray.exit_codes import EXIT_USAGE, fail
from cass_ray.nearest import did_you_mean

DEFAULTS_FILE = "cass.toml"
_NOT_BY_FOLDER = frozenset({"--overwrite", "--server", "--no-auth", "--endpoint", "--upload"})
"""Options that only a person gives: a folder from elsewhere may hold a ``cass.toml``."""
_NOT_BY_ANOTHER_FOLDER = _NOT_BY_FOLDER | {
    *("--output", "--out", "--in-place", "--branch", "--host", "--dependency"),
    *("--engine", "--repair-with"),
}
"""Those that name places outside the folder, change what is in it, or send it elsewhere."""


def options_of_current_folder(group: Any, context: Any) -> None:
    """Read the current folder's ``cass.toml``, if there is one, for what is not given."""
    file = Path(DEFAULTS_FILE)
    if not file.is_file():
        return
    table = _read(file, group.list_commands(context))
    name = context.invoked_subcommand
    if name in table:
        command = group.get_command(context, name)
        context.default_map = {name: _by_parameter(command, table[name], file, _NOT_BY_FOLDER)}


def read_folder_of_argument(command: Any) -> None:
    """Let ``command`` read the ``cass.toml`` of the folder that is its first argument, if any."""
    arguments = [
        each for each in command.params if getattr(each, "param_type_name", "") == "argument"
    ]
    if not arguments or "DIR" not in (arguments[0].metavar or "").split("|"):
        return
    parse = command.parse_args

    def parse_args(context: Any, given: list[str]) -> Any:
        if not context.resilient_parsing:
            values, _, _ = command.make_parser(context).parse_args(args=list(given))
            _add_options_of(values.get(arguments[0].name), command, context)
        return parse(context, given)

    command.parse_args = parse_args


def options_of_file(context: Any, file: Path | None) -> Path | None:
    """The callback of ``--config``: read ``file``, for what is not given."""
    if file is not None and not context.resilient_parsing:
        root = context.find_root()
        commands = (
            root.command.list_commands(root) if hasattr(root.command, "list_commands") else ()
        )
        table = _read(file, commands)
        for name in context.command_path.split()[1:]:
            table = table.get(name, {})
        _add(_by_parameter(context.command, table, file, frozenset()), context)
    return file


def _add_options_of(folder: Any, command: Any, context: Any) -> None:
    if not isinstance(folder, str):
        return
    file = Path(folder) / DEFAULTS_FILE
    if not file.is_file() or file.resolve() == Path(DEFAULTS_FILE).resolve():
        return
    parent = context.parent
    table = _read(file, parent.command.list_commands(parent) if parent is not None else ())
    options = table.get(command.name, {})
    _add(_by_parameter(command, options, file, _NOT_BY_ANOTHER_FOLDER), context)


def _add(options: dict[str, Any], context: Any) -> None:
    context.default_map = {**(context.default_map or {}), **options}


def _read(file: Path, commands: Any) -> dict[str, Any]:
    """The tables of ``file``, each called like one of ``commands``, if there are any."""
    import tomllib

    try:
        tables = tomllib.loads(file.read_text())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        fail("", f"{file}: {error}: give a TOML file with a table for each command", EXIT_USAGE)
    names = list(commands)
    for name, table in tables.items():
        if names and not isinstance(table, dict):
            fail("", f"{file}: {name} is in no table: put it below [COMMAND]", EXIT_USAGE)
        if names and name not in names:
            hint = did_you_mean(name, names)
            fail("", f"{file}: [{name}]: there is no such command; {hint}", EXIT_USAGE)
    return tables


def _by_parameter(command: Any, table: Any, file: Path, refused: frozenset[str]) -> dict[str, Any]:
    """Values of ``table`` by the names that click has for the options."""
    if not isinstance(table, dict):
        fail("", f"{file}: [{command.name}] is no table", EXIT_USAGE)
    if (below := getattr(command, "commands", None)) is not None:
        _check_names(table, below, command, file)
        return {
            name: _by_parameter(below[name], part, file, refused) for name, part in table.items()
        }
    options = {
        name.lstrip("-"): parameter
        for parameter in command.params
        for name in parameter.opts
        if getattr(parameter, "param_type_name", "") == "option"
    }
    _check_names(table, options, command, file)
    values: dict[str, Any] = {}
    for key, value in table.items():
        if refused.intersection(options[key].opts):
            fail("", f"{file}: --{key} is given on the command line only", EXIT_USAGE)
        several = options[key].multiple and not isinstance(value, list)
        values[options[key].name] = [value] if several else value
    return values


def _check_names(table: dict[str, Any], options: Any, command: Any, file: Path) -> None:
    for key in table:
        if key not in options:
            hint = did_you_mean(key, options)
            fail("", f"{file}: [{command.name}] {key}: no such option; {hint}", EXIT_USAGE)
