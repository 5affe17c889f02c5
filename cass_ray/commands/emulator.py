"""``cass emulator``: what the CPU backend covers."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from cass_ray.architectures import DEFAULT_AMD_ARCHITECTURE, emulated_architectures
from cass_ray.commands.waiting import waiting
from cass_ray.emulator.build import BuildFailed
from cass_ray.emulator.coverage import EmulatorCoverage, instruction_set_of, measure
from cass_ray.emulator.engine_interface import State
from cass_ray.exit_codes import EXIT_FAILED, EXIT_TOOL_MISSING, fail
from cass_ray.toolchain.errors import ToolMissing

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True)


@app.callback()
def _group() -> None:
    """The CPU backend for AMD code."""


@app.command()
def coverage(
    arch: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Card or processor: {', '.join(emulated_architectures())}; may be repeated."
            f" [default: {DEFAULT_AMD_ARCHITECTURE}]"
        ),
    ] = None,
    state: Annotated[
        State | None, typer.Option(help="List only instructions of this state.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Every instruction of the processor that LLVM knows, and whether the CPU backend executes it.

    States: covered; ignored (waits and hints, nothing to do where instructions complete in order);
    graphics (formats of shaders only); unsupported. Exit codes: 0 done, 1 the engine does not
    build, 3 a tool is missing.
    """
    results = {name: _measured(name) for name in dict.fromkeys(arch or [DEFAULT_AMD_ARCHITECTURE])}
    if as_json:
        objects = {name: as_dictionary(entry, state) for name, entry in results.items()}
        whole = next(iter(objects.values())) if len(objects) == 1 else objects
        sys.stdout.write(json.dumps(whole, indent=2) + "\n")
        return
    for name, entry in results.items():
        sys.stdout.write((f"{name}:\n" if len(results) > 1 else "") + text(entry, state))


def _measured(arch: str) -> EmulatorCoverage:
    try:
        with waiting(f"asking LLVM for the instructions of {arch}"):
            return measure(instruction_set_of(arch))
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--arch") from None
    except (ToolMissing, FileNotFoundError) as error:
        fail("emulator", error, EXIT_TOOL_MISSING)
    except BuildFailed as error:
        fail("emulator", f"the engine does not build: {error}", EXIT_FAILED)


def as_dictionary(figures: EmulatorCoverage, state: State | None = None) -> dict[str, object]:
    """For JSON: totals by state (mnemonics), and the instructions, those of ``state`` if given."""
    return {
        "mnemonics": dict(sorted(figures.states().items())),
        "instructions": [
            {"encoding": item.encoding, "mnemonic": item.mnemonic, "state": item.state}
            for item in figures.listed(state)
        ],
    }


def text(figures: EmulatorCoverage, state: State | None = None) -> str:
    """The coverage for people: a line for each instruction, then the totals."""
    lines = [f"{item.encoding:8} {item.mnemonic:40} {item.state}" for item in figures.listed(state)]
    states = figures.states()
    total = sum(states.values())
    lines += [
        f"{name}: {number} of {total} mnemonics ({number / total:.1%})"
        for name, number in sorted(states.items())
    ]
    return "\n".join(lines) + "\n"
