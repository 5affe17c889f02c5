"""What has come of a timed run's parts: checked, copied to ``OUT/parts``, wheels installed.

Only the standard library is imported here, as in :mod:`recipes.timed.run`.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

MANIFEST = "manifest.json"
"""Names all files: of each its SHA-256 and whether it is ``apart``."""
SITE, APART = "site", "site-apart"
"""Folders in OUT with the packages of the wheels: all phases see the first, those that ask for it
the second too (other packages import DeepSpeed wherever it is)."""


def take_parts(folder: Path, out: Path) -> None:
    """Copy what has come in ``folder`` to ``OUT/parts``; install wheels.

    Raises ``ValueError`` for a file that is not what the manifest says.
    """
    parts = out / "parts"
    parts.mkdir(parents=True, exist_ok=True)
    manifest = json.loads((folder / MANIFEST).read_text())
    (parts / MANIFEST).write_text(json.dumps(manifest))
    wheels: dict[str, list[Path]] = {SITE: [], APART: []}
    for path in sorted(folder.iterdir()):
        if path.name == MANIFEST:
            continue
        if hashlib.sha256(path.read_bytes()).hexdigest() != manifest[path.name]["sha256"]:
            raise ValueError(f"{path} did not arrive whole")
        if not (parts / path.name).exists():
            if path.suffix == ".whl":
                wheels[APART if manifest[path.name]["apart"] else SITE].append(path)
            shutil.copy2(path, parts / f".{path.name}")
    for site, named in wheels.items():
        if named:
            _install(named, out / site)
    for path in sorted(parts.glob(".*")):
        path.rename(path.with_name(path.name[1:]))


def _install(wheels: list[Path], site: Path) -> None:
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--no-compile"]
    subprocess.run([*pip, "--no-cache-dir", "--upgrade", "--target", site, *wheels], check=True)


def arrived(out: Path, beginning: str) -> bool:
    """Whether all parts are there whose name begins so."""
    path = out / "parts" / MANIFEST
    manifest: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    wanted = [name for name in manifest if name.startswith(beginning)]
    return bool(wanted) and all((out / "parts" / name).exists() for name in wanted)
