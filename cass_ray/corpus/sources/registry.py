"""Source specifications: ``local:PATH``, ``repository:URL|PATH[@REVISION]``, ``shipped``."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from cass_ray.corpus.generate.source import GeneratedSource
from cass_ray.corpus.program import SourceError
from cass_ray.corpus.reading.limits import ReadLimits
from cass_ray.corpus.sources.local import LocalSource
from cass_ray.corpus.sources.opencl import ShippedOpenclSource, opencl_source
from cass_ray.corpus.sources.repositories import RepositorySource
from cass_ray.corpus.sources.shipped import ShippedSource
from cass_ray.corpus.sources.splits import Readable
from cass_ray.corpus.synthetic.source import SyntheticSource


class Source(Readable, Protocol):
    """A place that programs come from.

    ``iterate`` raises ``SourceError`` where the source as a whole cannot be read; one bad file
    never raises.
    """


def parse_source(specification: str, limits: ReadLimits | None = None) -> Source:
    """The source that ``KIND:ARGUMENT`` stands for.

    Raises:
        SourceError: the kind is unknown (the nearest known one is named) or lacks its argument.
    """
    kind, separator, argument = specification.partition(":")
    if kind not in _KINDS:
        raise SourceError(_unknown_kind(specification, kind))
    build, usage, takes_argument = _KINDS[kind]
    wrong = takes_argument is not None and takes_argument != bool(argument)
    if wrong or (separator and not argument):
        raise SourceError(f"source {specification!r}: write it as {usage}")
    return build(argument, limits or ReadLimits())


def _unknown_kind(specification: str, kind: str) -> str:
    if specification and Path(specification).exists():
        return f"unknown source {specification!r}; for a file or folder write local:{specification}"
    nearest = difflib.get_close_matches(kind, _KINDS, n=1, cutoff=0.4)
    hint = f"did you mean {_KINDS[nearest[0]][1]}? " if nearest else ""
    known = ", ".join(usage for _, usage, _ in _KINDS.values())
    return f"unknown source {specification!r}; {hint}Known sources: {known}"


def _stack_v2(path: str, limits: ReadLimits) -> Source:
    # Its libraries take seconds to import.
    from cass_ray.corpus.sources.stack_v2.source import stack_v2_source

    return stack_v2_source(path, limits)


_KINDS: dict[str, tuple[Callable[[str, ReadLimits], Source], str, bool | None]] = {
    "local": (LocalSource, "local:PATH", True),
    "repository": (RepositorySource, "repository:URL|PATH[@REVISION]", True),
    "opencl": (opencl_source, "opencl:PATH", True),
    "shipped-opencl": (
        lambda _, limits: ShippedOpenclSource(limits=limits),
        "shipped-opencl",
        False,
    ),
    "stack-v2": (_stack_v2, "stack-v2[:SETTINGS.yaml]", None),
    "generated": (GeneratedSource, "generated:N[@SEED][,KNOBS.yaml]", True),
    "synthetic": (SyntheticSource, "synthetic:PATH", True),
    "shipped": (lambda _, limits: ShippedSource(limits=limits), "shipped", False),
}
"""Kind -> (builder, usage, whether it takes an argument; None: it may)."""
