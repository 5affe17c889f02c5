#!/usr/bin/env python3
"""CASS-Bench as a job: tasks × samples through translators and executors."""

from __future__ import annotations

import typer

from cass_ray.commands import bench as commands

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True)
app.command("lint")(commands.lint)


@app.callback()
def _root() -> None:
    """CASS-Bench: run systems on tasks with ground truth from real hardware, and score them."""


if __name__ == "__main__":
    app()
