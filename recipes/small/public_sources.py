"""The files of a corpus without their surroundings, packed to be translated on another machine.

    python -m recipes.small.public_sources CONFIG.yaml --clones DIR --out FILE

What ``cass build-dataset`` screens with before it compiles is done here: licenses, lengths, exact
and near duplicates, similarity with the benchmark. ``--clones`` holds clones as ``owner/name``,
where they are not to be fetched. ``--measured`` names more of them, read as they are and whatever
their license: nothing is learned of them (``held_out_repositories``). The rest (translation) needs
a file alone: see ``recipes.small.model``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from collections import Counter
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

from cass_ray.config import load
from cass_ray.corpus.dedup.near import NearDuplicates
from cass_ray.corpus.dedup.shingles import hash_sets, source_tokens
from cass_ray.corpus.dialect import CUDA_WITH_HEADERS
from cass_ray.corpus.reading.encoding import BinaryFileError, decode
from cass_ray.corpus.reading.filetree import FileProblemError
from cass_ray.corpus.reading.git import GitTree, find_git_directory, resolve_revision
from cass_ray.corpus.reading.limits import ReadLimits
from cass_ray.corpus.screening.decontaminate import Decontamination
from cass_ray.corpus.screening.licenses import PERMISSIVE, license_of_tree
from cass_ray.corpus.sources.repositories import parse_address, repository_name
from cass_ray.pipeline.settings import BuildSettings

_BATCH = 256
_LONGEST = 400_000


def files_of(specification: str, clones: Path) -> Iterator[dict[str, Any]]:
    """The CUDA files of one repository with its name and license; none of another license."""
    address = parse_address(specification.removeprefix("repository:"))
    name = repository_name(address.location)
    git = find_git_directory(clones / name)
    with GitTree(git, address.revision, ReadLimits()) as tree:
        license_name = license_of_tree(tree)
        if license_name in PERMISSIVE:
            yield from _files(tree, name, license_name)


def measured_files(name: str, clones: Path) -> Iterator[dict[str, Any]]:
    """The CUDA files of a clone at its HEAD, to be measured with."""
    git = find_git_directory(clones / name)
    with GitTree(git, resolve_revision(git, "HEAD"), ReadLimits()) as tree:
        yield from _files(tree, name, license_of_tree(tree))


def _files(tree: GitTree, name: str, license_name: str) -> Iterator[dict[str, Any]]:
    for listed in tree.walk():
        if listed.problem is not None or not CUDA_WITH_HEADERS.is_candidate(listed.path):
            continue
        try:
            if tree.size(listed.path) > _LONGEST:
                continue
            text = decode(tree.read(listed.path)).text
        except (FileProblemError, BinaryFileError):
            continue
        yield {"repository": name, "path": listed.path, "license": license_name, "cuda": text}


def screened(
    rows: Iterator[dict[str, Any]], settings: BuildSettings, counts: Counter[str]
) -> Iterator[dict[str, Any]]:
    """``rows`` without duplicates and without what is like the benchmark."""
    known: set[str] = set()
    near = NearDuplicates(settings.near_duplicates.threshold)
    evaluation = Decontamination(
        settings.decontamination.model_copy(update={"opcodes": False}), lambda _: None
    )
    while batch := list(islice(rows, _BATCH)):
        fresh = []
        for row in batch:
            lines = row["cuda"].count("\n") + 1
            digest = hashlib.sha256(" ".join(row["cuda"].split()).encode()).hexdigest()[:20]
            row["id"] = digest
            if not settings.filters.min_lines <= lines <= settings.filters.max_lines:
                counts["too short or too long"] += 1
            elif digest in known:
                counts["exact duplicate"] += 1
            else:
                known.add(digest)
                fresh.append(row)
        if not fresh:
            continue
        sets = hash_sets([source_tokens(row["cuda"]) for row in fresh])
        overlaps = evaluation.by_source(sets)
        similar = near.offer_sets([row["id"] for row in fresh], sets)
        for row, overlap, other in zip(fresh, overlaps, similar, strict=True):
            if overlap is not None:
                counts["like the benchmark"] += 1
            elif other is not None:
                counts["near duplicate"] += 1
            else:
                counts["kept"] += 1
                yield row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("config", type=Path)
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--measured", nargs="*", default=[], metavar="OWNER/NAME")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    started, counts = time.monotonic(), Counter[str]()
    settings = load(BuildSettings, options.config, {})
    learned = (files_of(item, options.clones) for item in settings.sources)
    more = (measured_files(name, options.clones) for name in options.measured)
    rows = chain.from_iterable(chain(learned, more))
    with options.out.open("w") as stream:
        for number, row in enumerate(screened(rows, settings, counts)):
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")
            if number % 2000 == 0:
                print(f"{time.monotonic() - started:.0f} s", dict(counts), flush=True)
    print(f"{time.monotonic() - started:.0f} s", dict(counts), flush=True)


if __name__ == "__main__":
    main()
