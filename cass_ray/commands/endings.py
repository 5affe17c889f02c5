"""How a command ends when its work cannot be done: one exit code for each kind of error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer

from cass_ray.config import SettingsError
from cass_ray.exit_codes import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_TOOL_MISSING, EXIT_USAGE, fail
from cass_ray.overwriting import WouldOverwriteError
from cass_ray.storage.errors import StorageError
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.sandbox.isolation import IsolationUnavailableError

Errors = tuple[type[Exception], ...]

_STORAGE_CLIENTS = frozenset({"aiobotocore", "azure", "botocore", "gcsfs", "google"})
"""Packages that speak with storage for fsspec; their errors have no class in common."""


@contextmanager
def ending(
    command: str,
    *,
    usage: Errors = (),
    failed: Errors = (),
    kept: str = "",
    lost: Callable[[BaseException], str] = lambda error: "",
) -> Iterator[None]:
    """End ``cass COMMAND`` with a message where what is inside raises one of these.

    Exit codes: 1 for ``failed``, 2 for ``usage``, settings, storage and paths that cannot be used,
    3 for tools that are missing.
    ``kept`` says what is left of work that was interrupted (130) or that ended with a process of
    the cluster (1: where ``lost`` has words for the error), and how to go on.
    """
    try:
        yield
    except (ToolMissing, IsolationUnavailableError) as error:
        fail(command, error, EXIT_TOOL_MISSING)
    except failed as error:
        fail(command, error, EXIT_FAILED)
    except (SettingsError, StorageError, WouldOverwriteError) as error:
        fail(command, error, EXIT_USAGE)
    except usage as error:
        fail(command, error, EXIT_USAGE)
    except KeyboardInterrupt:
        if not kept:
            raise
        fail(command, f"interrupted; {kept}", EXIT_INTERRUPTED)
    except typer.Exit:
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.filename and error.strerror:
            said = f"{error.filename} cannot be used: {error.strerror}: give another path"
            fail(command, said, EXIT_USAGE)
        if type(error).__module__.partition(".")[0] in _STORAGE_CLIENTS:
            advice = "check the URL, the credentials and the endpoint"
            fail(command, f"the storage cannot be used: {error}: {advice}", EXIT_USAGE)
        if not (said := lost(error)):
            raise
        fail(command, f"{said}; {kept}", EXIT_FAILED)
