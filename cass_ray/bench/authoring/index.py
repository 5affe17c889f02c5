"""The index of tasks: digests of their files, and sizes of their code, measured once.

``cass bench lint --write-index`` writes it. It is what notices that a task was changed, and what
results are stratified by length with.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import Field

from cass_ray.architectures import DEFAULT_NVIDIA_ARCHITECTURE
from cass_ray.assembly import sass
from cass_ray.bench.programs import Compilers
from cass_ray.bench.task import BenchTask
from cass_ray.config import StrictModel
from cass_ray.execute.programs import rdna3_instructions, sass_instructions
from cass_ray.whole_file import write_whole

INDEX_FILE = Path(__file__).parents[1] / "index.json"
SASS_ARCHITECTURES = ("sm_80", "sm_89", "sm_90", "sm_120")
LENGTH_ARCHITECTURE = DEFAULT_NVIDIA_ARCHITECTURE
"""Whose SASS gives a task its length where a result is about no architecture."""

LENGTH_BINS = (100, 250, 500, 750)
"""Upper bounds of the length bins, in lines of normalized SASS; the last bin is open."""


class TaskFacts(StrictModel):
    """Of one task. ``sass_lines`` and ``sass_instructions`` are by architecture."""

    id: str
    sass_lines: dict[str, int]
    sass_instructions: dict[str, int]
    rdna3_instructions: int


class BenchIndex(StrictModel):
    """Every task's facts by name, and the compilers that they are from."""

    nvidia: str = ""
    amd: str = ""
    tasks: dict[str, TaskFacts] = Field(default_factory=dict)


def measure_facts(task: BenchTask, compilers: Compilers) -> TaskFacts:
    """Compile both programs. Raises :class:`~cass_ray.toolchain.unit.CompileFailure`."""
    listings = {name: compilers.machine_code(task, name)[0] for name in SASS_ARCHITECTURES}
    return TaskFacts(
        id=task.id,
        sass_lines={name: line_count(text) for name, text in listings.items()},
        sass_instructions={name: sass_instructions(text) for name, text in listings.items()},
        rdna3_instructions=rdna3_instructions(compilers.device(task)),
    )


def line_count(listing: str) -> int:
    """Lines of a SASS listing in its normal form."""
    return len(sass.normalize(listing).splitlines())


def read_index() -> BenchIndex:
    """The stored index; an empty one without a file."""
    if not INDEX_FILE.exists():
        return BenchIndex()
    return BenchIndex.model_validate_json(INDEX_FILE.read_text())


def write_index(index: BenchIndex) -> None:
    """Write ``index``, whole or not at all."""
    write_whole(INDEX_FILE, f"{index.model_dump_json(indent=1)}\n".encode())


@functools.cache
def _stored_index() -> Mapping[str, TaskFacts]:
    return read_index().tasks


def task_facts(task: BenchTask) -> TaskFacts | None:
    """The stored facts of ``task``; None where its text is not the one that was measured."""
    facts = _stored_index().get(task.name)
    return facts if facts is not None and facts.id == task.id else None


def stale(tasks: Sequence[BenchTask], index: BenchIndex) -> list[str]:
    """Tasks that are not in ``index`` with their present text, and names it has too many."""
    names = {task.name for task in tasks}
    changed = [
        task.name
        for task in tasks
        if (facts := index.tasks.get(task.name)) is None or facts.id != task.id
    ]
    return sorted([*changed, *(name for name in index.tasks if name not in names)])


def length_bin(lines: int | None) -> str:
    """The bin of a program of so many SASS lines."""
    if lines is None:
        return "unknown"
    lower = 0
    for upper in LENGTH_BINS:
        if lines <= upper:
            return f"{lower + 1}-{upper}"
        lower = upper
    return f"> {LENGTH_BINS[-1]}"
