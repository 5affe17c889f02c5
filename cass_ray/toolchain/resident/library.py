"""Libraries of ours in C that are preloaded into a vendor's tool."""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path

from cass_ray.cache import digest
from cass_ray.toolchain.sandbox import process

_LOG = logging.getLogger(__name__)
_SHARED = Path(__file__).parent / "shim"
"""With headers that they share."""


def preloaded_library(source: Path, compiler: Path, cache: Path) -> Path | None:
    """``source`` as a shared library, built once into ``cache``; it may include our headers.

    None (and a warning) where ``compiler`` cannot build it.
    """
    folder = cache / source.stem
    texts = [each.read_bytes() for each in (source, *sorted(_SHARED.glob("*.h")))]
    path = folder / f"{source.stem}-{digest(texts)[:16]}.so"
    if path.exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".part-") as name:
        part = Path(name) / path.name
        flags = ["-x", "c", "-O2", "-shared", "-fPIC", f"-I{_SHARED}"]
        done = process.run([compiler, *flags, "-o", part, source, "-ldl"], cwd=Path(name))
        if not done.ok:
            _LOG.warning("tools start anew for each program: %s", done.stderr_text.strip())
            return None
        part.replace(path)
    return path
