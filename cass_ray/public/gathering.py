"""The files of a program that is named by its main file."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from cass_ray.corpus.reading.includes import scan_includes
from cass_ray.corpus.reading.source_files import CUDA_SUFFIXES, Sources, gather
from cass_ray.corpus.reading.unit_of_file import unit_of_file
from cass_ray.execute.targets import as_hip
from cass_ray.toolchain.unit import Unit


def gathered(file: Path, *, in_project: bool) -> Sources:
    """``file`` with the headers beside it; with those of its project, where ``in_project``.

    Raises ``OSError`` where the file cannot be read.
    """
    path = file.resolve()
    alone = Unit(path.parent, PurePosixPath(path.name))
    return gather(unit_of_file(path) if in_project else alone)


def gathered_port(file: Path, original: Sources) -> Sources:
    """``file``, a port of ``original``'s main file: with the headers beside it, or where there are
    none with those of ``original``, translated. Raises ``OSError``."""
    port = gathered(file, in_project=False)
    text = port.files[str(port.main)]
    names = {each.name for each in scan_includes(text.decode("utf-8", "replace")) if each.name}
    headers = [path for path in original.files if path != str(original.main)]
    if len(port.files) > 1 or not any(_is_named(path, names) for path in headers):
        return port
    given = original if file.suffix in CUDA_SUFFIXES else as_hip(original)
    place = original.main.with_name(file.name)
    files = {path: given.files[path] for path in headers}
    return Sources(
        place,
        {**files, str(place): text},
        original.include_directories,
        original.definitions,
        original.system_directories,
        original.forced,
        original.standard,
    )


def _is_named(path: str, names: set[str]) -> bool:
    return any(f"/{path}".endswith(f"/{name}") for name in names)
