"""A Ray node of this process alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import ray

from actors.session import LEAN_NODE, start_local


@pytest.fixture(scope="package")
def shared_node() -> Iterator[None]:
    """Ends the node that tests have shared."""
    yield
    ray.shutdown()


@pytest.fixture
def node(shared_node: None) -> None:
    """One for all tests that ask for it: a start takes longer than most of them."""
    if not ray.is_initialized():
        # A worker starts when there is work for it, and not two of them before.
        start_local(
            lean=True,
            num_cpus=2,
            log_to_driver=False,
            _system_config={**LEAN_NODE, "prestart_worker_first_driver": False},
        )
