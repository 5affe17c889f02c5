"""Declarative deployment: the file that ``serve deploy`` and KubeRay's RayService take."""

from __future__ import annotations

from typing import Any

import yaml
from ray.serve import Application

from cass_ray.config import validate
from serve.deployments.application import NAME, build
from serve.settings import ServeSettings

IMPORT_PATH = f"{__name__}:application"


def application(args: dict[str, Any]) -> Application:
    """What ``import_path`` names; ``args`` are the settings. Raises ``SettingsError``."""
    return build(validate(ServeSettings, args, "args"))


def deploy_config(settings: ServeSettings) -> str:
    """The file, with the settings that differ from the defaults as the application's arguments."""
    limits = settings.limits
    config = {
        "proxy_location": "EveryNode",
        "http_options": {
            "host": settings.host,
            "port": settings.port,
            "request_timeout_s": limits.request_seconds + 10,
        },
        "applications": [
            {
                "name": NAME,
                "route_prefix": "/",
                "import_path": IMPORT_PATH,
                "args": settings.model_dump(mode="json", exclude_defaults=True),
            }
        ],
    }
    return yaml.safe_dump(config, sort_keys=False)
