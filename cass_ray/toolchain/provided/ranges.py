"""A remote file as a local one, read by ranges: of a wheel of 500 MB the 0.5 MB that are wanted."""

from __future__ import annotations

import http.client
import io
import os
import ssl
import urllib.error
import urllib.request
from collections import OrderedDict
from pathlib import Path
from urllib.parse import unquote, urlsplit

from cass_ray.toolchain.provided.errors import HeadersError

BLOCK = 256 << 10
_KEPT_BLOCKS = 64
_SECONDS = 120
_ATTEMPTS = 4


def open_remote(url: str) -> io.BufferedIOBase:
    """The file at ``url`` for reading and seeking; ``file:`` addresses are opened as they are.

    Raises :class:`HeadersError` where the server does not answer, or not by ranges.
    """
    parts = urlsplit(url)
    if parts.scheme == "file":
        return Path(unquote(parts.path)).open("rb")
    return io.BufferedReader(RangeFile(url), BLOCK)


class RangeFile(io.RawIOBase):
    """The file at ``url``, fetched block by block."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._url = url
        self._at = 0
        self._blocks: OrderedDict[int, bytes] = OrderedDict()
        self._context = ssl.create_default_context(cafile=_certificates())
        self._size = self._ask_size()

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._at = offset + (0, self._at, self._size)[whence]
        return self._at

    def readinto(self, buffer) -> int:  # type: ignore[no-untyped-def]
        view = memoryview(buffer)
        done = 0
        while done < len(view) and self._at < self._size:
            block = self._block(self._at // BLOCK)
            start = self._at % BLOCK
            part = block[start : start + len(view) - done]
            view[done : done + len(part)] = part
            done += len(part)
            self._at += len(part)
        return done

    def _block(self, number: int) -> bytes:
        if number not in self._blocks:
            first = number * BLOCK
            last = min(first + BLOCK, self._size) - 1
            content, _ = self._fetch(first, last)
            if len(content) != last - first + 1:
                raise HeadersError(f"{self._url}: {len(content)} bytes came of a range")
            self._blocks[number] = content
            if len(self._blocks) > _KEPT_BLOCKS:
                self._blocks.popitem(last=False)
        self._blocks.move_to_end(number)
        return self._blocks[number]

    def _ask_size(self) -> int:
        _, said = self._fetch(0, 0)
        _, _, total = said.rpartition("/")
        if not total.isdigit():
            raise HeadersError(f"{self._url}: the server does not say how large the file is")
        return int(total)

    def _fetch(self, first: int, last: int) -> tuple[bytes, str]:
        """The bytes ``first`` to ``last``, and the server's ``Content-Range``."""
        request = urllib.request.Request(self._url, headers={"Range": f"bytes={first}-{last}"})
        problem: Exception | None = None
        for _ in range(_ATTEMPTS):
            try:
                with urllib.request.urlopen(
                    request, timeout=_SECONDS, context=self._context
                ) as answer:
                    if answer.status != http.client.PARTIAL_CONTENT:
                        raise HeadersError(f"{self._url}: the server does not answer by ranges")
                    content = answer.read(last - first + 2)
                    return content, answer.headers.get("Content-Range", "")
            except (OSError, http.client.HTTPException) as error:
                problem = error
        raise HeadersError(f"{self._url}: {problem}") from problem


def _certificates() -> str | None:
    """The certificates that pip is told to trust, where it is told so by its variable."""
    return os.environ.get("PIP_CERT") or None
