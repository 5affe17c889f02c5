"""The port's sources as they are built: in HIP alone, or in one text for both vendors."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from cass_ray.project.common_headers import compiles_its_text, headers_leave, share_snippets
from cass_ray.project.nested_includes import lift_out_of_namespaces
from cass_ray.project.tree_copies import copy_links, synchronize
from cass_ray.translate.project.hunks import SharedError
from cass_ray.translate.project.shared import share_tree
from cass_ray.translate.project.switches import VendorSwitch


class PortStyle(StrEnum):
    """Which vendors' compilers the sources of a port are for."""

    SHARED = "shared"
    """CUDA and HIP from one text, see :mod:`cass_ray.translate.project.shared`."""
    HIP = "hip"


@dataclass(frozen=True)
class PortTree:
    """``folder`` has the port; ``switch`` makes a build of it one for AMD."""

    folder: Path
    style: PortStyle
    switch: VendorSwitch


def write_port(
    root: Path, work: Path, style: PortStyle | None, say: Callable[[str], None]
) -> PortTree:
    """Write the port of ``root``, whose translation is ``work/hip``, to ``work/port``.

    Without a ``style`` it is for both vendors where that keeps CUDA's build. Raises
    :class:`~cass_ray.translate.project.hunks.SharedError` where ``style`` asks for what cannot be.
    """
    port = work / "port"
    alone = _alone(work)
    if style is not PortStyle.HIP:
        try:
            switch = _share(root, alone, work / "shared", asked=style is PortStyle.SHARED)
        except SharedError as error:
            if style is PortStyle.SHARED:
                raise
            say(f"the port is for AMD alone: {error}")
        else:
            copy_links(root, work / "shared")
            _copied(work / "shared", port)
            return PortTree(port, PortStyle.SHARED, switch)
    copy_links(root, alone)
    _copied(alone, port)
    return PortTree(port, PortStyle.HIP, VendorSwitch())


def _alone(work: Path) -> Path:
    """The port for AMD alone, with headers as :func:`share_snippets` makes them."""
    alone = work / "alone"
    _copied(work / "hip", alone)
    lift_out_of_namespaces(alone)
    share_snippets(alone)
    return alone


def _share(root: Path, alone: Path, shared: Path, *, asked: bool) -> VendorSwitch:
    """Write the port for both vendors; raises ``SharedError`` where it loses something, unless it
    was ``asked`` for."""
    if not asked and compiles_its_text(alone):
        raise SharedError("the project compiles text of its own while it runs")
    switch, lost = share_tree(root, alone, shared, headers_leave=headers_leave(root))
    if not asked and lost and switch == VendorSwitch():
        raise SharedError(f"{lost[0]} has no switch between vendors")
    return switch


def _copied(source: Path, target: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    synchronize(source, target)
