"""By which tools a tree was built. With others it is built anew: build systems compare times."""

from __future__ import annotations

import shutil
from pathlib import Path

from cass_ray.cache import digest
from cass_ray.project.prefix import SCRIPTS
from cass_ray.toolchain.amd import compiler_driver
from cass_ray.toolchain.amd.toolchain import AmdToolchain
from cass_ray.toolchain.archive.library_root import LibraryRoot
from cass_ray.whole_file import write_whole

_NAME = "built-by"


def identity_of(toolchain: AmdToolchain, libraries: LibraryRoot | None) -> str:
    """A digest of what objects depend on beside their sources."""
    files = [compiler_driver.SCRIPT, *sorted(SCRIPTS.rglob("*"))]
    scripts = [path.read_bytes() for path in files if path.is_file()]
    place = "" if libraries is None else str(libraries.folder)
    return digest([toolchain.fingerprint, place, *scripts])


def drop_what_others_built(folder: Path, tree: Path, identity: str) -> bool:
    """Remove ``tree`` where ``folder`` says that tools of another identity built it.

    Returns whether something was removed.
    """
    note = folder / _NAME
    is_other = tree.exists() and (not note.is_file() or note.read_text() != identity)
    if is_other:
        shutil.rmtree(tree)
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(note, identity.encode())
    return is_other
