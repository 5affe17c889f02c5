"""The port's sources as they are built: in HIP alone, or in one text for both vendors."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from cass_ray.project.common_headers import compiles_its_text, share_snippets
from cass_ray.project.nested_includes import lift_out_of_namespaces
from cass_ray.project.tree_copies import copy_links, synchronize
from cass_ray.translate.project.hunks import SharedError
from cass_ray.translate.project.shared import share_tree
from cass_ray.translate.project.switches import VendorSwitch


class PortStyle(StrEnum):
    """What the sources of a port are."""

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
    alone = work / "alone"
    _copied(work / "hip", alone)
    lift_out_of_namespaces(alone)
    share_snippets(alone)
    none = VendorSwitch()
    chosen, switch = style or PortStyle.SHARED, none
    if style is None and compiles_its_text(alone):
        say("the port is for AMD alone: the project compiles text of its own while it runs")
        chosen = PortStyle.HIP
    if chosen is PortStyle.SHARED:
        try:
            switch, lost = share_tree(root, alone, work / "shared")
        except SharedError as error:
            if style is not None:
                raise
            say(f"the port is for AMD alone: {error}")
            chosen = PortStyle.HIP
        else:
            if lost and style is None and switch == none:
                say(f"the port is for AMD alone: {lost[0]} has no switch between vendors")
                chosen = PortStyle.HIP
    source = work / "shared" if chosen is PortStyle.SHARED else alone
    copy_links(root, source)
    _copied(source, work / "port")
    return PortTree(work / "port", chosen, switch if chosen is PortStyle.SHARED else none)


def _copied(source: Path, target: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    synchronize(source, target)
