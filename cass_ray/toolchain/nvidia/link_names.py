"""Names that linkers look for, where CUDA's libraries have none.

The Python packages hold ``libcudart.so.13`` and no ``libcudart.so``, which ``-lcudart`` asks for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from cass_ray.cache import digest
from cass_ray.toolchain.hip.packages import unpack_once

_VERSIONED = re.compile(r"(lib[\w.+-]+\.so)\.\d+")


def with_link_names(directories: Iterable[Path], cache: Path) -> tuple[Path, ...]:
    """``directories``, and one in ``cache`` with links for libraries that have a version alone.

    Of several versions the newest gets the name.
    """
    folders = tuple(path for path in directories if path.is_dir())
    names = {path.name for directory in folders for path in directory.glob("lib*.so")}
    missing: dict[str, Path] = {}
    for directory in folders:
        for path in sorted(directory.glob("lib*.so.*"), key=_version):
            match = _VERSIONED.fullmatch(path.name)
            if match and match[1] not in names:
                missing[match[1]] = path.resolve()
    if not missing:
        return folders

    def fill(target: Path) -> None:
        for name, library in missing.items():
            (target / name).symlink_to(library)

    key = digest([f"{name} {library}" for name, library in sorted(missing.items())])[:16]
    return (*folders, unpack_once(cache / "cuda-link-names" / key, fill))


def _version(path: Path) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", path.name.partition(".so.")[2])))
