"""Where a build keeps what it has done, and what that depends on.

Everything is below one store: ``pieces`` (input as read), ``duplicates`` (what was decided),
``half-…`` (rows that other compilers still wait for), ``blocks`` (finished rows), ``facts`` (what
is said of finished rows), ``sides`` (lines of the files beside the pairs), ``trees``. Each name
ends in a digest of the settings behind it, so that a build with other settings begins anew.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from cass_ray.cache import digest
from cass_ray.corpus.reading.trees import StoredTrees
from cass_ray.corpus.screening.evaluation import list_state
from cass_ray.corpus.sources.splits import Readable, state_of
from cass_ray.pipeline.output import WORK
from cass_ray.pipeline.settings import BuildSettings
from cass_ray.storage.manifest import PartManifest
from cass_ray.storage.store import Files, Subfolder
from cass_ray.translate.engines.registry import make_translator
from cass_ray.version import __version__

WITHOUT_EFFECT = frozenset(
    {"out", "selection", "limits", "rows_per_block", "slots", "node_wait_seconds", "cache"}
    | {"shared_results"}
)
"""Settings that no row depends on: places, sizes, and what is chosen from all rows at the end."""
OF_FINISHED_ROWS = frozenset(
    {"nvidia_architectures", "amd_architectures", "optimization", "translator", "execute"}
    | {"lifted_reference", "lift", "lifted_rows"}
)
"""Settings of stages. Every other one counts from reading on: a setting that nobody lists makes
results of its own, and never takes those of another value."""
_DIGITS = 12


@dataclass(frozen=True)
class Piece:
    """The rows of one split of the input."""

    index: int
    key: str
    """``000012-DIGEST``: sorts as the input does; the digest is of what the split reads."""
    split: Readable

    @classmethod
    def of(cls, index: int, split: Readable) -> Piece:
        """Piece ``index`` of the input."""
        return cls(index, f"{index:06}-{digest([state_of(split)])[:_DIGITS]}", split)


@dataclass(frozen=True, slots=True)
class Deduplicated:
    """A piece whose duplicates are known."""

    index: int
    read: str
    """Key of the piece as it was read."""
    key: str
    """Key of what was decided: it depends on all pieces up to this one."""


class Committed(NamedTuple):
    """A committed entry, as far as the driver needs it."""

    key: str
    counts: Mapping[str, int]


class EntryCounts:
    """Counts of committed entries, each read by this process once at most.

    There are as many as pieces, so names are held once for all entries that have the same.
    """

    def __init__(self, manifest: PartManifest) -> None:
        self._manifest = manifest
        self._names: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._known: dict[str, tuple[tuple[str, ...], tuple[int, ...]]] = {}

    def note(self, done: Committed) -> None:
        """Know the counts of an entry."""
        names = tuple(done.counts)
        self._known[done.key] = (self._names.setdefault(names, names), tuple(done.counts.values()))

    def of(self, key: str) -> Mapping[str, int]:
        """The counts of ``key``. Raises ``KeyError`` where it is not committed."""
        if key not in self._known:
            entry = self._manifest.get(key)
            if entry is None:
                raise KeyError(f"{self._manifest.name}: {key} was never committed")
            self.note(Committed(key, entry.counts))
        return dict(zip(*self._known[key], strict=True))


class ChangedCodeError(RuntimeError):
    """A worker's code or lists are not those with which the build began."""


@dataclass(frozen=True)
class BuildWork:
    """The work of the build that ``settings`` describe, in the data set's own place, ``root``."""

    root: Files
    settings: BuildSettings
    begun: str = ""
    """:attr:`finishing` in the process that began the build; empty in that one."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Counts that this process knows stay here."""
        return (BuildWork, (self.root, self.settings, self.finishing))

    @property
    def files(self) -> Files:
        """Where the work is."""
        return Subfolder(self.root, WORK)

    @cached_property
    def reading(self) -> str:
        """Digest of what a piece as read depends on, the split left out."""
        lists = [list_state(path) for path in self.settings.decontamination.lists]
        fields = type(self.settings).model_fields.keys() - WITHOUT_EFFECT - OF_FINISHED_ROWS
        relevant = self.settings.model_dump_json(include=set(fields))
        return digest([__version__, relevant, *lists])[:_DIGITS]

    @cached_property
    def finishing(self) -> str:
        """Digest of what a finished row depends on.

        Raises :class:`ChangedCodeError` where it is not that of the process that began the build.
        """
        translator = make_translator(self.settings.translator)
        relevant = self.settings.model_dump_json(include=set(OF_FINISHED_ROWS))
        name = digest([self.reading, relevant, translator.version])[:_DIGITS]
        if self.begun not in ("", name):
            raise ChangedCodeError(
                f"the code of the translator `{self.settings.translator}`, or an evaluation list, "
                "changed while the build ran: run the command again"
            )
        return name

    @property
    def pieces(self) -> PartManifest:
        """By :attr:`Piece.key`: ``rows-N`` and ``compared-N`` for each run, and ``overlaps``."""
        return PartManifest(self.files, f"pieces-{self.reading}")

    @cached_property
    def read_counts(self) -> EntryCounts:
        return EntryCounts(self.pieces)

    @property
    def duplicates(self) -> PartManifest:
        """By :attr:`Deduplicated.key`: ``duplicates``, where there are any."""
        return PartManifest(self.files, f"duplicates-{self.reading}")

    @cached_property
    def duplicate_counts(self) -> EntryCounts:
        return EntryCounts(self.duplicates)

    @property
    def blocks(self) -> PartManifest:
        """By :attr:`~.blocks.Block.key`: ``rows``."""
        return PartManifest(self.files, f"blocks-{self.finishing}")

    def half_done(self, pool: str) -> PartManifest:
        """By :attr:`~.blocks.Block.key`: ``rows`` as the workers of ``pool`` leave them, where they
        are kept for the next ones."""
        return PartManifest(self.files, f"half-{pool.lower().replace(' ', '-')}-{self.finishing}")

    @property
    def facts(self) -> PartManifest:
        """By :attr:`Deduplicated.key`.

        ``facts-N`` and ``compared-N`` for each run, ``overlaps`` and ``clusters``.
        """
        return PartManifest(self.files, f"facts-{self._postprocessing}")

    @cached_property
    def fact_counts(self) -> EntryCounts:
        return EntryCounts(self.facts)

    @property
    def structural(self) -> PartManifest:
        """By :attr:`Deduplicated.key`: ``duplicates`` by machine code, where there are any."""
        return PartManifest(self.files, f"structural-{self._postprocessing}")

    @cached_property
    def structural_counts(self) -> EntryCounts:
        return EntryCounts(self.structural)

    @property
    def sides(self) -> PartManifest:
        """By :attr:`.sides.SideSpan.key`: a part of each side file that has lines of the span."""
        return PartManifest(self.files, f"sides-{self._postprocessing}")

    @property
    def trees(self) -> StoredTrees:
        """Include closures of programs."""
        return StoredTrees(self.files, "trees")

    def agreed(self, name: str, value: int) -> int:
        """``value``, or what an earlier run of this build noted under ``name``."""
        path = f"agreed-{self.finishing}/{name}.json"
        return int(json.loads(self.files.create(path, json.dumps(value).encode())))

    @cached_property
    def _postprocessing(self) -> str:
        selection = self.settings.model_dump_json(include={"selection"})
        return digest([self.finishing, selection])[:_DIGITS]
