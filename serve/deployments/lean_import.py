"""Ray Serve, imported without pandas.

Serve imports pandas for the answers of programs that return its tables; here none does, and it is a
third of what each of Serve's processes has to import. To be imported before ``ray.serve`` is: the
workers of a local node do so when they start, while the process that starts
them imports the application.
"""

from __future__ import annotations

import sys

_LEFT_OUT = "pandas"

if _LEFT_OUT not in sys.modules:
    sys.modules[_LEFT_OUT] = None  # type: ignore[assignment]  # "not installed", to an import
    try:
        import ray.serve  # noqa: F401
    finally:
        del sys.modules[_LEFT_OUT]
