"""``cass_ray.build``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from rich.console import Console

from cass_ray.config import load
from cass_ray.pipeline.report import Tally
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.public.renderable import Renderable
from cass_ray.public.views import Cells, Mark, View
from cass_ray.storage.location import absolute, parse_location

JOBS = "cass_ray.jobs"
"""The group of entry points under which the jobs, which use Ray, are installed."""


@dataclass(frozen=True, repr=False)
class BuildResult(Renderable):
    """What became of the rows of a build: ``rows`` = ``pairs`` + duplicates + rejects.

    ``duplicates`` are by reason, ``rejects`` by stage and reason, ``verified`` counts pairs by how
    far they were proved.
    """

    out: Path | str
    rows: int
    pairs: int
    kernels: int
    duplicates: Mapping[str, int]
    rejects: Mapping[tuple[str, str], int]
    verified: Mapping[str, int]

    @classmethod
    def of(cls, tally: Tally, out: Path | str) -> BuildResult:
        """The counts of a finished build into ``out``."""
        return cls(
            out,
            tally.rows,
            tally.pairs,
            tally.kernels,
            dict(tally.duplicates),
            dict(tally.rejects),
            dict(tally.verified),
        )

    def view(self) -> View:
        """A line for each thing that became of rows."""
        rows = [("pairs", level, str(count)) for level, count in sorted(self.verified.items())]
        marks = [Mark.GOOD] * len(rows)
        rows += [("duplicates", why, str(count)) for why, count in sorted(self.duplicates.items())]
        marks += [Mark.PLAIN] * (len(rows) - len(marks))
        rows += [
            (f"rejected at {stage}", why, str(count))
            for (stage, why), count in sorted(self.rejects.items())
        ]
        marks += [Mark.WARNING] * (len(rows) - len(marks))
        said = f"{self.out}: {self.rows} rows in, {self.pairs} pairs, {self.kernels} kernels"
        table = Cells("Rows", ("became", "how", "rows"), rows, marks)
        return View(said, Mark.GOOD if self.pairs else Mark.WARNING, [table])


def build(
    sources: Sequence[str],
    out: Path | str,
    *,
    config: Path | None = None,
    resume: bool = False,
    quiet: bool = False,
    overwrite: bool = False,
    **settings: Any,
) -> BuildResult:
    """Build a data set of aligned pairs from ``sources`` into ``out``, a folder or a URL.

    A source is what ``cass build-dataset --source`` takes: ``shipped``, ``local:PATH``,
    ``repository:URL[@REVISION]`` …. ``settings`` are fields of
    :class:`~cass_ray.pipeline.settings.BuildSettings` and win over the YAML file ``config``. With
    ``resume`` an interrupted build goes on. Work that compilers have to do runs on Ray: on the
    cluster of ``RAY_ADDRESS``, else on a local one. Progress goes to standard output unless
    ``quiet``. What ``out`` holds is replaced only if the same settings built it, or with
    ``overwrite``.

    Raises:
        SettingsError: a setting is unknown or wrong.
        SourceError: a source cannot be read.
        ToolMissing: no node has a compiler that is needed.
        OutputBusy: another build writes to ``out``.
        OutputOccupied: ``out`` holds something else.
        EmptyBuildError: the sources hold no program.
        ConservationError: a row got lost, which is a defect.
    """
    given = {"sources": list(sources), "out": absolute(parse_location(str(out))), **settings}
    job = entry_points(group=JOBS)["build-dataset"].load()
    wanted = load(BuildSettings, config, given)
    tally: Tally = job(wanted, Console(quiet=quiet)).run(resume, overwrite=overwrite)
    return BuildResult.of(tally, wanted.out)
