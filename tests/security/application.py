"""``python -m tests.security.application --port PORT --config FILE``: the service without Ray.

The application in one process, behind uvicorn with the connections that Serve's proxy has too.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import uvicorn
import yaml
from starlette.types import ASGIApp

from serve.check.checker import Checker
from serve.http.app import create_app
from serve.http.connections import bounded
from serve.http.middleware import configure_logging
from serve.request.local_clients import LocalChecker
from serve.settings import LIMITS_VARIABLE, ServeSettings
from tests.serve.conftest import make_services


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int)
    parser.add_argument("--config", type=Path)
    options = parser.parse_args()
    settings = ServeSettings.model_validate(yaml.safe_load(options.config.read_text()))
    os.environ[LIMITS_VARIABLE] = settings.limits.model_dump_json()
    configure_logging(settings.log_level)
    services = make_services(settings, LocalChecker(Checker(settings.checker)))
    app: ASGIApp = create_app(settings, lambda: services)
    for middleware in bounded():
        app = middleware.cls(app)
    config = uvicorn.Config(
        app, host="127.0.0.1", port=options.port, timeout_keep_alive=75, log_config=None,
        access_log=False, lifespan="off",
    )  # fmt: skip
    Announcing(config).run()


class Announcing(uvicorn.Server):
    """Says on standard output when it listens."""

    async def startup(self, sockets: list[object] | None = None) -> None:  # type: ignore[override]
        await super().startup()
        print("cass-ray serves", flush=True)


if __name__ == "__main__":
    main()
