"""Finds rows that repeat evaluation data: by canary, by repository, by source, by opcodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from cass_ray.config import StrictModel
from cass_ray.corpus.dedup.bands import BandIndex, band_keys, band_shape, signatures
from cass_ray.corpus.dedup.near import Similar
from cass_ray.corpus.dedup.shingles import Hashes, hash_sets, jaccard, source_tokens
from cass_ray.corpus.dialect import source_of
from cass_ray.corpus.parsing.structure import opcode_set
from cass_ray.corpus.screening.evaluation import (
    CANARY,
    EvaluationProgram,
    benchmark_programs,
    listed_programs,
)
from cass_ray.corpus.screening.opcode_store import stored_opcodes

FEWEST_TOKENS = 60
"""Evaluation texts with fewer tokens (a header with three constants) are not compared."""


class DecontaminationSettings(StrictModel):
    """What training rows must not repeat, and from which similarity on they do."""

    benchmark: bool = True
    """The tasks of CASS-Bench; an error if they are not there."""
    lists: list[Path] = []
    """Evaluation lists: folders of programs, Parquet files, text files of repositories."""
    source_similarity: float = Field(default=0.6, gt=0.0, le=1.0)
    """Jaccard similarity over runs of five tokens: lower than for duplicates, on purpose."""
    opcode_similarity: float = Field(default=0.9, gt=0.0, le=1.0)
    """Jaccard similarity over runs of five SASS mnemonics."""
    opcodes: bool = True
    """Compare machine code too: catches copies with other names and layout."""


@dataclass(frozen=True, slots=True)
class Overlap:
    """Why a row is evaluation data."""

    level: str
    """``canary``, ``repository``, ``source`` or ``opcodes``."""
    evaluation: str
    """The evaluation program or list entry."""
    similarity: float

    def message(self) -> str:
        if self.level == "canary":
            return "holds the benchmark's canary string"
        if self.level == "repository":
            return f"from a repository that is evaluated on: {self.evaluation}"
        return f"{self.level}: {self.similarity:.2f} similar to {self.evaluation}"


class References:
    """A fixed set of texts, and which of them a text is most similar to."""

    def __init__(self, threshold: float, names: Sequence[str], sets: Sequence[Hashes]) -> None:
        self._threshold = threshold
        self._shape = band_shape(threshold)
        self._names = list(names)
        self._sets = list(sets)
        self._index = BandIndex()
        keys = band_keys(signatures(self._sets), *self._shape)
        positions = np.arange(len(sets), dtype=np.uint32)
        self._index.insert(keys.reshape(-1), np.repeat(positions, keys.shape[1]))

    def __len__(self) -> int:
        return len(self._names)

    def find(self, sets: Sequence[Hashes]) -> list[Similar | None]:
        """For each of ``sets`` the most similar reference, if similar enough."""
        keys = band_keys(signatures(sets), *self._shape)
        places, positions = self._index.find(keys.reshape(-1))
        candidates: dict[int, set[int]] = {}
        for place, position in zip(places // keys.shape[1], positions, strict=True):
            candidates.setdefault(int(place), set()).add(int(position))
        return [self._best(own, candidates.get(i, set())) for i, own in enumerate(sets)]

    def _best(self, own: Hashes, candidates: set[int]) -> Similar | None:
        scored = [(jaccard(own, self._sets[i]), -i) for i in candidates]
        similarity, position = max(scored, default=(0.0, 0))
        if similarity < self._threshold:
            return None
        return Similar(self._names[-position], similarity)


Lookup = Callable[[EvaluationProgram], Hashes | None]
"""The opcode set of a CUDA program, if known; see :mod:`cass_ray.corpus.screening.opcode_store`."""


class Decontamination:
    """Evaluation data, loaded once. Raises ``EvaluationError`` when it cannot be."""

    def __init__(self, settings: DecontaminationSettings, lookup: Lookup = stored_opcodes) -> None:
        self._settings = settings
        programs = benchmark_programs() if settings.benchmark else []
        for path in settings.lists:
            programs.extend(listed_programs(path))
        self._repositories = {
            _repository_key(program.repository): program.name
            for program in programs
            if program.repository
        }
        self._sources = self._source_references(programs)
        self.without_opcodes: list[str] = []
        """Programs that could not be compared by opcodes, for they are not in the store."""
        self._opcodes: References | None = None
        if settings.opcodes:
            self._opcodes = self._opcode_references(programs, lookup)

    def by_origin(self, row: Mapping[str, Any]) -> Overlap | None:
        """A canary in the source, or a repository that is evaluated on."""
        if self._settings.benchmark and CANARY in source_of(row):
            return Overlap("canary", "benchmark", 1.0)
        name = self._repositories.get(_repository_key(row.get("repository") or ""))
        return Overlap("repository", name, 1.0) if name else None

    def by_source(self, sets: Sequence[Hashes]) -> list[Overlap | None]:
        """Overlaps of sources, given as sets of :func:`~.shingles.hash_sets`."""
        return [_overlap("source", found) for found in self._sources.find(sets)]

    def by_opcodes(self, listing: str) -> Overlap | None:
        if self._opcodes is None or not len(self._opcodes):
            return None
        own = opcode_set(listing)
        return _overlap("opcodes", self._opcodes.find([own])[0]) if own is not None else None

    def _source_references(self, programs: Iterable[EvaluationProgram]) -> References:
        texts = [
            (program.name, tokens)
            for program in programs
            if program.source and len(tokens := source_tokens(program.source)) >= FEWEST_TOKENS
        ]
        sets = hash_sets([tokens for _, tokens in texts]) if texts else []
        return References(self._settings.source_similarity, [name for name, _ in texts], sets)

    def _opcode_references(
        self, programs: Sequence[EvaluationProgram], lookup: Lookup
    ) -> References:
        found: dict[str, Hashes] = {}
        for program in programs:
            own = opcode_set(program.sass) if program.sass else lookup(program)
            if own is not None and len(own):
                found[program.name] = own
            elif own is None and program.name.endswith(".cu"):
                self.without_opcodes.append(program.name)
        return References(self._settings.opcode_similarity, list(found), list(found.values()))


def _overlap(level: str, similar: Similar | None) -> Overlap | None:
    return Overlap(level, similar.id, similar.similarity) if similar is not None else None


def _repository_key(name: str) -> str:
    """``owner/name`` in lower case, of a name or a URL."""
    trimmed = name.strip().lower().removesuffix("/").removesuffix(".git")
    return "/".join(trimmed.split("/")[-2:]) if "://" in trimmed else trimmed
