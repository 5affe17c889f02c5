"""Errors between processes."""

from __future__ import annotations

import pickle

import pytest

pytest.importorskip("ray.serve")

from serve.errors import ApiError


def test_an_error_is_the_same_in_another_process() -> None:
    """Of a replica's 404 the ingress used to make 500."""
    error = ApiError(429, "overloaded", "later", retry_after=2.5, details=("a", "b"))
    again = pickle.loads(pickle.dumps(error))
    assert isinstance(again, ApiError)
    assert (again.problem("x"), again.headers()) == (error.problem("x"), {"Retry-After": "3"})
    assert (again.status, str(again)) == (429, "later")
