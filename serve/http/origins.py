"""From which pages a browser may ask a service that asks for no key.

Who listens on loopback alone is still reached by every page that this machine's browser shows: by a
form or a simple request, whose answer the page does not see, and by a name of the page's own that
its name server points to 127.0.0.1 (DNS rebinding), whose answer it does see. The browser says the
name in ``Host`` and the page in ``Origin``.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence

from starlette.datastructures import Headers

from serve.errors import ApiError

_HOST = re.compile(r"(?P<name>\[[0-9a-fA-F:.]+\]|[^:\[\]]*)(?::\d{1,5})?")
_READS = frozenset({"GET", "HEAD", "OPTIONS"})


def check_origin(headers: Headers, method: str, allowed: Sequence[str]) -> None:
    """Raises :class:`ApiError` 403 for a request that a page of another site made, or may have.

    ``allowed``: origins whose pages may call, as ``cors_origins`` of the settings.
    """
    host = headers.get("host", "")
    if not _is_loopback(host):
        raise ApiError(
            403,
            "other_host",
            "without authentication only requests to localhost are answered: "
            "ask for 127.0.0.1, or start the service with keys",
        )
    origin = headers.get("origin")
    if method in _READS or origin in allowed:
        return
    if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
        raise _other_origin()
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise _other_origin()


def _other_origin() -> ApiError:
    return ApiError(
        403,
        "other_origin",
        "without authentication pages of other sites may not write: "
        "start the service with keys, or name the site in cors_origins",
    )


def _is_loopback(host: str) -> bool:
    match = _HOST.fullmatch(host)
    if match is None:
        return False
    name = match["name"].strip("[]")
    if name.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
