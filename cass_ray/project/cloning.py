"""``git`` for builds without a network: what they clone comes from the dependencies that are given.

CMake's FetchContent and CPM take folders by options (:mod:`cass_ray.project.build_system`);
makefiles, scripts and CMake's ExternalProject call ``git clone``.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

_GIT = (Path(__file__).parent / "cloning.sh").read_text(encoding="utf-8")


def write_git(folder: Path, dependencies: Mapping[str, Path]) -> tuple[Path, ...]:
    """A folder with a ``git`` that clones ``dependencies`` without a network; none without any.

    A repository is one of them if its address ends with the name (case aside). Which revision is
    asked for does not matter: the folder that was given is taken for it.
    """
    if not dependencies:
        return ()
    folder.mkdir(parents=True, exist_ok=True)
    cases = (
        f"    {shlex.quote(name.lower())}) printf '%s' {shlex.quote(str(place))} ;;"
        for name, place in dependencies.items()
    )
    script = folder / "git"
    script.write_text(_GIT.replace("@cases@", "\n".join(cases)))
    script.chmod(0o755)
    return (folder,)
