"""``cass_ray.run``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from cass_ray.architectures import architecture_named
from cass_ray.corpus.reading.source_files import gather
from cass_ray.execute.backends.base import Execution, Inputs, RunMode
from cass_ray.execute.backends.registry import candidate_backend, make_backend
from cass_ray.execute.targets import build_for
from cass_ray.public.renderable import Renderable
from cass_ray.public.views import Block, Cells, Listings, Mark, View
from cass_ray.toolchain.errors import ToolMissing
from cass_ray.toolchain.unit import Unit


@dataclass(frozen=True, repr=False)
class RunResult(Renderable, Execution):
    """What one run did, and which program it was, where."""

    filename: str = ""
    backend: str = ""

    @property
    def ok(self) -> bool:
        """Whether it ended by itself with status 0."""
        return self.ended.ok

    @property
    def stdout(self) -> str:
        """What it printed; the bytes are in ``ended.stdout``."""
        return self.ended.stdout.decode("utf-8", "replace")

    @property
    def stderr(self) -> str:
        """What it wrote to standard error."""
        return self.ended.stderr.decode("utf-8", "replace")

    def view(self) -> View:
        """How it ended, what it launched, what it printed."""
        ended = self.ended
        said = f"{self.filename} on {self.backend}: {ended.verdict}, status {ended.status}"
        said += f", {ended.wall_seconds:.2f} s, {self.launch_count} launch(es)"
        if self.not_provided:
            said += f"; not provided: {self.not_provided}"
        launches = [(launch.format(),) for launch in self.launches]
        texts = (("standard output", self.stdout), ("standard error", self.stderr))
        blocks: list[Block] = []
        if launches:
            blocks.append(Cells("Launches", ("kernel and configuration",), launches))
        blocks += [Listings(name, [("", text)]) for name, text in texts if text]
        return View(said, Mark.GOOD if self.ok else Mark.BAD, blocks)


def run(
    path: Path | str,
    arguments: Sequence[str] = (),
    *,
    stdin: bytes = b"",
    files: Path | str | None = None,
    backend: str | None = None,
    arch: str | None = None,
    mode: RunMode | None = None,
) -> RunResult:
    """Compile a ``.cu`` or ``.hip`` file and run it once, in the sandbox.

    ``backend`` is a name of ``cass verify --backend``; the default is an AMD GPU where there is
    one, else this machine's CPU, which executes the program's AMD code. ``arch`` is the card or
    processor that it is compiled for and runs as, by default the backend's own. A CUDA file is
    translated by the rules first, unless the backend builds CUDA. What is in the folder ``files``
    the program finds where it runs, read-only. ``mode`` has the limits, and asks for counters or
    checking mode.

    However the program ends (a crash, a limit), that is in ``ended`` of the result and no
    exception.

    Raises:
        CompileFailure: it does not compile.
        ToolMissing: the backend cannot be used here; the message says why.
        ValueError: there is no such backend, or it does not run code for that processor.
        OSError: the file cannot be read.
    """
    source = Path(path).resolve()
    name = backend or candidate_backend().name
    engine = make_backend(name, architecture_named(arch) if arch else None)
    if problem := engine.problem():
        raise ToolMissing(f"The backend {engine.name}", "", problem)
    built = build_for(engine, gather(Unit(source.parent, PurePosixPath(source.name))))
    folder = Path(files) if files is not None else None
    done = engine.run(built, Inputs(tuple(arguments), stdin, folder), mode)
    return RunResult(**vars(done), filename=source.name, backend=engine.name)
