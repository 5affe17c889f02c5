"""``cass doctor``: the tools of this machine, and what each missing one would enable."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from cass_ray.architectures import (
    AMD_ARCHITECTURES,
    AMD_TARGETS,
    NVIDIA_ARCHITECTURES,
    cards_of,
)
from cass_ray.commands.waiting import waiting
from cass_ray.exit_codes import EXIT_TOOL_MISSING
from cass_ray.toolchain.archive.library_targets import targets_table
from cass_ray.toolchain.inventory import ToolStatus, find_all

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Show the tools that were found, their versions, and what each missing one would enable.

    Exits with 0 if every required tool works, else with 3.
    """
    with waiting("asking the tools for their versions"):
        tools = find_all()
    missing = [tool for tool in tools if not tool.works]
    if as_json:
        document = {
            "ready": not any(tool.required for tool in missing),
            "library_targets": targets_table(),
            "tools": [tool.model_dump() for tool in tools],
        }
        typer.echo(json.dumps(document, indent=2))
    else:
        console = Console()
        console.print(table(tools))
        console.print(f"\nTargets: {', '.join(NVIDIA_ARCHITECTURES)}", highlight=False)
        for needs in dict.fromkeys(target.needs for target in AMD_TARGETS):
            names = [
                target.name + (" (runs on the CPU)" if target.emulated else "")
                for target in AMD_TARGETS
                if target.needs == needs
            ]
            console.print(f"  with {needs}: {', '.join(names)}", highlight=False)
        console.print(library_table())
        console.print("Cards, as --arch takes them:", highlight=False)
        for name in (*AMD_ARCHITECTURES, *NVIDIA_ARCHITECTURES):
            if cards := cards_of(name):
                console.print(f"  {name}{_run_or_not(name)}: {', '.join(cards)}", highlight=False)
        for tool in missing:
            need = "needed for" if tool.required else "would enable"
            console.print(f"\n{tool.name}: {need} {tool.enables}.", style="bold", markup=False)
            console.print(f"  {tool.remedy}", markup=False, highlight=False)
    if any(tool.required for tool in missing):
        raise typer.Exit(EXIT_TOOL_MISSING)


def _run_or_not(architecture: str) -> str:
    """What is done with an AMD processor beside compiling for it; empty for Nvidia's."""
    target = next((each for each in AMD_TARGETS if each.name == architecture), None)
    if target is None:
        return ""
    return " (runs)" if target.emulated else f" (compiles; test as {target.tested_as})"


def library_table() -> Table:
    """Library x target: whether AMD's library, as `cass setup libraries` has it, holds code."""
    table = targets_table()
    result = Table(box=None, pad_edge=False, title="\nCode in libraries", title_justify="left")
    result.add_column("library")
    for target in next(iter(table.values())):
        result.add_column(target)
    for name, targets in table.items():
        result.add_row(name, *("yes" if held else "no" for held in targets.values()))
    result.add_row("rocfft", *("compiles" for _ in next(iter(table.values()))))
    return result


def table(tools: list[ToolStatus]) -> Table:
    """One row a tool."""
    result = Table(box=None, pad_edge=False)
    for heading in ("", "tool", "version", "found by", "path"):
        result.add_column(heading, overflow="fold")
    for tool in tools:
        if tool.works:
            mark = "[green]ok[/green]"
        else:
            mark = "[red]missing[/red]" if tool.required else "[yellow]no[/yellow]"
        result.add_row(mark, tool.name, tool.version, tool.origin, tool.path)
    return result
