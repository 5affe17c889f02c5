"""Whether a folder holds what a release uploads: a whole wheel and a whole source distribution.

python release/check_dist.py dist
"""

from __future__ import annotations

import sys
import tarfile
import zipfile
from pathlib import Path

from notes import ROOT, project_version

NAME = "cass_ray"
IN_A_WHEEL = (
    "cass_ray/cli.py",
    "cass_ray/emulator/engine/decoder.cpp",
    "cass_ray/agents/glossary.md",
    "cass_ray_serve/ui/static/index.html",
    "cass_ray_serve/dashboards/grafana.json",
)
IN_A_SOURCE_DISTRIBUTION = ("pyproject.toml", "release/build_backend.py", "jobs/train.py")
"""Of each kind of file one that is easily lost."""


def top_level(wheel: Path) -> set[str]:
    """The names that the wheel puts into an environment, but for its metadata."""
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.partition("/")[0] for name in archive.namelist()}
    return {top for top in tops if not top.endswith(".dist-info")}


def problems_of_wheel(wheel: Path) -> list[str]:
    """What is wrong with the names in a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    wrong = [
        f"{top} at its top would clash with others" for top in top_level(wheel) if not _ours(top)
    ]
    return wrong + [f"{name} is missing" for name in IN_A_WHEEL if name not in names]


def problems_of_source(archive: Path) -> list[str]:
    """What a source distribution lacks, or has as a link that leads nowhere."""
    with tarfile.open(archive) as opened:
        members = {member.name.partition("/")[2]: member for member in opened}
    wrong = [f"{name} is missing" for name in IN_A_SOURCE_DISTRIBUTION if name not in members]
    links = [name for name, member in members.items() if member.issym() or member.islnk()]
    return wrong + [f"{name} is a link" for name in links]


def problems(folder: Path, version: str) -> list[str]:
    """Everything that is wrong in ``folder``."""
    wheel = folder / f"{NAME}-{version}-py3-none-any.whl"
    source = folder / f"{NAME}-{version}.tar.gz"
    found = {path for path in folder.iterdir() if path.is_file()}
    wrong = [f"{path.name} is missing" for path in (wheel, source) if path not in found]
    wrong += [f"{path.name} does not belong there" for path in sorted(found - {wheel, source})]
    if wheel in found:
        wrong += [f"{wheel.name}: {each}" for each in problems_of_wheel(wheel)]
    if source in found:
        wrong += [f"{source.name}: {each}" for each in problems_of_source(source)]
    return wrong


def _ours(top: str) -> bool:
    return top == NAME or top.startswith(f"{NAME}_")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python release/check_dist.py FOLDER")
    wrong = problems(Path(sys.argv[1]), project_version(ROOT))
    sys.exit("\n".join(f"check_dist: {each}" for each in wrong) or 0)
