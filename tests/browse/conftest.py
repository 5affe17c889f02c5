from __future__ import annotations

from typing import Any

import pytest

from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.sandbox import isolation
from tests.browse import program


@pytest.fixture(scope="session")
def pair() -> dict[str, Any]:
    if not isolation.available():
        pytest.skip(isolation.problem())
    try:
        return program.row()
    except ToolMissing as error:
        pytest.skip(str(error))
