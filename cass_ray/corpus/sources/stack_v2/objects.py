"""Contents from Software Heritage's public object store, checked against their ids and kept.

Objects are files named by the SHA-1 that git gives their content, compressed with gzip. What was
fetched once is not fetched again.
"""

from __future__ import annotations

import asyncio
import hashlib
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field

import aiohttp
from tenacity import (
    AsyncRetrying,
    retry_if_exception_type,
    stop_after_attempt,
    wait_exponential_jitter,
)

from cass_ray.cache import ContentCache
from cass_ray.corpus.sources.stack_v2.settings import StackV2Settings

_RETRIED_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})
_CHUNK = 1 << 16
_LONGEST_WAIT_SECONDS = 60.0


class TransientError(Exception):
    """Worth another attempt: the server is busy, the connection broke, the content is damaged."""


class ObjectError(Exception):
    """An object cannot be had; the message says why."""


def blob_id(content: bytes) -> str:
    """What git and Software Heritage call ``content`` (``sha1_git``)."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


@dataclass
class ObjectStore:
    """Fetches objects and remembers them in ``kept``, and for this run what failed."""

    settings: StackV2Settings
    kept: ContentCache
    failures: dict[str, str] = field(default_factory=dict)
    requests: int = 0
    """Requests sent, failed ones included."""

    def fetch(self, ids: Iterable[str]) -> None:
        """Fetch those of ``ids`` that are not kept yet, several at a time. Never raises for one."""
        missing = [each for each in dict.fromkeys(ids) if not self._is_known(each)]
        if missing:
            asyncio.run(self._fetch_all(missing))

    def get(self, identity: str) -> bytes:
        """The content. Raises :class:`ObjectError`."""
        content = self.kept.get(identity)
        if content is None:
            self.fetch([identity])
            content = self.kept.get(identity)
        if content is None:
            raise ObjectError(self.failures.get(identity, "not fetched"))
        return content

    def _is_known(self, identity: str) -> bool:
        return identity in self.failures or self.kept.get(identity) is not None

    async def _fetch_all(self, ids: list[str]) -> None:
        slots = asyncio.Semaphore(self.settings.concurrency)
        timeout = aiohttp.ClientTimeout(total=self.settings.timeout_seconds)
        connector = aiohttp.TCPConnector(limit=self.settings.concurrency)
        async with aiohttp.ClientSession(timeout=timeout, connector=connector) as session:

            async def one(identity: str) -> None:
                async with slots:
                    try:
                        self.kept.put(identity, await self._with_retries(session, identity))
                    except (TransientError, ObjectError) as error:
                        self.failures[identity] = str(error)

            await asyncio.gather(*map(one, ids))

    async def _with_retries(self, session: aiohttp.ClientSession, identity: str) -> bytes:
        initial = self.settings.back_off_seconds
        async for attempt in AsyncRetrying(
            retry=retry_if_exception_type(TransientError),
            stop=stop_after_attempt(self.settings.attempts),
            wait=wait_exponential_jitter(initial, _LONGEST_WAIT_SECONDS, jitter=initial),
            reraise=True,
        ):
            with attempt:
                content = await self._request(session, identity)
        return content

    async def _request(self, session: aiohttp.ClientSession, identity: str) -> bytes:
        url = f"{self.settings.store}/{identity}"
        self.requests += 1
        try:
            # The body is gzip as stored; the server does not declare it as an encoding.
            async with session.get(url, headers={"Accept-Encoding": "identity"}) as response:
                if response.status in _RETRIED_STATUS:
                    raise TransientError(f"{url}: HTTP status {response.status}")
                if response.status != 200:
                    raise ObjectError(f"{url}: HTTP status {response.status}")
                body = await self._body(response, url)
        except (aiohttp.ClientError, TimeoutError) as error:
            raise TransientError(f"{url}: {type(error).__name__} {error}") from None
        content = _unpacked(body, url, self.settings.largest_object)
        if blob_id(content) != identity:
            raise TransientError(f"{url}: the content is that of {blob_id(content)}")
        return content

    async def _body(self, response: aiohttp.ClientResponse, url: str) -> bytes:
        body = bytearray()
        async for chunk in response.content.iter_chunked(_CHUNK):
            body += chunk
            if len(body) > self.settings.largest_object:
                raise ObjectError(f"{url}: more than {self.settings.largest_object} bytes")
        return bytes(body)


def _unpacked(body: bytes, url: str, limit: int) -> bytes:
    """``body`` decompressed, up to ``limit`` bytes. A server may have decompressed it already."""
    if not body.startswith(b"\x1f\x8b"):
        return body
    decompressor = zlib.decompressobj(wbits=31)
    try:
        content = decompressor.decompress(body, limit + 1)
    except zlib.error as error:
        raise TransientError(f"{url}: damaged gzip: {error}") from None
    if len(content) > limit:
        raise ObjectError(f"{url}: unpacks to more than {limit} bytes")
    if not decompressor.eof:
        raise TransientError(f"{url}: the gzip stream ends early")
    return content
