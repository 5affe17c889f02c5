"""What a command says of an error in a worker is one line, where the library raised it."""

from __future__ import annotations

import pytest
from ray.exceptions import RayTaskError

from actors.worker_errors import as_raised
from cass_ray.toolchain.errors import ToolMissing

TRACE = 'Traceback (most recent call last):\n  File "worker.py", line 1, in work\n'


def of_task(cause: Exception) -> Exception:
    """As ``ray.get`` raises it."""
    error = RayTaskError("work", TRACE, cause, proctitle="ray::work()", pid=7, ip="127.0.0.1")
    raised: Exception = error.as_instanceof_cause()
    return raised


def test_an_error_of_ours_is_as_it_was() -> None:
    cause = ToolMissing("nvcc", "Run `make setup`.")
    assert "worker.py" in str(of_task(cause))  # what a command would print without it
    with pytest.raises(ToolMissing) as raised, as_raised():
        raise of_task(cause)
    assert str(raised.value) == "nvcc is missing. Run `make setup`."


def test_of_other_errors_the_whole_account_is_kept() -> None:
    with pytest.raises(ZeroDivisionError, match=r"worker\.py"), as_raised():
        raise of_task(ZeroDivisionError("division by zero"))
