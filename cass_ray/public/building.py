"""``cass_ray.build_dataset``."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from rich.console import Console

from cass_ray.config import load
from cass_ray.pipeline.report import Tally
from cass_ray.pipeline.settings import BuildSettings

JOBS = "cass_ray.jobs"
"""The group of entry points under which the jobs, which use Ray, are installed."""


def build_dataset(
    sources: Sequence[str],
    out: Path | str,
    *,
    config: Path | None = None,
    resume: bool = False,
    quiet: bool = False,
    **settings: Any,
) -> Tally:
    """Build a data set of aligned pairs from ``sources`` into the folder ``out``.

    A source is what ``cass build-dataset --source`` takes: ``shipped``, ``local:PATH``,
    ``repository:URL[@REVISION]`` …. ``settings`` are fields of
    :class:`~cass_ray.pipeline.settings.BuildSettings` and win over the YAML file ``config``. With
    ``resume`` an interrupted build goes on. Work that compilers have to do runs on Ray: on the
    cluster of ``RAY_ADDRESS``, else on a local one. Progress goes to standard output unless
    ``quiet``.

    Raises:
        SettingsError: a setting is unknown or wrong.
        SourceError: a source cannot be read.
        ToolMissing: no node has a compiler that is needed.
        OutputBusy: another build writes to ``out``.
        ConservationError: a row got lost, which is a defect.
    """
    given = {"sources": list(sources), "out": Path(out).absolute(), **settings}
    job = entry_points(group=JOBS)["build-dataset"].load()
    tally: Tally = job(load(BuildSettings, config, given), Console(quiet=quiet)).run(resume)
    return tally
