"""A Ray node of this process alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import ray

from actors.session import start_local


@pytest.fixture(scope="module")
def node() -> Iterator[None]:
    start_local(num_cpus=2, log_to_driver=False)
    yield
    ray.shutdown()
