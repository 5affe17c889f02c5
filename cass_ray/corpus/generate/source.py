"""Generated programs as a source of the pipeline."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from cass_ray.config import SettingsError, load
from cass_ray.corpus.domains import classify
from cass_ray.corpus.generate.options import GeneratorOptions
from cass_ray.corpus.generate.program import generate
from cass_ray.corpus.parsing.normalize import program_id, source_digest
from cass_ray.corpus.program import Program, Provenance, ReadReject, SourceError
from cass_ray.corpus.reading.limits import ReadLimits
from cass_ray.corpus.reading.state import file_state
from cass_ray.corpus.reading.trees import TreeStore
from cass_ray.dataset.row import Origin

REPOSITORY = "cass-ray/generate"
"""The repository column of generated programs."""

LICENSE = "MIT"

_ARGUMENT = re.compile(r"(?P<count>\d+)(?:@(?P<seed>\d+))?(?:,(?P<knobs>.+))?")


@dataclass(frozen=True)
class GeneratedSource:
    """``generated:N[@SEED][,KNOBS.yaml]``: ``N`` programs of the grammar, seed 0 by default."""

    argument: str
    limits: ReadLimits = field(default_factory=ReadLimits)

    def iterate(self, workdir: Path, trees: TreeStore) -> Iterator[Program | ReadReject]:
        """The programs, in the order of their numbers.

        Raises:
            SourceError: the argument or the file of options cannot be used.
        """
        match = _ARGUMENT.fullmatch(self.argument)
        if match is None or not int(match["count"]):
            raise SourceError(
                f"generated:{self.argument}: write it as generated:N[@SEED][,KNOBS.yaml],"
                " for example generated:500@7"
            )
        path = _knobs_file(match)
        try:
            options = load(GeneratorOptions, path, {})
        except SettingsError as error:
            raise SourceError(f"generated:{self.argument}: {error}") from None
        provenance = Provenance(Origin.SYNTHETIC, REPOSITORY, LICENSE)
        for made in generate(int(match["count"]), int(match["seed"] or 0), options):
            yield Program(
                id=program_id(source_digest(made.source), []),
                provenance=provenance,
                path=f"{made.name}.cu",
                source=made.source,
                license=LICENSE,
                domain=classify(made.source).value,
            )

    def state(self) -> str:
        """Of the file of options."""
        match = _ARGUMENT.fullmatch(self.argument)
        path = _knobs_file(match) if match else None
        return repr((self, file_state(path) if path else ""))


def _knobs_file(match: re.Match[str]) -> Path | None:
    return Path(match["knobs"]).expanduser() if match["knobs"] else None
