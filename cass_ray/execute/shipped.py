"""The shipped corpus as programs to execute: files, argument lists, HIP translation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from cass_ray.corpus.reading.source_files import gather
from cass_ray.corpus.sources.shipped import SHIPPED_ROOT, load_manifest
from cass_ray.execute.backends.base import Inputs
from cass_ray.execute.selftest.selftest import Subject
from cass_ray.toolchain.unit import Unit
from cass_ray.translate.project.program import translated
from cass_ray.translate.protocol import Translator

_ROOT_PARTS = 2  # programs/DOMAIN, repositories/NAME


def shipped_subjects(translator: Translator) -> Iterator[Subject]:
    """Every program that must become a pair, in HIP, with its argument lists."""
    for entry in load_manifest():
        parts = entry.path.split("/")
        root = SHIPPED_ROOT.joinpath(*parts[:_ROOT_PARTS])
        sources = gather(Unit(root, PurePosixPath(*parts[_ROOT_PARTS:])))
        inputs = tuple(Inputs(tuple(arguments)) for arguments in entry.arguments)
        yield Subject(entry.path, translated(sources, translator), inputs, original=sources)
