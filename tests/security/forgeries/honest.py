"""Right ports, which the verifier has to call verified, beside their originals.

They are the reference ports of CASS-Bench's tasks, and the rules' translations of the shipped
programs, of generated ones, of those that check themselves on the device (``tests/port/programs``),
and of CUDA programs in any folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from cass_ray.bench.task import BenchTask, load_tasks
from cass_ray.corpus.generate.program import generate
from cass_ray.corpus.reading.source_files import Sources, gather
from cass_ray.execute.backends.base import Inputs
from cass_ray.execute.comparison.compare import Tolerance
from cass_ray.execute.comparison.tolerances import tolerance_for
from cass_ray.execute.programs import has_main
from cass_ray.execute.shipped import shipped_subjects
from cass_ray.execute.targets import as_hip
from cass_ray.toolchain.unit import CompileFailure, Unit
from cass_ray.translate.engines.registry import make_translator

_TESTS = Path(__file__).parents[2]
_INPUTS = 2
_GENERATED = 200
_GENERATED_SEED = 53


@dataclass(frozen=True)
class RightPort:
    """``port`` is known to do what ``original`` does."""

    name: str
    original: Sources
    port: Sources
    inputs: tuple[Inputs, ...]
    tolerance: Tolerance
    order_free: bool = False


def of_task(task: BenchTask) -> RightPort:
    """The reference port of ``task``, on a known and on a hidden list of arguments."""
    return RightPort(
        task.name,
        task.cuda,
        task.hip,
        (*task.visible[:1], *task.hidden[: _INPUTS - 1]),
        task.tolerance,
        task.spec.comparison.order_free,
    )


def translation(name: str, original: Sources, inputs: tuple[Inputs, ...] = ()) -> RightPort:
    """What the rules make of ``original``. Raises :class:`CompileFailure` where they refuse it."""
    texts = (content.decode("utf-8", "replace") for content in original.files.values())
    port = as_hip(original)
    return RightPort(name, original, port, inputs or (Inputs(),), tolerance_for(texts))


def _tasks(folder: Path | None) -> Iterator[RightPort]:
    del folder
    yield from map(of_task, load_tasks())


def _shipped(folder: Path | None) -> Iterator[RightPort]:
    del folder
    for subject in shipped_subjects(make_translator()):
        assert subject.original is not None
        yield translation(subject.name, subject.original, subject.inputs[:_INPUTS])


def _generated(folder: Path | None) -> Iterator[RightPort]:
    del folder
    for program in generate(_GENERATED, _GENERATED_SEED):
        main = PurePosixPath(f"{program.name}.cu")
        yield translation(program.name, Sources(main, {str(main): program.source.encode()}))


def _checking_themselves(folder: Path | None) -> Iterator[RightPort]:
    del folder
    yield from _programs_in(_TESTS / "port" / "programs")


def _programs_in(folder: Path | None) -> Iterator[RightPort]:
    """Every ``.cu`` file below ``folder`` that has a main function and that the rules translate."""
    for path in sorted(folder.rglob("*.cu")) if folder is not None else ():
        original = gather(Unit(path.parent, PurePosixPath(path.name)))
        if not has_main([path.read_text("utf-8", "replace")]):
            continue
        try:
            yield translation(str(path.relative_to(folder or path)), original)
        except CompileFailure:
            continue


ORIGINS: dict[str, Callable[[Path | None], Iterator[RightPort]]] = {
    "tasks": _tasks,
    "shipped": _shipped,
    "generated": _generated,
    "self-checks": _checking_themselves,
    "folder": _programs_in,
}
"""By where they are from; the last needs a folder."""
