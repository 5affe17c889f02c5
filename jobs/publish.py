#!/usr/bin/env python3
"""Publish a data set, a model or benchmark results: a folder as others load it, and its upload.

Runs as ``cass publish SOURCE --out DIR``. Nothing leaves this machine without ``--upload``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from cass_ray.commands.endings import ending
from cass_ray.commands.waiting import waiting
from cass_ray.config import settings_from
from cass_ray.publish.prepare import NothingToPublishError, Prepared, prepare
from cass_ray.publish.settings import PublishSettings
from cass_ray.publish.upload import UploadError, upload

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command("publish")
def publish(
    source: Annotated[Path | None, typer.Argument(help="Data set, model or results.")] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder to write.")] = None,
    name: Annotated[str | None, typer.Option(help="Of what is published.")] = None,
    repository: Annotated[str | None, typer.Option(help="OWNER/NAME on the hub.")] = None,
    endpoint: Annotated[str | None, typer.Option(help="Base URL of the hub.")] = None,
    opt_out: Annotated[Path | None, typer.Option(help="List of what must not leave.")] = None,
    send: Annotated[bool, typer.Option("--upload", help="Upload; otherwise only write.")] = False,
    config: Annotated[Path | None, typer.Option(help="Settings in YAML.")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="KEY=VALUE, e.g. private=false.")
    ] = None,
) -> None:
    """Write what others load: files by split, card, metadata, checksums; upload when asked."""
    console = Console()
    flags = {
        "source": source,
        "out": out,
        "name": name,
        "repository": repository,
        "endpoint": endpoint,
        "opt_out": opt_out,
    }
    with ending("publish", usage=(NothingToPublishError, FileNotFoundError), failed=(UploadError,)):
        settings = settings_from(PublishSettings, config, flags, set_)
        with waiting("writing what leaves"):
            prepared = prepare(settings)
        show(console, prepared)
        if not send:
            console.print("Nothing was uploaded (--upload does that).")
            return
        with waiting(f"uploading {len(prepared.files)} files"):
            address = upload(prepared, settings)
        console.print(f"-> [bold]{address}[/bold]", soft_wrap=True)


def show(console: Console, prepared: Prepared) -> None:
    """What was written, and what stayed."""
    for key, value in prepared.facts.items():
        console.print(f"{key}: {value}", soft_wrap=True, highlight=False)
    mib = prepared.bytes / (1 << 20)
    console.print(f"{len(prepared.files)} files, {mib:.1f} MiB in [bold]{prepared.folder}[/bold]")


if __name__ == "__main__":
    app()
