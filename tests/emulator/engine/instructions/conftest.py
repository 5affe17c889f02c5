from __future__ import annotations

import pytest

from cass_ray.emulator.engine_interface import Engine, load_engine


@pytest.fixture(scope="session")
def engine() -> Engine:
    return load_engine()
