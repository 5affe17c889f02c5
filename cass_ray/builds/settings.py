"""How much is found out about the way a project compiles its files."""

from __future__ import annotations

from typing import Literal

from cass_ray.config import StrictModel


class UnitSettings(StrictModel):
    """``headers``: packages are found by the headers that files include, are those of
    ``header_packages``, or none are given. ``recorded_builds``: whether projects are built once
    with compilers that write down their commands. ``dependencies``: (name, folder) of what projects
    take from other repositories; ``fetch_dependencies``: whether the rest of it is fetched."""

    headers: Literal["auto", "listed", "none"] = "none"
    header_packages: tuple[str, ...] = ()
    recorded_builds: bool = False
    dependencies: tuple[tuple[str, str], ...] = ()
    fetch_dependencies: bool = True


NOTHING = UnitSettings()
"""A file is what it is."""
