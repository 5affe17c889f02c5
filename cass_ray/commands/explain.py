"""``cass explain``: what a finding means and how it is settled."""

from __future__ import annotations

import json
import textwrap
from typing import Annotated

import typer

from cass_ray.exit_codes import EXIT_USAGE, fail
from cass_ray.translate.diagnostics import DIAGNOSTICS, OTHER, Diagnostic, diagnostics_about

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_WIDTH = 88


@app.command()
def explain(
    finding: Annotated[
        list[str] | None,
        typer.Argument(help="A number as CASS1005, or words of its message. [default: list all]"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print them as JSON.")] = False,
) -> None:
    """Explain a finding: why it is reported, and what to do.

    Exit codes: 0 done, 2 there is no such finding.
    """
    asked = " ".join(finding or [])
    try:
        items = diagnostics_about(asked) if asked else [OTHER, *DIAGNOSTICS]
    except ValueError as error:
        fail("explain", error, EXIT_USAGE)
    if as_json:
        names = ("code", "title", "why", "how", "page")
        shown = [{name: getattr(item, name) for name in names} for item in items]
        typer.echo(json.dumps(shown, indent=2))
    elif asked:
        typer.echo("\n\n".join(map(_text, items)))
    else:
        typer.echo("\n".join(f"{item.code}  {item.title}" for item in items))


def _text(item: Diagnostic) -> str:
    paragraphs = (f"{item.code}: {item.title}", item.why, f"What to do: {item.how}")
    return "\n".join(textwrap.fill(each, _WIDTH) for each in paragraphs)
