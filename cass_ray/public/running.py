"""``cass_ray.run_file``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from cass_ray.corpus.reading.source_files import gather
from cass_ray.execute.backends.base import Execution, Inputs, RunMode
from cass_ray.execute.backends.registry import candidate_backend, make_backend
from cass_ray.execute.sides import build_for
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.unit import Unit


def run_file(
    path: Path | str,
    arguments: Sequence[str] = (),
    *,
    stdin: bytes = b"",
    backend: str | None = None,
    mode: RunMode | None = None,
) -> Execution:
    """Compile a ``.cu`` or ``.hip`` file and run it once, in the sandbox.

    ``backend`` is a name of ``cass verify --backend``; the default is an AMD GPU where there is
    one, else this machine's CPU, which executes the program's gfx1100 code. A CUDA file is
    translated by the rules first, unless the backend builds CUDA. ``mode`` has the limits, and
    asks for counters or checking mode.

    However the program ends (a crash, a limit), that is in ``ended`` of the result and no
    exception.

    Raises:
        CompileFailure: it does not compile.
        ToolMissing: the backend cannot be used here; the message says why.
        ValueError: there is no such backend.
        OSError: the file cannot be read.
    """
    source = Path(path).resolve()
    engine = make_backend(backend) if backend else candidate_backend()
    if problem := engine.problem():
        raise ToolMissing(f"The backend {engine.name}", "", problem)
    built = build_for(engine, gather(Unit(source.parent, PurePosixPath(source.name))))
    return engine.run(built, Inputs(tuple(arguments), stdin), mode)
