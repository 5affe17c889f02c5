"""Answers that may be shown to others: a request and what this server answered, under a link.

A share is a file named by its content, so that a link never shows anything else. Only what the
server itself has answered is kept: nobody can share a verdict that was not given.
"""

from __future__ import annotations

import re
import time
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from cass_ray.api.schema import SharedAnswer
from cass_ray.cache import digest
from cass_ray.whole_file import write_whole
from serve.errors import ApiError
from serve.settings import ShareSettings

_ID = re.compile(r"[0-9a-f]{32}")
_DAY = 24 * 3600.0


class Shares:
    """The folder of shares. Its calls read and write files: not for an event loop."""

    def __init__(self, settings: ShareSettings) -> None:
        self._settings = settings

    def put(self, share: SharedAnswer) -> str:
        """Keep ``share``; its id. Raises ``ApiError`` where there is no room."""
        text = share.model_dump_json()
        name = digest([text])[:32]
        folder = self._settings.folder
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._make_room(len(text))
            write_whole(folder / f"{name}.json", text, mode=0o600)
        except OSError as error:
            raise ApiError(503, "not_shared", f"the share was not written: {error}") from None
        return name

    def get(self, name: str) -> SharedAnswer:
        """Raises ``ApiError`` 404 for what was never shared, or is forgotten."""
        path = self._settings.folder / f"{name}.json"
        with suppress(OSError, ValidationError):
            if _ID.fullmatch(name) and not self._is_old(path):
                return SharedAnswer.model_validate_json(path.read_bytes())
        days = self._settings.kept_days
        raise ApiError(404, "no_share", f"there is no such share (they are kept {days:g} days)")

    def _is_old(self, path: Path) -> bool:
        return time.time() - path.stat().st_mtime > self._settings.kept_days * _DAY

    def _make_room(self, size: int) -> None:
        """Forget what is too old, then the oldest until ``size`` more bytes fit."""
        files = sorted(self._settings.folder.glob("*.json"), key=lambda path: path.stat().st_mtime)
        held = sum(path.stat().st_size for path in files)
        for path in files:
            if not self._is_old(path) and held + size <= self._settings.kept_mib << 20:
                return
            held -= path.stat().st_size
            path.unlink(missing_ok=True)
