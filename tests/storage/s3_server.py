"""A local server that speaks S3."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from cass_ray.storage.store import Store

BUCKET = "s3-bucket"


@contextmanager
def s3_server() -> Iterator[dict[str, Any]]:
    """Options of fsspec for a server that has :data:`BUCKET`; skips where a package lacks."""
    s3fs = pytest.importorskip("s3fs", reason="the S3 client is the extra `s3`")
    server = pytest.importorskip("moto.server", reason="a local S3 server").ThreadedMotoServer(
        ip_address="127.0.0.1", port=0, verbose=False
    )
    server.start()
    host, port = server.get_host_and_port()
    client = {"endpoint_url": f"http://{host}:{port}", "region_name": "eu-west-1"}
    options = {"key": "name", "secret": "word", "client_kwargs": client}
    Store(f"s3://{BUCKET}", **options)._files.makedirs(BUCKET, exist_ok=True)
    try:
        yield options
    finally:
        server.stop()
        # Clients that read the address from the environment would go on asking this server.
        s3fs.S3FileSystem.clear_instance_cache()


def environment(options: dict[str, Any]) -> dict[str, str]:
    """The same as variables that clients read."""
    client = options["client_kwargs"]
    return {
        "AWS_ENDPOINT_URL": client["endpoint_url"],
        "AWS_DEFAULT_REGION": client["region_name"],
        "AWS_ACCESS_KEY_ID": options["key"],
        "AWS_SECRET_ACCESS_KEY": options["secret"],
    }
